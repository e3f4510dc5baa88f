//! The body of a reply on its way, and the record of how it ended.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame};
use suite_checker::Event;
use tokio::time::{Sleep, sleep};

use super::fate::Fault;
use super::stage::{Stage, micros};

/// A request that its suite waits for. Dropped before its end, it was abandoned.
pub(super) struct Ticket {
    stage: Arc<Stage>,
    request: u64,
    open: bool,
}

impl Ticket {
    pub(super) fn new(stage: Arc<Stage>, request: u64) -> Self {
        Self {
            stage,
            request,
            open: true,
        }
    }

    pub(super) fn broke(mut self) -> io::Error {
        self.close(true);
        io::ErrorKind::ConnectionReset.into()
    }

    /// Records that the answer came back, and how long its body takes.
    fn offer(&self, takes: Duration) {
        self.stage.record(Event::Offered {
            request: self.request,
            takes: micros(takes),
        });
    }

    fn close(&mut self, broke: bool) {
        let request = self.request;
        if std::mem::take(&mut self.open) {
            self.stage.record(if broke {
                Event::Broke { request }
            } else {
                Event::Delivered { request }
            });
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if self.open {
            let request = self.request;
            self.stage.record(Event::Abandoned { request });
        }
    }
}

/// A body that comes as its fate will have it.
pub(super) struct Arriving {
    pieces: VecDeque<Bytes>,
    pause: Duration,
    pausing: Option<Pin<Box<Sleep>>>,
    /// Whether it ends too early, and whether that is an error.
    cut: bool,
    fails: bool,
    ticket: Ticket,
}

impl Arriving {
    pub(super) fn new(body: Bytes, fault: Option<Fault>, ticket: Ticket) -> Self {
        let length = body.len();
        // Half of it, or all but the last byte.
        let half = body.slice(
            ..if length.is_multiple_of(3) {
                length.saturating_sub(1)
            } else {
                length / 2
            },
        );
        let (pieces, pause, cut) = match fault {
            Some(Fault::Drip) => {
                let piece = length / 8 + 1;
                let pieces = (0..length).step_by(piece);
                let pieces = pieces.map(|at| body.slice(at..length.min(at + piece)));
                (pieces.collect(), Duration::from_millis(700), false)
            }
            Some(Fault::Truncate | Fault::Break) => ([half].into(), Duration::ZERO, true),
            // What the server answered was never read.
            Some(Fault::Replace(_)) => ([body].into(), Duration::ZERO, true),
            _ => ([body].into(), Duration::ZERO, false),
        };
        let pieces: VecDeque<Bytes> = pieces;
        let pauses = u32::try_from(pieces.len()).unwrap_or(u32::MAX) + 1;
        ticket.offer(pause * pauses);
        Self {
            pieces,
            pause,
            pausing: None,
            cut,
            fails: fault == Some(Fault::Break),
            ticket,
        }
    }

    /// Changes a body that comes whole.
    pub(super) fn change(&mut self, change: impl FnOnce(&[u8]) -> Bytes) {
        if let ([body], false) = (self.pieces.make_contiguous(), self.cut) {
            *body = change(body);
        }
    }
}

impl Body for Arriving {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if !self.pause.is_zero() {
            let pause = self.pause;
            let pausing = self.pausing.get_or_insert_with(|| Box::pin(sleep(pause)));
            ready!(pausing.as_mut().poll(context));
            self.pausing = None;
        }
        if let Some(piece) = self.pieces.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        let cut = self.cut;
        self.ticket.close(cut);
        let failed = std::mem::take(&mut self.fails);
        Poll::Ready(failed.then(|| Err(io::ErrorKind::UnexpectedEof.into())))
    }
}
