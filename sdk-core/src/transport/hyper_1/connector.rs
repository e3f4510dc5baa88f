//! Connections: direct, through a proxy, or made by the caller.

use std::io;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::BoxFuture;
use http::Uri;
use http::uri::Scheme;
use hyper::rt::{Read, Write};
use hyper_rustls::{HttpsConnector, MaybeHttpsStream};
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use tokio::net::TcpStream;
use tower_service::Service;
use url::Host;

use crate::transport::error::BoxError;
use crate::transport::hyper_1::resolver::{Resolver, Shared};
use crate::transport::loopback::is_loopback;

/// What connects, shared by a client and its pool.
#[derive(Clone)]
pub(super) struct Connector(pub(super) Arc<Settings>);

pub(super) struct Settings {
    pub(super) tcp: HttpConnector<Resolver>,
    pub(super) tls: OnceLock<Result<Tls, rustls::Error>>,
    /// Whether all servers speak HTTP/2.
    pub(super) http2_only: bool,
    pub(super) proxies: Option<Matcher>,
    /// The caller's own, which does all of this itself.
    pub(super) own: Option<Shared<Uri, Stream>>,
    /// How long a connection may take to come up.
    pub(super) timeout: Duration,
}

/// The settings of TLS, which offer protocols to the target only.
pub(super) struct Tls {
    target: Arc<ClientConfig>,
    proxy: Arc<ClientConfig>,
}

impl Tls {
    pub(super) fn new(mut config: ClientConfig, http2_only: bool) -> Self {
        let mut proxy = config.clone();
        proxy.alpn_protocols.clear();
        if config.alpn_protocols.is_empty() {
            let http2 = cfg!(feature = "http2").then(|| b"h2".to_vec());
            let http1 = (!http2_only).then(|| b"http/1.1".to_vec());
            config.alpn_protocols = http2.into_iter().chain(http1).collect();
        }
        Self {
            target: Arc::new(config),
            proxy: Arc::new(proxy),
        }
    }

    /// The cryptography and the roots that reqwest takes by default.
    fn usual(http2_only: bool) -> Result<Self, rustls::Error> {
        let provider = CryptoProvider::get_default().cloned();
        let provider = provider.unwrap_or_else(|| Arc::new(aws_lc_rs::default_provider()));
        let verifier = rustls_platform_verifier::Verifier::new(Arc::clone(&provider))?;
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        Ok(Self::new(config, http2_only))
    }
}

/// A connection to the first host on the way.
type Hop = MaybeHttpsStream<TokioIo<TcpStream>>;
/// A connection to the target.
type Way = MaybeHttpsStream<Hop>;

/// A connection of any kind.
pub(super) type Stream = Box<dyn Io>;

pub(super) trait Io: Read + Write + Unpin + Send {
    /// What the pool is told, and nothing that it would copy into each reply.
    fn described(&self) -> Connected;
}

impl Io for Way {
    fn described(&self) -> Connected {
        if self.connected().is_negotiated_h2() {
            Connected::new().negotiated_h2()
        } else {
            Connected::new()
        }
    }
}

/// To a proxy, which is asked for plain HTTP.
impl Io for Hop {
    fn described(&self) -> Connected {
        Connected::new().proxy(true)
    }
}

/// The caller's.
pub(super) trait Given: Read + Write + Connection + Unpin + Send {}

impl<T: Read + Write + Connection + Unpin + Send> Given for T {}

impl Io for Box<dyn Given> {
    fn described(&self) -> Connected {
        (**self).connected()
    }
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        (**self).described()
    }
}

impl Settings {
    /// The proxy in front of an address. Plain HTTP to loopback has none.
    pub(super) fn proxy_of(&self, uri: &Uri) -> Option<Intercept> {
        let proxies = self.proxies.as_ref()?;
        let is_plain = uri.scheme() == Some(&Scheme::HTTP);
        let host = Host::parse(uri.host()?).ok();
        let is_near = is_plain && host.is_some_and(|host| is_loopback(&host));
        proxies.intercept(uri).filter(|_| !is_near)
    }

    /// The settings of TLS. The system's roots are loaded when they are first needed.
    pub(super) fn tls(&self) -> Result<&Tls, rustls::Error> {
        let tls = self.tls.get_or_init(|| Tls::usual(self.http2_only));
        tls.as_ref().map_err(Clone::clone)
    }

    async fn connect(&self, uri: Uri) -> Result<Stream, BoxError> {
        if let Some(own) = &self.own {
            return own(uri).await;
        }
        let (mut tcp, is_tls) = (self.tcp.clone(), uri.scheme() == Some(&Scheme::HTTPS));
        let Some(proxy) = self.proxy_of(&uri) else {
            let hop = if is_tls {
                let tls = Arc::clone(&self.tls()?.target);
                HttpsConnector::from((tcp, tls)).call(uri).await?
            } else {
                Hop::Http(tcp.call(uri).await?)
            };
            return Ok(Box::new(Way::Http(hop)));
        };
        checked(&proxy)?;
        let mut hop = HttpsConnector::from((tcp, Arc::clone(&self.tls()?.proxy)));
        if !is_tls {
            return Ok(Box::new(hop.call(proxy.uri().clone()).await?));
        }
        let mut tunnel = Tunnel::new(proxy.uri().clone(), hop);
        if let Some(credential) = proxy.basic_auth() {
            tunnel = tunnel.with_auth(credential.clone());
        }
        let tls = Arc::clone(&self.tls()?.target);
        Ok(Box::new(
            HttpsConnector::from((tunnel, tls)).call(uri).await?,
        ))
    }
}

/// Refuses a proxy that does not speak HTTP.
pub(super) fn checked(proxy: &Intercept) -> io::Result<()> {
    let scheme = proxy.uri().scheme_str().unwrap_or_default();
    if scheme.starts_with("socks") {
        let why = format!("this transport has no {scheme} proxies: use `http` or `https`");
        return Err(io::Error::new(io::ErrorKind::Unsupported, why));
    }
    Ok(())
}

impl Service<Uri> for Connector {
    type Response = Stream;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Stream, BoxError>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let settings = Arc::clone(&self.0);
        Box::pin(async move {
            let connected = tokio::time::timeout(settings.timeout, settings.connect(uri)).await;
            connected
                .unwrap_or_else(|_elapsed| Err(io::Error::from(io::ErrorKind::TimedOut).into()))
        })
    }
}
