//! What sends requests to one address.

use std::future;
use std::sync::Arc;
#[cfg(feature = "reqwest-013")]
use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

#[cfg(not(feature = "reqwest-013"))]
use futures_util::TryFutureExt as _;

use crate::shown::shows;
use crate::transport::error::TransportError;
use crate::transport::outgoing::Outgoing;
use crate::transport::reply::Incoming;
use crate::transport::request::Begun;
#[cfg(feature = "reqwest-013")]
use crate::transport::reqwest_013::{self, Asked, Handed};
use crate::transport::seam::Transport;
#[cfg(feature = "reqwest-013")]
use crate::transport::seam::TransportFuture;

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
        }
    }

    /// Starts a request before anything awaits it, so that no future has to hold the request.
    pub(crate) fn send(
        &self,
        request: Outgoing,
        begun: Option<&Begun>,
    ) -> impl Future<Output = Result<Incoming, TransportError>> + Send + use<> {
        let own = |transport: &dyn Transport, request: Outgoing| match request.into_http(begun) {
            Ok(request) => transport.send(request),
            Err(error) => Box::pin(future::ready(Err(error))),
        };
        #[cfg(not(feature = "reqwest-013"))]
        return match self {
            Self::Own(transport) => own(&**transport, request).map_ok(Incoming::Own),
        };
        #[cfg(feature = "reqwest-013")]
        match self {
            Self::Own(transport) => Sending::Own {
                sending: own(&**transport, request),
            },
            Self::Reqwest(client, handed) => {
                let asked = (*handed == Handed::Client).then(|| Asked::of(&request.url));
                let sending = client.execute(reqwest_013::request(request, begun));
                Sending::Reqwest { sending, asked }
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

#[cfg(feature = "reqwest-013")]
pin_project_lite::pin_project! {
    /// A request on its way. One future for both, so that neither is boxed or copied.
    #[project = SendingProjection]
    enum Sending<F> {
        Own { sending: TransportFuture },
        Reqwest { #[pin] sending: F, asked: Option<Asked> },
    }
}

#[cfg(feature = "reqwest-013")]
impl<F: Future<Output = reqwest::Result<reqwest::Response>>> Future for Sending<F> {
    type Output = Result<Incoming, TransportError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project() {
            SendingProjection::Own { sending } => {
                let sent = ready!(sending.as_mut().poll(context));
                Poll::Ready(sent.map(Incoming::Own))
            }
            SendingProjection::Reqwest { sending, asked } => {
                let response = ready!(sending.poll(context))?;
                if let Some(asked) = asked {
                    asked.check(&response)?;
                }
                Poll::Ready(Ok(Incoming::Reqwest(response)))
            }
        }
    }
}
