//! Requests on their way.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use hyper_util::client::legacy::Error;
use hyper_util::client::legacy::connect::CaptureConnection;
use tokio::time;

use crate::error::source::chain;
use crate::transport::cause;
use crate::transport::error::{Stage, TransportError};

/// Takes an HTTP/2 connection out of use if what is asked of it is still under way when its time is up. (One of HTTP/1.1 ends
/// with any request that is given up.)
pub(super) struct PoisonOnTimeout {
    pub(super) connection: CaptureConnection,
    pub(super) until: Instant,
}

impl Drop for PoisonOnTimeout {
    fn drop(&mut self) {
        if time::Instant::now().into_std() >= self.until
            && let Some(connected) = &*self.connection.connection_metadata()
        {
            connected.poison();
        }
    }
}

/// The body of a reply, whose connection is taken out of use if it does not end in time.
pub(super) struct TimedBody {
    pub(super) body: Incoming,
    pub(super) _poison: Option<PoisonOnTimeout>,
}

impl Body for TimedBody {
    type Data = Bytes;
    type Error = TransportError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, TransportError>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        frame.map_err(TransportError::unknown)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// What a failure says about the request.
pub(super) fn failed(error: Error) -> TransportError {
    let hyper = || chain(&error).filter_map(|error| error.downcast_ref::<hyper::Error>());
    let late = |error: &io::Error| error.kind() == io::ErrorKind::TimedOut;
    let timed_out = chain(&error).any(|error| error.downcast_ref().is_some_and(late))
        || hyper().any(hyper::Error::is_timeout);
    // Canceled are requests that no connection took.
    let stage = if error.is_connect() || hyper().any(hyper::Error::is_canceled) {
        Stage::NotSent
    } else if cause::is_unprocessed(&error) {
        Stage::Unprocessed
    } else {
        Stage::Silent
    };
    let it = TransportError::at(stage, error);
    if timed_out { it.timed_out() } else { it }
}
