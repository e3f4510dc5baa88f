//! One attempt on the wire. `classify` judges its outcome.

use bytes::Bytes;
use http::{HeaderMap, Version};
use tokio::time::{Instant, timeout_at};

use crate::transport::body::{self, Unread};
use crate::transport::error::TransportError;
use crate::transport::reply::Incoming;
use crate::transport::request::Begun;

/// The outcome of one attempt.
pub(crate) enum Outcome {
    /// The head of a reply, and its body if that could be read.
    Reply {
        status: u16,
        version: Version,
        headers: HeaderMap,
        body: Result<Bytes, Unread>,
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
    begun: Option<&Begun>,
    has_body: bool,
) -> Outcome {
    let mut response = match timeout_at(until, sending).await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => {
            let given_up = begun.is_some_and(Begun::give_up);
            return Outcome::Failed(error.by_evidence(given_up, has_body));
        }
        Err(_elapsed) => {
            let never_begun = has_body && begun.is_some_and(Begun::give_up);
            return Outcome::TimedOut { never_begun };
        }
    };
    let body = body::read(&mut response, max_bytes, until).await;
    Outcome::Reply {
        status: response.status(),
        version: response.version(),
        // Taken last, so that the future holds them only once while the body is read.
        headers: std::mem::take(response.headers_mut()),
        body,
    }
}
