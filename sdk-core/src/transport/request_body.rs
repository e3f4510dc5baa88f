//! Outgoing requests. Their bodies record whether a connection took the request.

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

/// Records whether a connection has taken a request. Before that, the request waits for a DNS lookup, a socket, a
/// proxy, a handshake, or a busy connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct SendTracker(Arc<AtomicU8>);

impl SendTracker {
    /// Cancels the request. Returns whether nothing of its body was or will be sent.
    pub(crate) fn cancel(&self) -> bool {
        self.leave_pending(CANCELLED).is_ok()
    }

    pub(crate) fn cancel_on_drop(&self) -> CancelOnDrop<'_> {
        CancelOnDrop(self)
    }

    /// Whether a connection may send the request, that is, unless the request was cancelled.
    fn start(&self) -> bool {
        matches!(self.leave_pending(STARTED), Ok(_) | Err(STARTED))
    }

    /// Moves a pending request to another state. If it is not pending, returns its state.
    fn leave_pending(&self, state: u8) -> Result<u8, u8> {
        self.0
            .compare_exchange(PENDING, state, Ordering::AcqRel, Ordering::Acquire)
    }
}

/// Cancels a request that no connection has taken.
pub(crate) struct CancelOnDrop<'a>(&'a SendTracker);

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// The body of a request that a [`Transport`](crate::transport::Transport) receives: a single chunk of known length.
///
/// The transport must take the body only when it begins to send the request. If the call then fails or times out, the
/// SDK knows whether the request was sent.
pub struct RequestBody {
    bytes: Option<Bytes>,
    tracker: Option<SendTracker>,
}

impl RequestBody {
    /// Creates a body that records when a connection takes it. After the request is cancelled, reading the body fails.
    pub(crate) fn tracked(bytes: Option<Bytes>, tracker: &SendTracker) -> Self {
        Self {
            bytes,
            tracker: Some(tracker.clone()),
        }
    }

    /// Returns the whole body. From this call on, the request counts as possibly sent.
    ///
    /// # Errors
    /// If the call has cancelled the request. The transport must not send it.
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

    /// Connections call this before they send anything. They may still send the headers of a cancelled request. But
    /// because its body seems unfinished, HTTP/2 resets the stream when the body fails.
    fn is_end_stream(&self) -> bool {
        self.start() && self.bytes.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        let length = self.bytes.as_ref().map_or(0, Bytes::len);
        SizeHint::with_exact(length as u64)
    }
}

// Without the bytes, which may be confidential.
debug_fields! { RequestBody |it| bytes: it.bytes.as_ref().map_or(0, Bytes::len) }

#[derive(Debug, thiserror::Error)]
#[error("the request was cancelled before it was sent")]
struct Cancelled;

/// The instant at which the SDK stops waiting for the response and its body. It is an extension of each request that
/// a [`Transport`](crate::transport::Transport) receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline(pub Instant);

pub(crate) struct Outgoing {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<Bytes>,
}

impl Outgoing {
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
