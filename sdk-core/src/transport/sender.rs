//! What sends requests to one address.

use std::future::ready;
use std::sync::Arc;

use futures_util::TryFutureExt as _;
#[cfg(feature = "reqwest-013")]
use futures_util::{FutureExt as _, future::Either};

use crate::shown::shows;
use crate::transport::error::TransportError;
use crate::transport::outgoing::Outgoing;
use crate::transport::reply::Incoming;
use crate::transport::request::Begun;
#[cfg(feature = "reqwest-013")]
use crate::transport::reqwest_013::{self, Asked, Handed};
use crate::transport::seam::Transport;

/// Sends requests: the caller's transport, or reqwest without a box around its futures.
#[derive(Clone)]
pub enum Sender {
    /// The caller's transport.
    Own(Arc<dyn Transport>),
    /// A client of reqwest.
    #[cfg(feature = "reqwest-013")]
    Reqwest(reqwest::Client, Handed),
}

impl Sender {
    /// Whether the body of a request has to be watched to know whether it was sent, whatever time its attempt has.
    pub(crate) fn needs_watching(&self) -> bool {
        match self {
            Self::Own(_) => true,
            #[cfg(feature = "reqwest-013")]
            Self::Reqwest(_, handed) => *handed == Handed::Client,
        }
    }

    /// Starts a request before anything awaits it, so that no future has to hold the request.
    pub(crate) fn send(
        &self,
        request: Outgoing,
        begun: Option<&Begun>,
    ) -> impl Future<Output = Result<Incoming, TransportError>> + Send + use<> {
        let own = |transport: &dyn Transport, request: Outgoing| {
            let sending = match request.into_http(begun) {
                Ok(request) => transport.send(request),
                Err(error) => Box::pin(ready(Err(error))),
            };
            sending.map_ok(Incoming::Own)
        };
        #[cfg(not(feature = "reqwest-013"))]
        return match self {
            Self::Own(transport) => own(&**transport, request),
        };
        // One future for both, so that neither is boxed.
        #[cfg(feature = "reqwest-013")]
        match self {
            Self::Own(transport) => Either::Left(own(&**transport, request)),
            Self::Reqwest(client, handed) => {
                let asked = (*handed == Handed::Client).then(|| Asked::of(&request.url));
                let sending = client.execute(reqwest_013::request(request, begun));
                Either::Right(sending.map(move |response| {
                    let response = response?;
                    if let Some(asked) = asked {
                        asked.check(&response)?;
                    }
                    Ok(Incoming::Reqwest(response))
                }))
            }
        }
    }
}

#[cfg(feature = "reqwest-013")]
impl From<reqwest::Client> for Sender {
    fn from(client: reqwest::Client) -> Self {
        Self::Reqwest(client, Handed::No)
    }
}

shows! { Sender |_it| }
