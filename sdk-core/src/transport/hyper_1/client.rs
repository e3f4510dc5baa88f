//! The client, which is a service of its own too.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::header::PROXY_AUTHORIZATION;
use http::{Request, Response, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::capture_connection;
use tower::util::BoxCloneSyncService;
use tower_service::Service;

use crate::macros::debug_fields;
use crate::transport::error::{BoxError, TransportError};
use crate::transport::hyper_1::connector::{Settings, Stream, is_plain};
use crate::transport::hyper_1::sending::{PoisonOnTimeout, TimedBody, failed};
use crate::transport::proxy::named;
use crate::transport::reply::ReplyBody;
use crate::transport::request::RequestBody;
use crate::transport::seam::{Deadline, Transport, TransportFuture};

/// A client of hyper 1 and its pool of connections: the leaner of the two HTTP clients (feature `hyper-1`). It follows no
/// redirect and decompresses nothing.
///
/// Hand it, or better its [builder](Self::builder), to [`SuiteBuilder::http_client`](crate::SuiteBuilder::http_client), or put
/// `tower` layers around it and hand it to [`SuiteBuilder::transport`](crate::SuiteBuilder::transport): it is a service, and
/// clones share the connections. [The guide](crate::guide::network) says when to take which client.
#[derive(Clone)]
pub struct HyperClient {
    pub(super) pool: Client<BoxCloneSyncService<Uri, Stream, BoxError>, RequestBody>,
    pub(super) settings: Arc<Settings>,
}

impl Service<Request<RequestBody>> for HyperClient {
    type Response = Response<ReplyBody>;
    type Error = TransportError;
    type Future = TransportFuture;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<RequestBody>) -> TransportFuture {
        self.send(request)
    }
}

impl HyperClient {
    fn send(&self, mut request: Request<RequestBody>) -> TransportFuture {
        let is_plain = is_plain(request.uri());
        if is_plain && let Some(credential) = self.settings.proxy_credential(request.uri()) {
            let headers = request.headers_mut();
            headers.insert(PROXY_AUTHORIZATION, credential);
        }
        let may_be_http2 = cfg!(feature = "http2") && (!is_plain || self.settings.http2_only);
        let deadline = request.extensions().get::<Deadline>().copied();
        let poison = deadline
            .filter(|_| may_be_http2)
            .map(|deadline| PoisonOnTimeout {
                connection: capture_connection(&mut request),
                until: deadline.0,
            });
        let sending = self.pool.request(request);
        Box::pin(async move {
            let response = sending.await.map_err(failed)?;
            Ok(response.map(|body| {
                ReplyBody::new(TimedBody {
                    body,
                    _poison: poison,
                })
            }))
        })
    }
}

/// The client as the transport of a suite. As a service it could say nothing about its connections.
pub(in crate::transport) struct HyperTransport(pub(in crate::transport) HyperClient);

impl Transport for HyperTransport {
    fn send(&self, request: Request<RequestBody>) -> TransportFuture {
        self.0.send(request)
    }

    fn connect_timeout(&self) -> Option<Duration> {
        Some(self.0.settings.timeout)
    }

    fn proxy_for(&self, address: &Uri) -> Result<Option<String>, BoxError> {
        let settings = &self.0.settings;
        if !is_plain(address) {
            // The roots of the system are loaded now, and not in the first call.
            settings.tls()?;
        }
        let proxy = settings.proxy_of(address)?;
        Ok(proxy.and_then(|proxy| named(proxy.uri())))
    }

    fn binds_loopback(&self) -> bool {
        self.0.settings.pins
    }
}

// Without its settings: a proxy may have a credential.
debug_fields! { HyperClient |_it| }
