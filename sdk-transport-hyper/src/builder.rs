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

/// Both addresses of loopback, with the port of the URL.
const LOOPBACK: [SocketAddr; 2] = [
    SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
    SocketAddr::new(std::net::IpAddr::V6(Ipv6Addr::LOCALHOST), 0),
];

/// What opens sockets, once it is known how long that may take.
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
    /// The settings that a suite has by default.
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
    /// Sets TLS: roots, client certificates, versions. Without protocols for ALPN, HTTP/2 and HTTP/1.1 are offered.
    pub fn tls(mut self, config: ClientConfig) -> Self {
        self.tls = Some(config);
        self
    }

    /// Sets the proxies, instead of the environment's; `None` for none. Plain HTTP to loopback bypasses them anyway.
    pub fn proxies(mut self, proxies: impl Into<Option<Matcher>>) -> Self {
        self.proxies = proxies.into();
        self
    }

    /// Sets what opens sockets, below proxies and TLS: an `HttpConnector` with your resolver or local address.
    ///
    /// All addresses of a host name are tried, within [`connect_timeout`](Self::connect_timeout), which replaces that of the
    /// connector. Plain HTTP to loopback then needs an address such as `127.0.0.1`, because your resolver decides on names.
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

    /// Uses HTTP/2 with every server, plain HTTP included, without negotiation.
    #[cfg(feature = "http2")]
    pub fn http2_prior_knowledge(mut self) -> Self {
        self.http2_only = true;
        self
    }

    /// Sets how long a connection may take to come up, with all addresses, the proxy and TLS: by default 5 seconds.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Sets how long an HTTP/2 connection with requests in flight may be silent before it is pinged, and how long the answer
    /// may take before the connection is dropped: by default 4 seconds each.
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
        // The pool may move a request that no connection took to another connection. Nothing was sent, so it stays one attempt.
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

/// Opens sockets as reqwest does by default, with the system's resolver. Names that stand for loopback bypass the resolver.
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

/// A connector that leaves TLS to others, and divides its time among the addresses of a name. Without a timeout of its own, an
/// address that doesn't answer would use up all of it.
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

// Without its settings, because a proxy may have a credential.
impl fmt::Debug for HyperTransportBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HyperTransportBuilder")
            .finish_non_exhaustive()
    }
}
