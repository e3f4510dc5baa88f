//! One attempt on the wire, and its result. `classify` turns the outcome into the result.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Version};
use tokio::time::{Instant, timeout_at};

use crate::error::Error;
use crate::reply::response::Reply;
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
        not_sent: bool,
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

/// What an attempt came to.
pub(super) enum AttemptResult {
    Done(Reply),
    /// A 401: worth one more attempt with another token.
    RefreshToken(Error),
    Failed {
        error: Error,
        /// Whether another attempt may help and is allowed.
        retry: bool,
        /// How long the server asked to wait.
        retry_after: Option<Duration>,
    },
}

impl AttemptResult {
    /// The error, unless the reply was accepted.
    pub(super) fn error(&self) -> Option<&Error> {
        match self {
            Self::Done(_) => None,
            Self::RefreshToken(error) | Self::Failed { error, .. } => Some(error),
        }
    }
}

/// An error for which the server did not ask to wait.
pub(super) fn failed(error: Error, retry: bool) -> AttemptResult {
    AttemptResult::Failed {
        error,
        retry,
        retry_after: None,
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
            let not_sent = has_body && tracker.is_some_and(SendTracker::cancel);
            return Outcome::TimedOut { not_sent };
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
