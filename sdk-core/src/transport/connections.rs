//! The connections of a suite, which suites that are built on its transport share.

use std::future;
use std::sync::Arc;
#[cfg(feature = "reqwest-013")]
use std::sync::OnceLock;
use std::time::Duration;

#[cfg(feature = "reqwest-013")]
use futures_util::future::Either;
use futures_util::future::TryFutureExt as _;
#[cfg(feature = "reqwest-013")]
use reqwest::Client;
use tokio::time::Instant;
use url::Url;

use crate::error::Error;
use crate::macros::debug_fields;
use crate::text::one_line;
use crate::transport::error::{BoxError, TransportError, root_cause};
use crate::transport::loopback::is_plain_loopback;
use crate::transport::reply_body::Incoming;
use crate::transport::request_body::{Outgoing, SendTracker};
#[cfg(feature = "reqwest-013")]
use crate::transport::reqwest_013::{self, Inner};
use crate::transport::{ConnectionTimeouts, Transport};

/// The connections of a suite.
pub(crate) struct Connections {
    kind: Kind,
    #[cfg(feature = "reqwest-013")]
    timeouts: ConnectionTimeouts,
}

enum Kind {
    /// A transport for everything.
    Custom(Arc<dyn Transport>),
    /// The caller's client of reqwest, or one of the caller's builder, and the names that it surely binds to loopback.
    #[cfg(feature = "reqwest-013")]
    Client(Sender, Vec<Url>),
    /// The usual pools of reqwest, each built when it is first needed.
    #[cfg(feature = "reqwest-013")]
    Default {
        /// The addresses of the first suite.
        names: Vec<Url>,
        /// For everything that leaves this machine.
        network: OnceLock<Client>,
        /// For plain HTTP to loopback, which bypasses every proxy that the environment names.
        loopback: OnceLock<Client>,
    },
}

/// What a caller chose.
#[derive(Default)]
pub(crate) enum TransportChoice {
    /// Nothing.
    #[default]
    Default,
    Custom(Arc<dyn Transport>),
    #[cfg(feature = "reqwest-013")]
    Http(Inner),
    /// The connections of another suite.
    Shared(Arc<Connections>),
}

impl TransportChoice {
    /// The connections for these addresses.
    ///
    /// # Errors
    /// When the HTTP client cannot be built, or when this build has none.
    pub(crate) fn connect(
        self,
        addresses: &[Url],
        timeouts: ConnectionTimeouts,
    ) -> Result<Arc<Connections>, Error> {
        let kind = match self {
            Self::Shared(connections) => return Ok(connections),
            Self::Custom(transport) => Kind::Custom(transport),
            #[cfg(feature = "reqwest-013")]
            Self::Http(Inner::Client(client)) => Kind::Client(client.into(), Vec::new()),
            #[cfg(feature = "reqwest-013")]
            Self::Http(Inner::Builder(builder)) => {
                let client =
                    reqwest_013::network(*builder, addresses, timeouts).map_err(build_error)?;
                Kind::Client(
                    Sender::Reqwest {
                        client,
                        connect_timeout: Some(timeouts.connect),
                        hides_proxy: true,
                    },
                    addresses.to_vec(),
                )
            }
            #[cfg(feature = "reqwest-013")]
            Self::Default => Kind::Default {
                names: addresses.to_vec(),
                network: OnceLock::new(),
                loopback: OnceLock::new(),
            },
            #[cfg(not(feature = "reqwest-013"))]
            Self::Default => {
                let _ = addresses;
                let message = "this build has no HTTP client: enable the feature `reqwest-013`, or call `transport`";
                return Err(Error::configuration(message));
            }
        };
        Ok(Arc::new(Connections {
            kind,
            #[cfg(feature = "reqwest-013")]
            timeouts,
        }))
    }
}

impl Connections {
    /// What sends requests to an address.
    ///
    /// # Errors
    /// When the HTTP client cannot be built, or lacks TLS for the address.
    pub(crate) fn sender_for(&self, url: &Url) -> Result<Sender, Error> {
        match &self.kind {
            Kind::Custom(transport) => Ok(Sender::Custom(Arc::clone(transport))),
            #[cfg(feature = "reqwest-013")]
            _ if url.scheme() == "https" && !reqwest_013::has_tls() => Err(without_tls(url)),
            #[cfg(feature = "reqwest-013")]
            Kind::Client(sender, _) => Ok(sender.clone()),
            #[cfg(feature = "reqwest-013")]
            Kind::Default {
                names,
                network,
                loopback,
            } => {
                let pool = if is_plain_loopback(url) {
                    built(loopback, || reqwest_013::loopback(self.timeouts))
                } else {
                    built(network, || {
                        reqwest_013::network(Client::builder(), names, self.timeouts)
                    })
                };
                pool.map(|client| Sender::Reqwest {
                    client,
                    connect_timeout: Some(self.timeouts.connect),
                    hides_proxy: false,
                })
            }
        }
    }

