//! The transport, and its `tower` service for layers.

use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::header::{HOST, PROXY_AUTHORIZATION};
use http::uri::Authority;
use http::{HeaderValue, Request, Response, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::capture_connection;
use sdk_core::transport::{
    Deadline, RequestBody, ResponseBody, Transport, TransportError, TransportFuture,
};
use tower::util::BoxCloneSyncService;
use tower_service::Service;

use crate::BoxError;
use crate::builder::HyperTransportBuilder;
use crate::connector::{Settings, Stream, is_plain};
use crate::response::{PoisonOnTimeout, TimedBody, transport_error};

/// A transport on hyper's connection pool, for [`SuiteBuilder::transport`](sdk_core::SuiteBuilder::transport).
///
/// Clones share the connections.
#[derive(Clone)]
pub struct HyperTransport {
    pub(crate) pool: Client<BoxCloneSyncService<Uri, Stream, BoxError>, RequestBody>,
    pub(crate) settings: Arc<Settings>,
}

impl HyperTransport {
    /// Returns a transport that uses the environment's proxies and the system's root certificates and resolver.
    #[must_use]
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// Returns a builder with the default settings.
    pub fn builder() -> HyperTransportBuilder {
        HyperTransportBuilder::default()
    }

    /// Returns this transport as a `tower` service that you can wrap in layers.
    #[must_use]
    pub fn service(&self) -> HyperService {
        HyperService(self.clone())
    }
}

impl Default for HyperTransport {
    fn default() -> Self {
        Self::new()
    }
}

/// Sets the `Host` header from the URL's authority. hyper would format host and port again, which costs twice as much.
fn set_host(request: &mut Request<RequestBody>) {
    let authority = request.uri().authority().map(Authority::as_str);
    // An authority with user information doesn't belong in the header, so hyper formats it.
    let host = authority.filter(|it| !it.contains('@'));
    if let Some(host) = host.and_then(|it| HeaderValue::from_str(it).ok()) {
        request.headers_mut().entry(HOST).or_insert(host);
    }
}

impl Transport for HyperTransport {
    fn send(&self, mut request: Request<RequestBody>) -> TransportFuture {
        let is_plain = is_plain(request.uri());
        // Requests over TLS have no such header, because the tunnel is opened with the credential.
        if is_plain && let Some(credential) = self.settings.proxy_credential(request.uri()) {
            let headers = request.headers_mut();
            headers.insert(PROXY_AUTHORIZATION, credential);
        }
        let may_be_http2 = cfg!(feature = "http2") && (!is_plain || self.settings.http2_only);
        if !may_be_http2 {
            set_host(&mut request);
        }
        let deadline = request.extensions().get::<Deadline>().copied();
        let deadline = deadline.filter(|_| may_be_http2);
        let poison = deadline.map(|deadline| PoisonOnTimeout {
            connection: capture_connection(&mut request),
            deadline,
        });
        let sending = self.pool.request(request);
        Box::pin(async move {
            let response = sending.await.map_err(transport_error)?;
            Ok(response.map(|body| {
                ResponseBody::new(TimedBody {
                    body,
                    _poison: poison,
                })
            }))
        })
    }

    fn connect_timeout(&self) -> Option<Duration> {
        Some(self.settings.connect_timeout)
    }

    fn proxy_for(&self, address: &Uri) -> Result<Option<String>, TransportError> {
        if !is_plain(address) {
            // Loads the system's roots now, so that the first call doesn't have to.
            self.settings.tls().map_err(TransportError::rejected)?;
        }
        self.settings.proxy_name(address)
    }

    fn binds_loopback(&self) -> bool {
        self.settings.binds_loopback
    }
}

// Omits the settings, because a proxy may contain a credential.
impl fmt::Debug for HyperTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HyperTransport").finish_non_exhaustive()
    }
}

/// A [`HyperTransport`] as a `tower` service that you can wrap in layers.
///
/// If you have no layers, pass the transport itself to the suite. A suite can't check a service's proxies and TLS
/// settings.
#[derive(Clone, Debug)]
pub struct HyperService(HyperTransport);

impl Service<Request<RequestBody>> for HyperService {
    type Response = Response<ResponseBody>;
    type Error = TransportError;
    type Future = TransportFuture;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<RequestBody>) -> TransportFuture {
        self.0.send(request)
    }
}
