//! What a caller may set of a client.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http::Uri;
use hyper::rt::{Read, Write};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::dns::Name;
use hyper_util::client::legacy::connect::{Connection, HttpConnector};
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::ClientConfig;
use tower_service::Service;

use crate::shown::shows;
use crate::transport::error::BoxError;
use crate::transport::hyper_1::client::{HyperClient, Inner};
use crate::transport::hyper_1::connector::{Connector, Given, Settings, Stream, Tls};
use crate::transport::hyper_1::resolver::{Resolver, Shared, share};
use crate::transport::waits::Waits;

/// Builds a [`HyperClient`]. By default it has the proxies that the environment names, the roots of the operating system, and
/// its resolver.
///
/// ```no_run
/// use sdk_core::Suite;
/// use sdk_core::transport::HyperClient;
/// use sdk_core::transport::hyper_util::client::proxy::matcher::Matcher;
///
/// # fn suite() -> Result<Suite, sdk_core::Error> {
/// let proxies = Matcher::builder().https("http://ann:secret@proxy.example.com:3128").build();
/// let client = HyperClient::builder().proxies(proxies);
/// Suite::builder().environment().http_client(client).build()
/// # }
/// ```
#[must_use]
pub struct HyperClientBuilder {
    tls: Option<ClientConfig>,
    proxies: Option<Matcher>,
    resolver: Resolver,
    own: Option<Shared<Uri, Stream>>,
    http2_only: bool,
}

impl HyperClient {
    /// A builder with the settings that most programs want.
    pub fn builder() -> HyperClientBuilder {
        HyperClientBuilder {
            tls: None,
            proxies: Some(Matcher::from_env()),
            resolver: Resolver::default(),
            own: None,
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

    /// Sets the proxies, in place of those of the environment. Plain HTTP to loopback goes over none.
    pub fn proxies(mut self, proxies: Matcher) -> Self {
        self.proxies = Some(proxies);
        self
    }

    /// Takes no proxy, whatever the environment says.
    pub fn no_proxy(mut self) -> Self {
        self.proxies = None;
        self
    }

    /// Sets the resolver. It is not asked for `localhost` and names below it.
    pub fn resolver<R>(mut self, resolver: R) -> Self
    where
        R: Service<Name> + Clone + Send + Sync + 'static,
        R::Response: Iterator<Item = std::net::SocketAddr>,
        R::Future: Send,
        R::Error: Into<BoxError>,
    {
        self.resolver = Resolver::of(resolver);
        self
    }

    /// Sets what makes connections, TLS and proxies included: the settings of both here have no effect then. Plain HTTP goes to
    /// loopback by address only, such as `127.0.0.1`.
    pub fn connector<C>(mut self, connector: C) -> Self
    where
        C: Service<Uri> + Clone + Send + Sync + 'static,
        C::Response: Read + Write + Connection + Unpin + Send + 'static,
        C::Future: Send,
        C::Error: Into<BoxError>,
    {
        let form = |stream| -> Stream { Box::new(Box::new(stream) as Box<dyn Given>) };
        self.own = Some(share(connector, form));
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

    /// Builds the client with these waits.
    pub(in crate::transport) fn with(self, waits: Waits) -> HyperClient {
        // As reqwest has it by default.
        const ALIVE: Option<Duration> = Some(Duration::from_secs(15));
        let mut tcp = HttpConnector::new_with_resolver(self.resolver);
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(waits.connect));
        tcp.set_keepalive(ALIVE);
        tcp.set_keepalive_interval(ALIVE);
        tcp.set_keepalive_retries(Some(3));
        #[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
        tcp.set_tcp_user_timeout(Some(Duration::from_secs(30)));
        let http2_only = self.http2_only;
        let tls = self.tls.map(|config| Ok(Tls::new(config, http2_only)));
        let settings = Arc::new(Settings {
            tcp,
            tls: tls.map_or_else(OnceLock::new, OnceLock::from),
            http2_only,
            proxies: self.proxies.filter(|_| self.own.is_none()),
            own: self.own,
            timeout: waits.connect,
        });
        // A request that no connection took may go to another one: nothing was sent, so that it stays one attempt.
        let mut pool = Client::builder(TokioExecutor::new());
        pool.timer(TokioTimer::new()).pool_timer(TokioTimer::new());
        #[cfg(feature = "http2")]
        pool.http2_only(http2_only)
            .http2_keep_alive_interval(waits.ping_interval)
            .http2_keep_alive_timeout(waits.ping_timeout);
        let pool = pool.build(Connector(Arc::clone(&settings)));
        HyperClient(Arc::new(Inner { pool, settings }))
    }
}

// Without its settings: a proxy may have a credential.
shows! { HyperClientBuilder |_it| }
