//! One attempt on the wire. `classify` judges its outcome.

use bytes::Bytes;
use http::HeaderMap;
use tokio::time::{Instant, timeout_at};

use crate::transport::body::{self, Unread};

/// The outcome of one attempt.
pub(super) enum Outcome {
    /// The head of a reply, and its body if that could be read.
    Reply {
        status: u16,
        headers: HeaderMap,
        body: Result<Bytes, Unread>,
    },
    /// No reply.
    Failed(reqwest::Error),
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
}

/// What reqwest returns for a request.
pub(super) type Answer = Result<reqwest::Response, reqwest::Error>;

/// Waits for a reply and reads it within the time limit. If reading the body fails, status and headers are kept.
pub(super) async fn run(
    sending: impl Future<Output = Answer>,
    max_bytes: usize,
    until: Instant,
    never_begun: impl FnOnce() -> bool,
) -> Outcome {
    let mut response = match timeout_at(until, sending).await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => return Outcome::Failed(error.without_url()),
        Err(_elapsed) => {
            let never_begun = never_begun();
            return Outcome::TimedOut { never_begun };
        }
    };
    let body = body::read(&mut response, max_bytes, until).await;
    Outcome::Reply {
        status: response.status().as_u16(),
        // Taken last, so that the future holds them only once while the body is read.
        headers: std::mem::take(response.headers_mut()),
        body,
    }
}
