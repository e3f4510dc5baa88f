//! Responses, and failures without one.

use std::error::Error as StdError;
use std::io;
use std::iter::successors;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use hyper_util::client::legacy::Error;
use hyper_util::client::legacy::connect::CaptureConnection;
use sdk_core::transport::{Deadline, TransportError};
use tokio::time::Instant;

/// Retires an HTTP/2 connection if one of its requests is still in flight at its deadline. HTTP/1.1 needs no such
/// guard, because hyper closes the connection of a dropped request.
pub(crate) struct PoisonOnTimeout {
    pub(crate) connection: CaptureConnection,
    pub(crate) deadline: Deadline,
}

impl Drop for PoisonOnTimeout {
    fn drop(&mut self) {
        if Instant::now().into_std() >= self.deadline.0
            && let Some(connected) = &*self.connection.connection_metadata()
        {
            connected.poison();
        }
    }
}

/// A response body that retires its connection if the body doesn't end in time.
pub(crate) struct TimedBody {
    pub(crate) body: Incoming,
    pub(crate) _poison: Option<PoisonOnTimeout>,
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

/// Converts hyper's error, and records whether the request was sent.
pub(crate) fn transport_error(error: Error) -> TransportError {
    let hyper = || causes(&error).filter_map(|error| error.downcast_ref::<hyper::Error>());
    let late = |error: &io::Error| error.kind() == io::ErrorKind::TimedOut;
    let timed_out = causes(&error).any(|error| error.downcast_ref().is_some_and(late))
        || hyper().any(hyper::Error::is_timeout);
    // hyper cancels a request if no connection took it, so it was not sent.
    let error = if error.is_connect() || hyper().any(hyper::Error::is_canceled) {
        TransportError::not_sent(error)
    } else if is_unprocessed(&error) {
        TransportError::unprocessed(error)
    } else {
        TransportError::unspecified(error)
    };
    if timed_out { error.timed_out() } else { error }
}

fn causes(error: &Error) -> impl Iterator<Item = &(dyn StdError + 'static)> {
    let first: &(dyn StdError + 'static) = error;
    successors(Some(first), |&error| error.source())
}

/// Whether the server reported that it did not process the request (RFC 9113, sections 6.8 and 8.7): it sent
/// `REFUSED_STREAM`, or a GOAWAY frame whose last stream ID is below this stream's ID. Streams up to that ID end in an
/// I/O error instead.
#[cfg(feature = "http2")]
fn is_unprocessed(error: &Error) -> bool {
    let refused = |error: &h2::Error| error.reason() == Some(h2::Reason::REFUSED_STREAM);
    causes(error)
        .filter_map(|error| error.downcast_ref::<h2::Error>())
        .any(|error| error.is_remote() && (error.is_go_away() || refused(error)))
}

/// Only HTTP/2 servers report this.
#[cfg(not(feature = "http2"))]
fn is_unprocessed(_error: &Error) -> bool {
    false
}
