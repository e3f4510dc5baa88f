//! The body of a request, and the evidence it gives that no connection ever took the request.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use crate::macros::debug_fields;
use crate::transport::error::TransportError;

const WAITING: u8 = 0;
const BEGUN: u8 = 1;
const GIVEN_UP: u8 = 2;

/// Whether a connection has taken a request. Until then the request waits for a name to resolve, a socket, a proxy, a
/// handshake, or a busy connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Begun(Arc<AtomicU8>);

impl Begun {
    /// Gives the request up. True if nothing of its body was sent or ever will be.
    pub(crate) fn give_up(&self) -> bool {
        self.leave_waiting(GIVEN_UP).is_ok()
    }

    /// Gives the request up when the result is dropped.
    pub(crate) fn give_up_on_drop(&self) -> GiveUp<'_> {
        GiveUp(self)
    }

    /// Whether a connection may send it: not if it was given up before.
    fn begin(&self) -> bool {
        matches!(self.leave_waiting(BEGUN), Ok(_) | Err(BEGUN))
    }

    /// Moves a request that waits to another state; otherwise returns the state it is in.
    fn leave_waiting(&self, state: u8) -> Result<u8, u8> {
        self.0
            .compare_exchange(WAITING, state, Ordering::AcqRel, Ordering::Acquire)
    }
}

/// Gives a request up that no connection has taken.
pub(crate) struct GiveUp<'a>(&'a Begun);

impl Drop for GiveUp<'_> {
    fn drop(&mut self) {
        self.0.give_up();
    }
}

/// The body of a request, as a [`Transport`](crate::transport::Transport) gets it: one piece, whose length is known.
///
/// Whoever sends the request takes the body when the sending begins, and not before. That is the evidence by which a call
/// that times out or fails is known not to have been sent.
pub struct RequestBody {
    bytes: Option<Bytes>,
    begun: Option<Begun>,
}

impl RequestBody {
    /// A body that notices when a connection takes it, and is refused to connections once the request is given up.
    pub(crate) fn watched(bytes: Option<Bytes>, begun: &Begun) -> Self {
        Self {
            bytes,
            begun: Some(begun.clone()),
        }
    }

    /// All of it. From now on the request counts as one that may have been sent.
    ///
    /// # Errors
    /// When the call has given the request up: it must not be sent.
    pub fn into_bytes(self) -> Result<Bytes, TransportError> {
        if self.begin() {
            Ok(self.bytes.unwrap_or_default())
        } else {
            Err(TransportError::not_sent(GivenUp))
        }
    }

    fn begin(&self) -> bool {
        self.begun.as_ref().is_none_or(Begun::begin)
    }
}

impl<T: Into<Bytes>> From<T> for RequestBody {
    fn from(bytes: T) -> Self {
        let bytes = Some(bytes.into()).filter(|bytes| !bytes.is_empty());
        Self { bytes, begun: None }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = TransportError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, TransportError>>> {
        if self.begin() {
            Poll::Ready(self.bytes.take().map(|bytes| Ok(Frame::data(bytes))))
        } else {
            Poll::Ready(Some(Err(TransportError::not_sent(GivenUp))))
        }
    }

    /// Connections ask before they send anything.
    fn is_end_stream(&self) -> bool {
        self.begin();
        self.bytes.is_none()
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
struct GivenUp;
