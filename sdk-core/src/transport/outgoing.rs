//! A request that is about to be sent.

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Uri};
use tokio::time::Instant;
use url::Url;

use crate::transport::error::TransportError;
use crate::transport::request::{Begun, RequestBody};
use crate::transport::seam::Deadline;

/// A request that is about to be sent.
pub(crate) struct Outgoing {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<Bytes>,
}

impl Outgoing {
    /// The request for a transport of the caller.
    pub(super) fn into_http(
        self,
        begun: Option<&Begun>,
        until: Instant,
    ) -> Result<Request<RequestBody>, TransportError> {
        let uri: Uri = self.url.as_str().parse().map_err(TransportError::refused)?;
        let body = match (self.body, begun) {
            (body, Some(begun)) => RequestBody::watched(body, begun),
            (Some(body), None) => RequestBody::from(body),
            (None, None) => RequestBody::from(Bytes::new()),
        };
        let mut request = Request::new(body);
        *request.method_mut() = self.method;
        *request.uri_mut() = uri;
        *request.headers_mut() = self.headers;
        request.extensions_mut().insert(Deadline(until.into_std()));
        Ok(request)
    }
}
