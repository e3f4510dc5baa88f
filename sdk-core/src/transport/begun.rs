//! Evidence that a request was never begun.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

const WAITING: u8 = 0;
const BEGUN: u8 = 1;
const GIVEN_UP: u8 = 2;

/// Whether a connection has taken a request to send it. Until then it waits for one: for a name to be resolved, a socket, a
/// proxy, a handshake, or another request's connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Begun(Arc<AtomicU8>);

impl Begun {
    /// Gives the request up. Says whether nothing of its body was sent, nor ever will be.
    pub(crate) fn give_up(&self) -> bool {
        let state = &self.0;
        state
            .compare_exchange(WAITING, GIVEN_UP, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }

    /// A body that tells when a connection takes it, and that nobody gets any more once the request was given up.
    pub(crate) fn body(&self, bytes: Bytes) -> reqwest::Body {
        reqwest::Body::wrap(Watched {
            bytes: Some(bytes),
            begun: self.clone(),
        })
    }

    /// Whether it may be sent: the connection is the first to ask.
    fn begin(&self) -> bool {
        let state = &self.0;
        match state.compare_exchange(WAITING, BEGUN, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) | Err(BEGUN) => true,
            Err(_) => false,
        }
    }
}

struct Watched {
    bytes: Option<Bytes>,
    begun: Begun,
}

impl Body for Watched {
    type Data = Bytes;
    type Error = GivenUp;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, GivenUp>>> {
        if self.begun.begin() {
            Poll::Ready(self.bytes.take().map(|bytes| Ok(Frame::data(bytes))))
        } else {
            Poll::Ready(Some(Err(GivenUp)))
        }
    }

    /// Asked by the connection, and before it sends anything.
    fn is_end_stream(&self) -> bool {
        self.begun.begin();
        self.bytes.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        let length = self.bytes.as_ref().map_or(0, Bytes::len);
        SizeHint::with_exact(length as u64)
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the request was given up before its connection stood")]
struct GivenUp;
