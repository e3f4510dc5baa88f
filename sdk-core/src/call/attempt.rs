//! One attempt on the wire.

use bytes::Bytes;
use http::HeaderMap;
use tokio::time::{Instant, timeout_at};

use crate::transport::body::{self, Unread};

/// What became of one attempt, before anybody judges it.
pub(super) enum Outcome {
    /// The head of a reply, and its body as far as that was to be had.
    Reply {
        status: u16,
        headers: HeaderMap,
        body: Result<Bytes, Unread>,
    },
    /// No reply.
    Failed(reqwest::Error),
    /// The time was up before a reply came.
    TimedOut {
        /// Whether the request still waited for a connection: nothing of it was sent.
        never_begun: bool,
    },
}

impl Outcome {
    /// The status of the reply, if its head came.
    pub(super) fn status(&self) -> Option<u16> {
        match self {
            Self::Reply { status, .. } => Some(*status),
            Self::Failed(_) | Self::TimedOut { .. } => None,
        }
    }
}

/// What reqwest gives for a request.
pub(super) type Answer = Result<reqwest::Response, reqwest::Error>;

/// Waits for the reply to a request on its way, and reads it, until the time is up. Once its status came, that is not lost
/// with its body.
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
        // Taken last, so that they need no place of their own while the body is read.
        headers: std::mem::take(response.headers_mut()),
        body,
    }
}
