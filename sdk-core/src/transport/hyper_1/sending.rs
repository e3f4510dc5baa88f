//! Requests on their way.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::{Response, Version};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper_util::client::legacy::connect::CaptureConnection;
use hyper_util::client::legacy::{Error, ResponseFuture};
use tokio::time::Instant;

use crate::error::source::chain;
use crate::transport::cause;
use crate::transport::error::{Stage, TransportError};

/// Takes an HTTP/2 connection out of use when an attempt on it is given up because its time is up. (One of HTTP/1.1 ends with
/// any request that is given up.)
pub(super) struct Retire {
    pub(super) connection: Option<CaptureConnection>,
    pub(super) until: Instant,
}

/// Whether the connections of an origin speak HTTP/1.1, as far as the last reply tells. To learn which connection takes a
/// request is dear, and only needed of HTTP/2.
#[derive(Clone, Default)]
pub(super) struct Spoken(Arc<AtomicBool>);

impl Spoken {
    pub(super) fn is_http1(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn hear(&self, version: Version) {
        self.0.store(version < Version::HTTP_2, Ordering::Relaxed);
    }
}

impl Retire {
    /// What is left does nothing.
    fn take(&mut self) -> Self {
        let connection = self.connection.take();
        Self {
            connection,
            until: self.until,
        }
    }
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

/// A request on its way, or why it cannot be sent.
pub(crate) struct Sending {
    pub(super) response: Result<ResponseFuture, TransportError>,
    pub(super) retire: Retire,
    pub(super) spoken: Spoken,
}

impl Future for Sending {
    type Output = Result<Received, TransportError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let response = match &mut self.response {
            Ok(response) => ready!(Pin::new(response).poll(context)),
            Err(error) => return Poll::Ready(Err(error.clone())),
        };
        let retire = self.retire.take();
        Poll::Ready(match response {
            Ok(response) => {
                self.spoken.hear(response.version());
                Ok(Received { response, retire })
            }
            Err(error) => Err(failed(error)),
        })
    }
}

/// A reply whose body may still be on its way.
pub(crate) struct Received {
    pub(in crate::transport) response: Response<Incoming>,
    retire: Retire,
}

impl Received {
    /// The next piece of the body; `None` at its end. It is empty where a frame holds anything else.
    pub(in crate::transport) async fn chunk(&mut self) -> Result<Option<Bytes>, TransportError> {
        let frame = self.response.body_mut().frame().await;
        let Some(Ok(frame)) = frame else {
            self.retire.connection = None;
            let broken = |error| TransportError::at(Stage::Silent, error);
            return frame.transpose().map(|_end| None).map_err(broken);
        };
        Ok(Some(frame.into_data().unwrap_or_default()))
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
