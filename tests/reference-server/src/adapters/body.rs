//! The body of a response: complete, slow or cut off.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::time::Sleep;

use crate::message::{Ending, Reply};

/// A response body, which can arrive in pieces and can end early.
#[derive(Default)]
pub struct ResponseBody {
    left: Bytes,
    /// The number of declared bytes that have not been sent.
    owed: u64,
    piece: usize,
    pause: Duration,
    pausing: Option<Pin<Box<Sleep>>>,
    broken: bool,
    flushed: bool,
}

impl ResponseBody {
    pub(super) fn of(reply: &Reply) -> ResponseBody {
        let broken = reply.fate.ending == Ending::Broken;
        let mut left = reply.body.clone();
        if broken {
            left.truncate(left.len() / 2);
        }
        let drip = reply.fate.drip;
        ResponseBody {
            left,
            owed: reply.body.len() as u64,
            piece: drip.map_or(usize::MAX, |drip| drip.bytes.max(1)),
            pause: drip.map_or(Duration::ZERO, |drip| drip.pause.0),
            pausing: None,
            broken,
            flushed: false,
        }
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if let Some(pausing) = &mut self.pausing {
            ready!(pausing.as_mut().poll(context));
            self.pausing = None;
        }
        if !self.left.is_empty() {
            let piece = self.piece.min(self.left.len());
            let bytes = self.left.split_to(piece);
            self.owed -= piece as u64;
            if !self.left.is_empty() {
                self.pausing = Some(Box::pin(tokio::time::sleep(self.pause)));
            }
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        if self.broken && !std::mem::replace(&mut self.flushed, true) {
            // hyper flushes its buffer when a body returns `Pending`.
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if std::mem::take(&mut self.broken) {
            return Poll::Ready(Some(Err(io::ErrorKind::ConnectionReset.into())));
        }
        Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        self.left.is_empty() && !self.broken
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.owed)
    }
}

impl fmt::Debug for ResponseBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseBody")
            .field("owed", &self.owed)
            .finish_non_exhaustive()
    }
}
