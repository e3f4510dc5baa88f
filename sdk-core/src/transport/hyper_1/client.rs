//! The client, which is a service of its own too.

use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use http::header::PROXY_AUTHORIZATION;
use http::{HeaderValue, Request, Response, Uri};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use tower::util::BoxCloneSyncService;
use tower_service::Service;

use crate::macros::debug_fields;
use crate::transport::error::{BoxError, TransportError};
use crate::transport::hyper_1::connector::{Settings, Stream, is_plain};
use crate::transport::hyper_1::sending::failed;
use crate::transport::request::RequestBody;

/// A client of hyper 1 and its pool of connections: the leaner of the two HTTP clients (feature `hyper-1`). It follows no
/// redirect and decompresses nothing.
///
/// Hand it, or better its [builder](Self::builder), to [`SuiteBuilder::http_client`](crate::SuiteBuilder::http_client), or put
/// `tower` layers around it and hand it to [`SuiteBuilder::transport`](crate::SuiteBuilder::transport): it is a service, and
/// clones share the connections. [The guide](crate::guide::network) says when to take which client.
#[derive(Clone)]
pub struct HyperClient {
    pub(super) pool: Client<BoxCloneSyncService<Uri, Stream, BoxError>, RequestBody>,
    pub(in crate::transport) settings: Arc<Settings>,
}

impl HyperClient {
    /// The credential for a plain request by way of a proxy. A tunnel is asked for with it instead.
    pub(super) fn proxy_credential(&self, uri: &Uri) -> Result<Option<HeaderValue>, BoxError> {
        let proxy = self.settings.proxy_of(uri)?.filter(|_| is_plain(uri));
        Ok(proxy.and_then(|proxy| proxy.basic_auth().cloned()))
    }
}

impl Service<Request<RequestBody>> for HyperClient {
    type Response = Response<Incoming>;
    type Error = TransportError;
    type Future = BoxFuture<'static, Result<Self::Response, TransportError>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<RequestBody>) -> Self::Future {
        if let Ok(Some(credential)) = self.proxy_credential(request.uri()) {
            request
                .headers_mut()
                .insert(PROXY_AUTHORIZATION, credential);
        }
        let sending = self.pool.request(request);
        Box::pin(async move { sending.await.map_err(failed) })
    }
}

// Without its settings: a proxy may have a credential.
debug_fields! { HyperClient |_it| }
