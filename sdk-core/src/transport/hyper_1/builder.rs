//! What a caller may set of a client.

use std::io;
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

use crate::macros::debug_fields;
use crate::transport::error::BoxError;
use crate::transport::hyper_1::client::HyperClient;
use crate::transport::hyper_1::connector::{Settings, Sockets, Tls};
use crate::transport::loopback::{LOOPBACK, is_loopback_name};
use crate::transport::waits::Waits;

/// Builds a [`HyperClient`]. By default it has the proxies that the environment names, the roots of the operating system, and
/// its resolver.
#[must_use]
pub struct HyperClientBuilder {
    tls: Option<ClientConfig>,
    proxies: Option<Matcher>,
    tcp: Option<Sockets>,
    http2_only: bool,
}

impl HyperClient {
    /// A builder with the settings that most programs want.
    pub fn builder() -> HyperClientBuilder {
        HyperClientBuilder {
            tls: None,
            proxies: Some(Matcher::from_env()),
            tcp: None,
            http2_only: false,
        }
    }
}

impl HyperClientBuilder {
    /// Sets TLS: roots, client certificates, versions. Without protocols for ALPN, HTTP/2 and HTTP/1.1 are offered.
    pub fn tls(mut self, config: ClientConfig) -> Self {
        self.tls = Some(config);
        self
    }

    /// Sets the proxies, in place of those of the environment; `None` for none. Plain HTTP to loopback goes over none anyway.
    pub fn proxies(mut self, proxies: impl Into<Option<Matcher>>) -> Self {
        self.proxies = proxies.into();
        self
    }

    /// Sets what opens sockets, below proxies and TLS: an `HttpConnector` with a resolver or addresses of your own, whose
    /// `enforce_http` is off. Plain HTTP then goes to loopback by address only, such as `127.0.0.1`.
    pub fn connector<C>(mut self, connector: C) -> Self
    where
        C: Service<Uri, Response = TokioIo<TcpStream>> + Clone + Send + Sync + 'static,
        C::Future: Send,
        C::Error: Into<BoxError>,
    {
        self.tcp = Some(Sockets::new(connector.map_err(Into::into)));
        self
    }

    /// Speaks HTTP/2 with every server, plain HTTP included, without asking.
    #[cfg(feature = "http2")]
    pub fn http2_prior_knowledge(mut self) -> Self {
        self.http2_only = true;
        self
    }

    /// Builds the client, with the waits that a suite has by default: 5 seconds for a connection, and pings after 4.
    pub fn build(self) -> HyperClient {
        self.with(Waits::default())
    }

    pub(in crate::transport) fn with(self, waits: Waits) -> HyperClient {
        let http2_only = self.http2_only;
        let tls = self.tls.map(|config| Ok(Tls::new(config, http2_only)));
        let settings = Arc::new(Settings {
            pins: self.tcp.is_none(),
            tcp: self.tcp.unwrap_or_else(|| tcp(waits.connect)),
            tls: tls.map_or_else(OnceLock::new, OnceLock::from),
            http2_only,
            proxies: self.proxies,
            timeout: waits.connect,
        });
        let shared = Arc::clone(&settings);
        let connector = service_fn(move |uri| {
            let settings = Arc::clone(&shared);
            async move {
                let connecting = timeout(settings.timeout, settings.connect(uri)).await;
                connecting
                    .unwrap_or_else(|_late| Err(io::Error::from(io::ErrorKind::TimedOut).into()))
            }
        });
        // A request that no connection took may go to another one: nothing was sent, so that it stays one attempt.
        let mut pool = Client::builder(TokioExecutor::new());
        pool.timer(TokioTimer::new()).pool_timer(TokioTimer::new());
        #[cfg(feature = "http2")]
        pool.http2_only(http2_only)
            .http2_keep_alive_interval(waits.ping_interval)
            .http2_keep_alive_timeout(waits.ping_timeout);
        let pool = pool.build(BoxCloneSyncService::new(connector));
        HyperClient { pool, settings }
    }
}

/// Opens sockets as reqwest does by default, with the system's resolver. Names that stand for loopback bypass that.
fn tcp(patience: Duration) -> Sockets {
    const ALIVE: Option<Duration> = Some(Duration::from_secs(15));
    let mut tcp = HttpConnector::new_with_resolver(service_fn(|name: Name| async move {
        if is_loopback_name(name.as_str()) {
            return Ok(LOOPBACK.to_vec().into_iter());
        }
        let addresses = GaiResolver::new().call(name).await?;
        Ok::<_, io::Error>(addresses.collect::<Vec<_>>().into_iter())
    }));
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(patience));
    tcp.set_keepalive(ALIVE);
    tcp.set_keepalive_interval(ALIVE);
    tcp.set_keepalive_retries(Some(3));
    #[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
    tcp.set_tcp_user_timeout(Some(Duration::from_secs(30)));
    Sockets::new(tcp.map_err(Into::into))
}

// Without its settings: a proxy may have a credential.
debug_fields! { HyperClientBuilder |_it| }
