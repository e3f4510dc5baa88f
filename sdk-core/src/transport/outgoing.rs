//! A request that is about to be sent.

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Uri};
use url::Url;

use crate::transport::error::TransportError;
use crate::transport::request::{Begun, RequestBody};

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
    ) -> Result<Request<RequestBody>, TransportError> {
        let uri = self.url.as_str().parse().map_err(TransportError::refused)?;
        Ok(self.into_request(uri, begun))
    }

    /// The request for an address that was read already.
    pub(super) fn into_request(self, uri: Uri, begun: Option<&Begun>) -> Request<RequestBody> {
        let body = match (self.body, begun) {
            (body, Some(begun)) => RequestBody::watched(body, begun),
            (Some(body), None) => RequestBody::from(body),
            (None, None) => RequestBody::from(Bytes::new()),
        };
        let mut request = Request::new(body);
        *request.method_mut() = self.method;
        *request.uri_mut() = uri;
        *request.headers_mut() = self.headers;
        request
    }
}
