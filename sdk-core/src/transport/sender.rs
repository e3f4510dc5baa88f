//! What sends requests to one address.

use std::future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

#[cfg(feature = "reqwest-013")]
use futures_util::future::{Either, TryFutureExt as _};
use tokio::time::Instant;

use crate::macros::debug_fields;
use crate::transport::error::TransportError;
#[cfg(feature = "hyper-1")]
use crate::transport::hyper_1::{Lane, Sending};
use crate::transport::outgoing::Outgoing;
use crate::transport::reply::Incoming;
use crate::transport::request::Begun;
#[cfg(feature = "reqwest-013")]
use crate::transport::reqwest_013::{self, Handed};
use crate::transport::seam::{Transport, TransportFuture};

/// Sends requests: the caller's transport, or an HTTP client without a box around its futures.
#[derive(Clone)]
pub enum Sender {
    /// The caller's transport.
    Own(Arc<dyn Transport>),
    /// A client of reqwest.
    #[cfg(feature = "reqwest-013")]
    Reqwest(reqwest::Client, Handed),
    /// A client of hyper.
    #[cfg(feature = "hyper-1")]
    Hyper(Lane),
}

impl Sender {
    /// Whether it is the caller's transport.
    pub(crate) fn is_own(&self) -> bool {
        matches!(self, Self::Own(_))
    }

    /// Whether the body of a request has to be watched to know whether it was sent, whatever time its attempt has.
    pub(crate) fn needs_watching(&self) -> bool {
        match self {
            Self::Own(_) => true,
            #[cfg(feature = "reqwest-013")]
            Self::Reqwest(_, handed) => *handed == Handed::Client,
            #[cfg(feature = "hyper-1")]
            Self::Hyper(_) => false,
        }
    }

    /// Starts a request before anything awaits it, so that no future has to hold the request. The caller gives it up at that
    /// time.
    pub(crate) fn send(
        &self,
        request: Outgoing,
        begun: Option<&Begun>,
        until: Instant,
    ) -> impl Future<Output = Result<Incoming, TransportError>> + Send + use<> {
        #[cfg(not(feature = "hyper-1"))]
        let _ = until;
        let plain = match self {
            Self::Own(transport) => Plain::Own(match request.into_http(begun) {
                Ok(request) => transport.send(request),
                Err(error) => Box::pin(future::ready(Err(error))),
            }),
            #[cfg(feature = "hyper-1")]
            Self::Hyper(lane) => Plain::Hyper(lane.send(request, begun, until)),
            #[cfg(feature = "reqwest-013")]
            Self::Reqwest(client, handed) => {
                let sending = reqwest_013::send(client, *handed, request, begun);
                return Either::Right(sending.map_ok(Incoming::Reqwest));
            }
        };
        #[cfg(feature = "reqwest-013")]
        let plain = Either::Left(plain);
        plain
    }
}

#[cfg(feature = "reqwest-013")]
impl From<reqwest::Client> for Sender {
    fn from(client: reqwest::Client) -> Self {
        Self::Reqwest(client, Handed::No)
    }
}

debug_fields! { Sender |_it| }

/// A request on its way, whose future has a name.
enum Plain {
    Own(TransportFuture),
    #[cfg(feature = "hyper-1")]
    Hyper(Sending),
}

impl Future for Plain {
    type Output = Result<Incoming, TransportError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match self.get_mut() {
            Self::Own(sending) => sending.as_mut().poll(context).map_ok(Incoming::Own),
            #[cfg(feature = "hyper-1")]
            Self::Hyper(sending) => Pin::new(sending)
                .poll(context)
                .map_ok(|(reply, retire)| Incoming::Hyper(reply, retire)),
        }
    }
}
