//! The settings of a transport.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http::Uri;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::{GaiResolver, Name};
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::ClientConfig;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tower::util::BoxCloneSyncService;
use tower::{ServiceExt as _, service_fn};
use tower_service::Service;

use crate::BoxError;
use crate::connector::{Settings, Sockets, Tls, is_loopback_name};
use crate::transport::HyperTransport;

/// Both loopback addresses. The connector replaces port 0 with the port of the URL.
const LOOPBACK: [SocketAddr; 2] = [
    SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
    SocketAddr::new(std::net::IpAddr::V6(Ipv6Addr::LOCALHOST), 0),
];

type OpenSockets = Box<dyn FnOnce(Duration) -> Sockets + Send + Sync>;

/// Builds a [`HyperTransport`].
#[must_use]
pub struct HyperTransportBuilder {
    tls: Option<ClientConfig>,
    proxies: Option<Matcher>,
    sockets: Option<OpenSockets>,
    http2_only: bool,
    connect_timeout: Duration,
    #[cfg(feature = "http2")]
    pings: (Duration, Duration),
}

impl Default for HyperTransportBuilder {
    /// Returns the same defaults as a suite uses.
    fn default() -> Self {
        Self {
            tls: None,
            proxies: Some(Matcher::from_env()),
            sockets: None,
            http2_only: false,
            connect_timeout: Duration::from_secs(5),
            #[cfg(feature = "http2")]
            pings: (Duration::from_secs(4), Duration::from_secs(4)),
        }
    }
}

impl HyperTransportBuilder {
    /// Sets the TLS configuration, such as roots, client certificates and versions.
    ///
    /// If the configuration has no ALPN protocols, the transport offers HTTP/2 and HTTP/1.1.
    pub fn tls(mut self, config: ClientConfig) -> Self {
        self.tls = Some(config);
        self
    }

    /// Sets the proxies to use instead of the environment's, or `None` for no proxy.
    ///
    /// Plain HTTP to loopback always bypasses them.
    pub fn proxies(mut self, proxies: impl Into<Option<Matcher>>) -> Self {
        self.proxies = proxies.into();
        self
    }

    /// Sets the `HttpConnector` that opens sockets below proxies and TLS, with your resolver or local address.
    ///
    /// The connector tries all addresses of a host name within [`connect_timeout`](Self::connect_timeout), which
    /// replaces the connector's own timeout. Plain HTTP to loopback then needs an address such as `127.0.0.1`, because
    /// your resolver decides to which address a name resolves.
    pub fn connector<R>(mut self, connector: HttpConnector<R>) -> Self
    where
        R: Clone + Send + Sync + 'static,
        HttpConnector<R>: Service<Uri, Response = TokioIo<TcpStream>>,
        <HttpConnector<R> as Service<Uri>>::Future: Send,
        <HttpConnector<R> as Service<Uri>>::Error: Into<BoxError>,
    {
        self.sockets = Some(Box::new(|patience| sockets(connector, patience)));
        self
    }

    /// Uses HTTP/2 with every server without negotiation, even over plain HTTP.
    #[cfg(feature = "http2")]
    pub fn http2_prior_knowledge(mut self) -> Self {
        self.http2_only = true;
        self
    }

    /// Sets the time limit for a new connection, including all addresses, the proxy and TLS. The default is 5 seconds.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Sets the pings of HTTP/2 connections with requests in flight.
    ///
    /// After `interval` without data, the transport pings the server. If no answer arrives within `timeout`, it drops
    /// the connection. Both are 4 seconds by default.
    #[cfg(feature = "http2")]
    pub fn http2_pings(mut self, interval: Duration, timeout: Duration) -> Self {
        self.pings = (interval, timeout);
        self
    }

    /// Builds the transport.
    #[must_use]
    pub fn build(self) -> HyperTransport {
        let (http2_only, connect_timeout) = (self.http2_only, self.connect_timeout);
        let tls = self.tls.map(|config| Ok(Tls::new(config, http2_only)));
        let binds_loopback = self.sockets.is_none();
        let open = self.sockets.unwrap_or_else(|| Box::new(default_sockets));
        let settings = Arc::new(Settings {
            sockets: open(connect_timeout),
            binds_loopback,
            tls: tls.map_or_else(OnceLock::new, OnceLock::from),
            http2_only,
            proxies: self.proxies,
            connect_timeout,
        });
        let shared = Arc::clone(&settings);
        let connector = service_fn(move |uri| {
            let settings = Arc::clone(&shared);
            async move {
                let connecting = timeout(settings.connect_timeout, settings.connect(uri)).await;
                connecting
                    .unwrap_or_else(|_late| Err(io::Error::from(io::ErrorKind::TimedOut).into()))
            }
        });
        // If a connection closes before it takes a request, the pool moves the request to a new connection. Nothing was
        // sent, so this is still one attempt.
        let mut pool = Client::builder(TokioExecutor::new());
        pool.timer(TokioTimer::new()).pool_timer(TokioTimer::new());
        #[cfg(feature = "http2")]
        pool.http2_only(http2_only)
            .http2_keep_alive_interval(self.pings.0)
            .http2_keep_alive_timeout(self.pings.1);
        let pool = pool.build(BoxCloneSyncService::new(connector));
        HyperTransport { pool, settings }
    }
}

/// Opens sockets as reqwest does by default, with the system's resolver. Loopback names bypass the resolver.
fn default_sockets(connect_timeout: Duration) -> Sockets {
    const ALIVE: Option<Duration> = Some(Duration::from_secs(15));
    let mut connector = HttpConnector::new_with_resolver(service_fn(|name: Name| async move {
        if is_loopback_name(name.as_str()) {
            return Ok(LOOPBACK.to_vec().into_iter());
        }
        let addresses = GaiResolver::new().call(name).await?;
        Ok::<_, io::Error>(addresses.collect::<Vec<_>>().into_iter())
    }));
    connector.set_nodelay(true);
    connector.set_keepalive(ALIVE);
    connector.set_keepalive_interval(ALIVE);
    connector.set_keepalive_retries(Some(3));
    #[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
    connector.set_tcp_user_timeout(Some(Duration::from_secs(30)));
    sockets(connector, connect_timeout)
}

/// Returns a connector that accepts HTTPS URLs and divides its time among the addresses of a name. Without a timeout in
/// the connector, an address that doesn't answer would use up the whole time.
fn sockets<R>(mut connector: HttpConnector<R>, connect_timeout: Duration) -> Sockets
where
    R: Clone + Send + Sync + 'static,
    HttpConnector<R>: Service<Uri, Response = TokioIo<TcpStream>>,
    <HttpConnector<R> as Service<Uri>>::Future: Send,
    <HttpConnector<R> as Service<Uri>>::Error: Into<BoxError>,
{
    connector.enforce_http(false);
    connector.set_connect_timeout(Some(connect_timeout));
    Sockets::new(connector.map_err(Into::into))
}

// Omits the settings, because a proxy may contain a credential.
impl fmt::Debug for HyperTransportBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HyperTransportBuilder")
            .finish_non_exhaustive()
    }
}
