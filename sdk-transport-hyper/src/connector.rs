//! Connections, direct or through a proxy.

use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http::uri::Scheme;
use http::{HeaderValue, Uri};
use hyper::rt::{Read, Write};
use hyper_rustls::{HttpsConnector, MaybeHttpsStream};
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use sdk_core::transport::TransportError;
use tokio::net::TcpStream;
use tower::ServiceExt as _;
use tower::util::BoxCloneSyncService;
use tower_service::Service as _;

use crate::BoxError;

pub(crate) type Sockets = BoxCloneSyncService<Uri, TokioIo<TcpStream>, BoxError>;

pub(crate) struct Settings {
    pub(crate) sockets: Sockets,
    /// Whether loopback names always resolve to loopback addresses.
    pub(crate) binds_loopback: bool,
    pub(crate) tls: OnceLock<Result<Tls, rustls::Error>>,
    pub(crate) http2_only: bool,
    pub(crate) proxies: Option<Matcher>,
    pub(crate) connect_timeout: Duration,
}

/// Only the target's settings offer ALPN protocols.
pub(crate) struct Tls {
    target: Arc<ClientConfig>,
    proxy: Arc<ClientConfig>,
}

impl Tls {
    pub(crate) fn new(mut target: ClientConfig, http2_only: bool) -> Self {
        let mut proxy = target.clone();
        proxy.alpn_protocols.clear();
        if target.alpn_protocols.is_empty() {
            let http2 = cfg!(feature = "http2").then(|| b"h2".to_vec());
            let http1 = (!http2_only).then(|| b"http/1.1".to_vec());
            target.alpn_protocols = http2.into_iter().chain(http1).collect();
        }
        let (target, proxy) = (Arc::new(target), Arc::new(proxy));
        Self { target, proxy }
    }

    /// Returns the cryptography and roots that reqwest uses by default.
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

/// A connection to the proxy, or to the target if there is no proxy.
type Hop = MaybeHttpsStream<TokioIo<TcpStream>>;
type Way = MaybeHttpsStream<Hop>;

/// A connection to the target or, for plain HTTP, to a proxy.
pub(crate) type Stream = Box<dyn Io>;

pub(crate) trait Io: Read + Write + Unpin + Send {
    /// Returns the connection's properties without addresses, which the pool would copy into each response.
    fn properties(&self) -> Connected;
}

impl Io for Way {
    fn properties(&self) -> Connected {
        let is_http2 = self.connected().is_negotiated_h2();
        let properties = Connected::new();
        if is_http2 {
            properties.negotiated_h2()
        } else {
            properties
        }
    }
}

/// A connection to a proxy that forwards plain HTTP requests.
impl Io for Hop {
    fn properties(&self) -> Connected {
        Connected::new().proxy(true)
    }
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        (**self).properties()
    }
}

impl Settings {
    /// Returns the proxy for an address, which must be an HTTP proxy. Plain HTTP to loopback has no proxy.
    fn proxy_of(&self, uri: &Uri) -> Result<Option<Intercept>, BoxError> {
        let is_near = || is_plain(uri) && uri.host().is_some_and(is_loopback);
        let proxies = self.proxies.as_ref().filter(|_| !is_near());
        let Some(proxy) = proxies.and_then(|proxies| proxies.intercept(uri)) else {
            return Ok(None);
        };
        match proxy.uri().scheme_str() {
            Some("http" | "https") => Ok(Some(proxy)),
            other => Err(format!("a proxy must use HTTP, not `{}`", other.unwrap_or("")).into()),
        }
    }

    /// Returns the URL of the proxy for an address, without its credential.
    pub(crate) fn proxy_name(&self, uri: &Uri) -> Result<Option<String>, TransportError> {
        let proxy = self.proxy_of(uri).map_err(TransportError::rejected)?;
        Ok(proxy.and_then(|proxy| {
            let uri = proxy.uri();
            let port = uri.port().map(|port| format!(":{port}"));
            let (scheme, port) = (uri.scheme_str()?, port.unwrap_or_default());
            Some(format!("{scheme}://{}{port}", uri.host()?))
        }))
    }

    /// Returns the credential for a plain HTTP request through a proxy.
    pub(crate) fn proxy_credential(&self, uri: &Uri) -> Option<HeaderValue> {
        self.proxy_of(uri).ok()??.basic_auth().cloned()
    }

    /// Returns the TLS settings. The first call loads the system's roots.
    pub(crate) fn tls(&self) -> Result<&Tls, rustls::Error> {
        let tls = self.tls.get_or_init(|| Tls::usual(self.http2_only));
        tls.as_ref().map_err(Clone::clone)
    }

    pub(crate) async fn connect(&self, uri: Uri) -> Result<Stream, BoxError> {
        let mut tcp = self.sockets.clone();
        tcp.ready().await?;
        let Some(proxy) = self.proxy_of(&uri)? else {
            let hop = if is_plain(&uri) {
                tcp.call(uri).await.map(Hop::Http)
            } else {
                let tls = Arc::clone(&self.tls()?.target);
                HttpsConnector::from((tcp, tls)).call(uri).await
            };
            return hop.map(|hop| -> Stream { Box::new(Way::Http(hop)) });
        };
        let mut hop = HttpsConnector::from((tcp, Arc::clone(&self.tls()?.proxy)));
        if is_plain(&uri) {
            let hop = hop.call(proxy.uri().clone()).await;
            return hop.map(|hop| -> Stream { Box::new(hop) });
        }
        let mut tunnel = Tunnel::new(proxy.uri().clone(), hop);
        if let Some(credential) = proxy.basic_auth() {
            tunnel = tunnel.with_auth(credential.clone());
        }
        let tls = Arc::clone(&self.tls()?.target);
        let way = HttpsConnector::from((tunnel, tls)).call(uri).await;
        way.map(|way| -> Stream { Box::new(way) })
    }
}

pub(crate) fn is_plain(uri: &Uri) -> bool {
    uri.scheme() == Some(&Scheme::HTTP)
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse();
    is_loopback_name(host) || address.is_ok_and(|address: IpAddr| address.is_loopback())
}

/// Whether a name is a loopback name by definition (RFC 6761, section 6.3). A resolver might disagree, so the transport
/// resolves such names itself.
pub(crate) fn is_loopback_name(name: &str) -> bool {
    name == "localhost" || name.ends_with(".localhost")
}
