//! The connections of a suite, which other suites can share.

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

pub(crate) struct Connections {
    kind: Kind,
    #[cfg(feature = "reqwest-013")]
    timeouts: ConnectionTimeouts,
}

enum Kind {
    /// A custom transport for all requests.
    Custom(Arc<dyn Transport>),
    /// The caller's reqwest client or builder, and the addresses whose loopback names it binds.
    #[cfg(feature = "reqwest-013")]
    Client(Sender, Vec<Url>),
    /// The default reqwest pools, each built on first use.
    #[cfg(feature = "reqwest-013")]
    Default {
        /// The addresses of the first suite.
        names: Vec<Url>,
        /// The pool for all addresses except loopback.
        network: OnceLock<Client>,
        /// The pool for plain HTTP to loopback, which bypasses all environment proxies.
        loopback: OnceLock<Client>,
    },
}

#[derive(Default)]
pub(crate) enum TransportChoice {
    #[default]
    Default,
    Custom(Arc<dyn Transport>),
    #[cfg(feature = "reqwest-013")]
    Http(Inner),
    Shared(Arc<Connections>),
}

impl TransportChoice {
    /// Creates the connections for these addresses.
    ///
    /// # Errors
    /// If the HTTP client can't be built, or if this build has no HTTP client.
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
                let message = "this build has no HTTP client: enable the `reqwest-013` feature, or call `transport`";
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
    /// Returns the sender for an address.
    ///
    /// # Errors
    /// If the HTTP client can't be built, or lacks TLS for the address.
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

    /// Checks that a plain HTTP address is known to be this machine.
    pub(crate) fn admit(&self, url: &Url) -> Result<(), Error> {
        if !is_plain_loopback(url) || self.binds_loopback(url) {
            return Ok(());
        }
        let host = url.host_str().unwrap_or_default();
        Err(Error::configuration(format!(
            "`{host}` must be an IP address such as 127.0.0.1: plain HTTP is allowed only to this machine, and the custom \
             transport resolves names itself (`allow_insecure_http` lifts this rule)"
        )))
    }

    /// Whether the host is an IP address, or a name that is bound to loopback.
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

    /// Returns the proxy in front of an address, if known. The proxies of the caller's own client are unknown.
    ///
    /// # Errors
    /// If the caller's transport can't send to the address.
    pub(crate) fn proxy_for(&self, url: &Url) -> Result<Option<String>, Error> {
        match &self.kind {
            Kind::Custom(transport) => match url.as_str().parse() {
                Ok(address) => transport.proxy_for(&address).map_err(build_error),
                // Such an address fails when a request is sent to it.
                Err(_) => Ok(None),
            },
            #[cfg(feature = "reqwest-013")]
            Kind::Default { .. } if !is_plain_loopback(url) => Ok(reqwest_013::proxy_for(url)),
            #[cfg(feature = "reqwest-013")]
            _ => Ok(None),
        }
    }
}

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

/// Returns the error for an HTTPS address without TLS. reqwest would send such a request unencrypted to a proxy.
#[cfg(feature = "reqwest-013")]
fn without_tls(url: &Url) -> Error {
    Error::configuration(format!(
        "{} requires TLS, which this build lacks: enable the client crate's `rustls` feature, or TLS in reqwest itself",
        url.origin().ascii_serialization()
    ))
}

fn build_error(error: impl Into<BoxError>) -> Error {
    let error = error.into();
    let cause = one_line(&root_cause(&*error).to_string());
    Error::configuration(format!("the HTTP client cannot be built: {cause}")).with_cause(error)
}

/// Sends requests: a [`Transport`], or a reqwest client with unboxed futures.
#[derive(Clone)]
pub enum Sender {
    /// The caller's transport.
    Custom(Arc<dyn Transport>),
    /// A reqwest client.
    #[cfg(feature = "reqwest-013")]
    Reqwest {
        /// The client and its pool.
        client: reqwest::Client,
        /// The connect timeout; `None` for a client that the caller built, which may also follow redirects.
        connect_timeout: Option<Duration>,
        /// Whether the caller set its proxies, which the SDK can't read.
        hides_proxy: bool,
    },
}

impl Sender {
    /// Whether it opens connections, so that its errors explain failed connections.
    pub(crate) fn opens_connections(&self) -> bool {
        match self {
            Self::Custom(transport) => transport.connect_timeout().is_some(),
            #[cfg(feature = "reqwest-013")]
            Self::Reqwest { .. } => true,
        }
    }

    /// Returns the connect timeout. An attempt that reaches it has sent nothing. `None` if unknown.
    pub(crate) fn connect_timeout(&self) -> Option<Duration> {
        match self {
            Self::Custom(transport) => transport.connect_timeout(),
            #[cfg(feature = "reqwest-013")]
            Self::Reqwest {
                connect_timeout, ..
            } => *connect_timeout,
        }
    }

    /// Returns a phrase for error messages: a proxy may be down instead of the target. It includes the address that was
    /// tried.
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

    /// Starts a request before the future is awaited, so that the future doesn't contain the request. The caller must
    /// cancel the request at `until`.
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

/// Wraps a client that the caller built.
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
