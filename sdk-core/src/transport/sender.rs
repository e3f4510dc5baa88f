//! What sends requests to one address.

use std::fmt;
use std::future::ready;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Context, Poll};

use crate::transport::error::TransportError;
use crate::transport::outgoing::Outgoing;
use crate::transport::reply::Incoming;
use crate::transport::request::Begun;
#[cfg(feature = "reqwest-013")]
use crate::transport::reqwest_013::{self, Asked, Handed};
use crate::transport::seam::{Transport, TransportFuture};

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
        match self {
            #[cfg(feature = "reqwest-013")]
            Self::Reqwest(client, handed) => {
                let asked = (*handed == Handed::Client).then(|| Asked::of(&request.url));
                let sending = client.execute(reqwest_013::request(request, begun));
                Sending::Reqwest { sending, asked }
            }
            Self::Own(transport) => Sending::own(match request.into_http(begun) {
                Ok(request) => transport.send(request),
                Err(error) => Box::pin(ready(Err(error))),
            }),
        }
    }
}

#[cfg(feature = "reqwest-013")]
impl From<reqwest::Client> for Sender {
    fn from(client: reqwest::Client) -> Self {
        Self::Reqwest(client, Handed::No)
    }
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

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
impl<F> Sending<F> {
    fn own(sending: TransportFuture) -> Self {
        Self::Own { sending }
    }
}

#[cfg(feature = "reqwest-013")]
impl<F: Future<Output = reqwest::Result<reqwest::Response>>> Future for Sending<F> {
    type Output = Result<Incoming, TransportError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project() {
            SendingProjection::Own { sending } => {
                let sent = task::ready!(sending.as_mut().poll(context));
                Poll::Ready(sent.map(Incoming::Own))
            }
            SendingProjection::Reqwest { sending, asked } => {
                let response = task::ready!(sending.poll(context))?;
                if let Some(asked) = asked {
                    asked.check(&response)?;
                }
                Poll::Ready(Ok(Incoming::Reqwest(response)))
            }
        }
    }
}

/// A request on its way.
#[cfg(not(feature = "reqwest-013"))]
struct Sending(TransportFuture);

#[cfg(not(feature = "reqwest-013"))]
impl Sending {
    fn own(sending: TransportFuture) -> Self {
        Self(sending)
    }
}

#[cfg(not(feature = "reqwest-013"))]
impl Future for Sending {
    type Output = Result<Incoming, TransportError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let sent = task::ready!(self.0.as_mut().poll(context));
        Poll::Ready(sent.map(Incoming::Own))
    }
}
