//! What sends requests to one address.

use std::future;
use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "reqwest-013")]
use futures_util::future::Either;
use futures_util::future::TryFutureExt as _;
use tokio::time::Instant;

use crate::macros::debug_fields;
use crate::transport::error::TransportError;
use crate::transport::outgoing::Outgoing;
use crate::transport::reply::Incoming;
use crate::transport::request::Begun;
#[cfg(feature = "reqwest-013")]
use crate::transport::reqwest_013;
use crate::transport::seam::Transport;

/// Sends requests: a [`Transport`], or a client of reqwest without a box around its futures.
#[derive(Clone)]
pub enum Sender {
    /// Whatever the caller set.
    Custom(Arc<dyn Transport>),
    /// A client of reqwest.
    #[cfg(feature = "reqwest-013")]
    Reqwest {
        /// The client and its pool.
        client: reqwest::Client,
        /// How long it waits for a connection; `None` for a client that the caller built, which may follow redirects too.
        connect_timeout: Option<Duration>,
    },
}

impl Sender {
    /// Whether it is an HTTP client, whose errors say why no connection came up.
    pub(crate) fn opens_connections(&self) -> bool {
        match self {
            Self::Custom(transport) => transport.connect_timeout().is_some(),
            #[cfg(feature = "reqwest-013")]
            Self::Reqwest { .. } => true,
        }
    }

    /// How long it waits for a connection before it fails with the proof that nothing was sent. `None` if that is unknown.
    pub(crate) fn connect_timeout(&self) -> Option<Duration> {
        match self {
            Self::Custom(transport) => transport.connect_timeout(),
            #[cfg(feature = "reqwest-013")]
            Self::Reqwest {
                connect_timeout, ..
            } => *connect_timeout,
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
        match self {
            Self::Custom(transport) => {
                let sending = match request.into_http(begun, until) {
                    Ok(request) => transport.send(request),
                    Err(error) => Box::pin(future::ready(Err(error))),
                };
                let sending = sending.map_ok(Incoming::Custom);
                #[cfg(feature = "reqwest-013")]
                let sending = Either::Left(sending);
                sending
            }
            #[cfg(feature = "reqwest-013")]
            Self::Reqwest {
                client,
                connect_timeout,
            } => {
                let may_redirect = connect_timeout.is_none();
                let sending = reqwest_013::send(client, may_redirect, request, begun);
                Either::Right(sending.map_ok(Incoming::Reqwest))
            }
        }
    }
}

/// A client that the caller built.
#[cfg(feature = "reqwest-013")]
impl From<reqwest::Client> for Sender {
    fn from(client: reqwest::Client) -> Self {
        Self::Reqwest {
            client,
            connect_timeout: None,
        }
    }
}

debug_fields! { Sender |_it| }
