//! Requests on their way.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use http::{Response, Version};
use hyper::body::Incoming;
use hyper_util::client::legacy::connect::CaptureConnection;
use hyper_util::client::legacy::{Error, ResponseFuture};
use tokio::time::Instant;

use crate::error::source::chain;
use crate::transport::cause;
use crate::transport::error::{Stage, TransportError};

/// Takes an HTTP/2 connection out of use if what is asked of it is still under way when its time is up. (One of HTTP/1.1 ends
/// with any request that is given up.)
pub(crate) struct Retire {
    pub(super) connection: Option<CaptureConnection>,
    pub(super) until: Instant,
}

impl Drop for Retire {
    fn drop(&mut self) {
        if let Some(connection) = &self.connection
            && Instant::now() >= self.until
            && let Some(connected) = &*connection.connection_metadata()
        {
            connected.poison();
        }
    }
}

/// Whether the connections of an origin speak HTTP/1.1, as far as the last reply tells. To learn which connection takes a
/// request is dear, and only needed of HTTP/2.
#[derive(Clone, Default)]
pub(super) struct Spoken(Arc<AtomicBool>);

impl Spoken {
    pub(super) fn is_http1(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A request on its way, or why it cannot be sent.
pub(in crate::transport) struct Sending {
    pub(super) response: Result<ResponseFuture, TransportError>,
    pub(super) retire: Option<Retire>,
    pub(super) spoken: Spoken,
}

impl Future for Sending {
    /// The reply, and what is to be kept until its body was read.
    type Output = Result<(Response<Incoming>, Option<Retire>), TransportError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let response = match &mut self.response {
            Ok(response) => ready!(Pin::new(response).poll(context)).map_err(failed)?,
            Err(error) => return Poll::Ready(Err(error.clone())),
        };
        let is_http1 = response.version() < Version::HTTP_2;
        self.spoken.0.store(is_http1, Ordering::Relaxed);
        Poll::Ready(Ok((response, self.retire.take())))
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
