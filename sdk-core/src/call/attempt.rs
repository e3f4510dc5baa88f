//! One attempt on the wire, its body read within bounds.

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use tokio::time::{Instant, timeout_at};

/// What became of one attempt, before anybody judges it.
pub(super) enum Outcome {
    /// A whole reply.
    Reply {
        status: u16,
        headers: HeaderMap,
        body: Bytes,
    },
    /// A reply whose body was larger than allowed; the first bytes are kept.
    TooLarge {
        status: u16,
        headers: HeaderMap,
        limit: usize,
        excerpt: Bytes,
    },
    /// A reply whose body broke off, or did not come in time.
    BodyLost {
        status: u16,
        headers: HeaderMap,
        /// None when the time was up.
        error: Option<reqwest::Error>,
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
            Self::Reply { status, .. }
            | Self::TooLarge { status, .. }
            | Self::BodyLost { status, .. } => Some(*status),
            Self::Failed(_) | Self::TimedOut { .. } => None,
        }
    }
}

/// How much of a body that is too large is kept for the error.
const EXCERPT: usize = 1024;

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
    let status = response.status().as_u16();
    let announced = response
        .headers()
        .get(http::header::CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok())
        .and_then(|text| text.parse::<usize>().ok());
    if announced.is_some_and(|length| length > max_bytes) {
        return Outcome::TooLarge {
            status,
            headers: headers_of(response),
            limit: max_bytes,
            excerpt: Bytes::new(),
        };
    }
    let mut first: Option<Bytes> = None;
    let mut rest = BytesMut::new();
    loop {
        match timeout_at(until, response.chunk()).await {
            Ok(Ok(None)) => break,
            Err(_elapsed) => {
                return Outcome::BodyLost {
                    status,
                    headers: headers_of(response),
                    error: None,
                };
            }
            Ok(Err(error)) => {
                return Outcome::BodyLost {
                    status,
                    headers: headers_of(response),
                    error: Some(error.without_url()),
                };
            }
            Ok(Ok(Some(chunk))) => match &first {
                // A body of one chunk, which is most, is not copied.
                None => first = Some(chunk),
                Some(begun) => {
                    if rest.is_empty() {
                        rest.reserve(room(announced, begun.len(), chunk.len()));
                        rest.extend_from_slice(begun);
                    }
                    rest.extend_from_slice(&chunk);
                }
            },
        }
        let read = if rest.is_empty() {
            first.as_ref().map_or(0, Bytes::len)
        } else {
            rest.len()
        };
        if read > max_bytes {
            let excerpt = first.unwrap_or_default();
            let excerpt = excerpt.slice(..excerpt.len().min(EXCERPT));
            return Outcome::TooLarge {
                status,
                headers: headers_of(response),
                limit: max_bytes,
                excerpt,
            };
        }
    }
    let body = if rest.is_empty() {
        first.unwrap_or_default()
    } else {
        rest.freeze()
    };
    Outcome::Reply {
        status,
        headers: headers_of(response),
        body,
    }
}

/// Room for a body of which two pieces came: what was announced, within a small multiple of what is there. Memory is taken
/// for bytes that came, not for bytes that were promised.
fn room(announced: Option<usize>, begun: usize, next: usize) -> usize {
    let came = begun.saturating_add(next);
    let likely = came.saturating_mul(4);
    announced
        .map_or(likely, |length| length.min(likely))
        .max(came)
}

/// Taken last, so that they need no place of their own while the body is read.
fn headers_of(mut response: reqwest::Response) -> HeaderMap {
    std::mem::take(response.headers_mut())
}
