//! Requests on their way to a transport, and the evidence that their bodies give: whether a connection ever took the request.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Uri};
use http_body::{Body, Frame, SizeHint};
use tokio::time;
use url::Url;

use crate::macros::debug_fields;
use crate::transport::error::TransportError;

const PENDING: u8 = 0;
const STARTED: u8 = 1;
const CANCELLED: u8 = 2;

/// Whether a connection has taken a request. Until then the request waits for a name to resolve, a socket, a proxy, a
/// handshake, or a busy connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct SendTracker(Arc<AtomicU8>);

impl SendTracker {
    /// Gives the request up. True if nothing of its body was sent or ever will be.
    pub(crate) fn cancel(&self) -> bool {
        self.leave_pending(CANCELLED).is_ok()
    }

    /// Gives the request up when the result is dropped.
    pub(crate) fn cancel_on_drop(&self) -> CancelOnDrop<'_> {
        CancelOnDrop(self)
    }

    /// Whether a connection may send it: not if it was given up before.
    fn start(&self) -> bool {
        matches!(self.leave_pending(STARTED), Ok(_) | Err(STARTED))
    }

    /// Moves a request that waits to another state; otherwise returns the state it is in.
    fn leave_pending(&self, state: u8) -> Result<u8, u8> {
        self.0
            .compare_exchange(PENDING, state, Ordering::AcqRel, Ordering::Acquire)
    }
}

/// Gives a request up that no connection has taken.
pub(crate) struct CancelOnDrop<'a>(&'a SendTracker);

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// The body of a request, as a [`Transport`](crate::transport::Transport) gets it: one piece, whose length is known.
///
/// Whoever sends the request takes the body when the sending begins, and not before. That is the evidence by which a call
/// that times out or fails is known not to have been sent.
pub struct RequestBody {
    bytes: Option<Bytes>,
    tracker: Option<SendTracker>,
}

impl RequestBody {
    /// A body that notices when a connection takes it, and is refused to connections once the request is given up.
    pub(crate) fn tracked(bytes: Option<Bytes>, tracker: &SendTracker) -> Self {
        Self {
            bytes,
            tracker: Some(tracker.clone()),
        }
    }

    /// All of it. From now on the request counts as one that may have been sent.
    ///
    /// # Errors
    /// When the call has given the request up: it must not be sent.
    pub fn into_bytes(self) -> Result<Bytes, TransportError> {
        if self.start() {
            Ok(self.bytes.unwrap_or_default())
        } else {
            Err(TransportError::not_sent(Cancelled))
        }
    }

    fn start(&self) -> bool {
        self.tracker.as_ref().is_none_or(SendTracker::start)
    }
}

impl<T: Into<Bytes>> From<T> for RequestBody {
    fn from(bytes: T) -> Self {
        let bytes = Some(bytes.into()).filter(|bytes| !bytes.is_empty());
        Self {
            bytes,
            tracker: None,
        }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = TransportError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, TransportError>>> {
        if self.start() {
            Poll::Ready(self.bytes.take().map(|bytes| Ok(Frame::data(bytes))))
        } else {
            Poll::Ready(Some(Err(TransportError::not_sent(Cancelled))))
        }
    }

    /// Connections ask before they send anything. They cannot be kept from sending the headers of a cancelled request, but if
    /// its body seems not to have ended, HTTP/2 resets the stream as soon as the body fails.
    fn is_end_stream(&self) -> bool {
        self.start() && self.bytes.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        let length = self.bytes.as_ref().map_or(0, Bytes::len);
        SizeHint::with_exact(length as u64)
    }
}

// Without its bytes, which may be confidential.
debug_fields! { RequestBody |it| bytes: it.bytes.as_ref().map_or(0, Bytes::len) }

#[derive(Debug, thiserror::Error)]
#[error("the request was given up before a connection took it")]
struct Cancelled;

/// When the suite stops waiting for the response and its body: an extension of each request that a
/// [`Transport`](crate::transport::Transport) receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline(pub Instant);

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
        tracker: Option<&SendTracker>,
        until: time::Instant,
    ) -> Result<Request<RequestBody>, TransportError> {
        let uri: Uri = self
            .url
            .as_str()
            .parse()
            .map_err(TransportError::rejected)?;
        let body = match (self.body, tracker) {
            (body, Some(tracker)) => RequestBody::tracked(body, tracker),
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