    /// Checks that an address of plain HTTP is surely this machine.
    pub(crate) fn admit(&self, url: &Url) -> Result<(), Error> {
        if !is_plain_loopback(url) || self.binds_loopback(url) {
            return Ok(());
        }
        let host = url.host_str().unwrap_or_default();
        Err(Error::configuration(format!(
            "`{host}` must be an address such as 127.0.0.1: plain HTTP may only go to this machine, and the transport that was \
             handed in resolves names itself (`allow_insecure_http` lifts this rule)"
        )))
    }

    /// Whether the name in an address, if it is one, is bound to loopback.
    fn binds_loopback(&self, url: &Url) -> bool {
        match &self.kind {
            Kind::Custom(transport) => url.domain().is_none() || transport.binds_loopback(),
            #[cfg(feature = "reqwest-013")]
            Kind::Client(_, names) => {
                let is_known = |name: &Url| name.host() == url.host();
                url.domain().is_none() || names.iter().any(is_known)
            }
            #[cfg(feature = "reqwest-013")]
            Kind::Default { .. } => true,
        }
    }

    /// The proxy in front of an address, if it is known: those of the caller's own client are not.
    ///
    /// # Errors
    /// When the caller's transport cannot send to the address.
    pub(crate) fn proxy_for(&self, url: &Url) -> Result<Option<String>, Error> {
        match &self.kind {
            Kind::Custom(transport) => match url.as_str().parse() {
                Ok(address) => transport.proxy_for(&address).map_err(build_error),
                // Such an address is refused when something is sent to it.
                Err(_) => Ok(None),
            },
            #[cfg(feature = "reqwest-013")]
            Kind::Default { .. } if !is_plain_loopback(url) => Ok(reqwest_013::proxy_for(url)),
            #[cfg(feature = "reqwest-013")]
            _ => Ok(None),
        }
    }
}

/// The client of a pool, which is built if it is needed for the first time.
#[cfg(feature = "reqwest-013")]
fn built(
    pool: &OnceLock<Client>,
    build: impl FnOnce() -> Result<Client, reqwest::Error>,
) -> Result<Client, Error> {
    if let Some(client) = pool.get() {
        return Ok(client.clone());
    }
    let client = build().map_err(build_error)?;
    Ok(pool.get_or_init(|| client).clone())
}

/// reqwest would send such a request in plain text to a proxy.
#[cfg(feature = "reqwest-013")]
fn without_tls(url: &Url) -> Error {
    Error::configuration(format!(
        "{} needs TLS, which this build lacks: enable the feature `rustls` of the client crate, or TLS of reqwest itself",
        url.origin().ascii_serialization()
    ))
}

fn build_error(error: impl Into<BoxError>) -> Error {
    let error = error.into();
    let cause = one_line(&root_cause(&*error).to_string());
    Error::configuration(format!("the HTTP client cannot be built: {cause}")).with_cause(error)
}

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
        /// Whether the caller chose its proxies, which it doesn't show.
        hides_proxy: bool,
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

    /// The phrase for a proxy that may be down instead of the target, with the address that was tried.
    pub(crate) fn or_proxy(&self, error: Option<&TransportError>) -> String {
        match self {
            #[cfg(feature = "reqwest-013")]
            Self::Reqwest {
                hides_proxy: true, ..
            } => {
                let tried = error.and_then(|error| reqwest_013::tried_address(error));
                let tried = tried.map_or_else(String::new, |address| format!(" (tried {address})"));
                format!(" or a proxy of the HTTP client{tried}")
            }
            #[cfg(feature = "reqwest-013")]
            Self::Reqwest { .. } => String::new(),
            Self::Custom(_) => {
                let _ = error;
                String::new()
            }
        }
    }

    /// Starts a request before anything awaits it, so that no future has to hold the request. The caller gives it up at that
    /// time.
    pub(crate) fn send(
        &self,
        request: Outgoing,
        tracker: Option<&SendTracker>,
        until: Instant,
    ) -> impl Future<Output = Result<Incoming, TransportError>> + Send + use<> {
        match self {
            Self::Custom(transport) => {
                let sending = match request.into_http(tracker, until) {
                    Ok(request) => transport.send(request),
                    Err(error) => Box::pin(future::ready(Err(error))),
                };
                let sending = sending.map_ok(Incoming::from);
                #[cfg(feature = "reqwest-013")]
                let sending = Either::Left(sending);
                sending
            }
            #[cfg(feature = "reqwest-013")]
            Self::Reqwest {
                client,
                connect_timeout,
                ..
            } => {
                let may_redirect = connect_timeout.is_none();
                let sending = reqwest_013::send(client, may_redirect, request, tracker);
                Either::Right(sending.map_ok(Incoming::from))
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
            hides_proxy: true,
        }
    }
}

debug_fields! { Sender |_it| }

#[cfg(test)]
#[cfg(feature = "reqwest-013")]
mod tests {
    use super::without_tls;

    #[test]
    fn fault_62_without_tls_an_https_address_names_the_feature() {
        let error = without_tls(&"https://crm.example.com/x".parse().unwrap());
        for part in ["https://crm.example.com ", "`rustls`"] {
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
