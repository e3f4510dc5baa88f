//! One attempt on the wire. `classify` judges its outcome.

use bytes::Bytes;
use http::{HeaderMap, Version};
use tokio::time::{Instant, timeout_at};

use crate::transport::error::TransportError;
use crate::transport::reply_body::{self, BodyError, Incoming};
use crate::transport::request_body::SendTracker;

/// The outcome of one attempt.
pub(crate) enum Outcome {
    /// The head of a reply, and its body if that could be read.
    Reply {
        status: u16,
        version: Version,
        headers: HeaderMap,
        body: Result<Bytes, BodyError>,
    },
    /// No reply.
    Failed(TransportError),
    /// The time limit passed before a reply began.
    TimedOut {
        /// Whether the request was still waiting for a connection, so that nothing was sent.
        never_begun: bool,
    },
}

impl Outcome {
    /// The status of the reply, if there is one.
    pub(super) fn status(&self) -> Option<u16> {
        match self {
            Self::Reply { status, .. } => Some(*status),
            Self::Failed(_) | Self::TimedOut { .. } => None,
        }
    }

    /// The version of HTTP that it came by.
    pub(super) fn version(&self) -> Option<Version> {
        match self {
            Self::Reply { version, .. } => Some(*version),
            Self::Failed(_) | Self::TimedOut { .. } => None,
        }
    }
}

/// What a transport returns for a request.
pub(super) type Answer = Result<Incoming, TransportError>;

/// Waits for a reply and reads it within the time limit. If reading the body fails, status and headers are kept.
pub(super) async fn run(
    sending: impl Future<Output = Answer>,
    max_bytes: usize,
    until: Instant,
    tracker: Option<&SendTracker>,
    has_body: bool,
) -> Outcome {
    let mut response = match timeout_at(until, sending).await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => {
            let given_up = tracker.is_some_and(SendTracker::cancel);
            return Outcome::Failed(error.infer_send_state(given_up, has_body));
        }
        Err(_elapsed) => {
            let never_begun = has_body && tracker.is_some_and(SendTracker::cancel);
            return Outcome::TimedOut { never_begun };
        }
    };
    let body = reply_body::read(&mut response, max_bytes, until).await;
    Outcome::Reply {
        status: response.status,
        version: response.version,
        headers: response.headers,
        body,
    }
}
