//! Evidence that no connection ever took a request.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

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

    /// A body that notices when a connection takes it, and is refused to connections once the request is given up.
    pub(crate) fn body(&self, bytes: Bytes) -> reqwest::Body {
        reqwest::Body::wrap(Watched {
            bytes: Some(bytes),
            begun: self.clone(),
        })
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

    /// The connection asks before it sends anything.
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
#[error("the request was given up before a connection took it")]
struct GivenUp;
