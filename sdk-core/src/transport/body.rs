//! Bodies of replies, read within bounds: this many bytes at most, and until a deadline.

use bytes::{Bytes, BytesMut};
use http::header::CONTENT_LENGTH;
use reqwest::Response;
use secrecy::zeroize::Zeroizing;
use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout_at};

/// How much of a body that is too large is kept.
const EXCERPT: usize = 1024;

/// Room for a reply with a token of usual size.
const USUAL_SECRET: usize = 8 * 1024;

/// Why a body could not be read.
pub(crate) enum Unread {
    /// It is larger than allowed. This is how it begins, if it was looked at.
    TooLarge(Bytes),
    /// It broke off.
    Broken(reqwest::Error),
    /// The time was up before it ended.
    Late,
}

/// Reads a body. One that comes in one piece, as most do, is not copied.
#[expect(
    clippy::manual_async_fn,
    reason = "an `async fn` keeps what it is given twice, in the future of each call"
)]
pub(crate) fn read(
    response: &mut Response,
    limit: usize,
    until: Instant,
) -> impl Future<Output = Result<Bytes, Unread>> + Send {
    async move {
        let announced = announced(response, limit)?;
        let (mut first, mut rest) = (Bytes::new(), BytesMut::new());
        while let Some(piece) = piece(timeout_at(until, response.chunk()).await)? {
            if first.is_empty() {
                first = piece;
            } else {
                if rest.is_empty() {
                    rest.reserve(room(announced, first.len(), piece.len()));
                    rest.extend_from_slice(&first);
                }
                rest.extend_from_slice(&piece);
            }
            if first.len().max(rest.len()) > limit {
                return Err(Unread::TooLarge(first.slice(..first.len().min(EXCERPT))));
            }
        }
        Ok(if rest.is_empty() {
            first
        } else {
            rest.freeze()
        })
    }
}

/// Reads a body that holds a secret, into memory that is wiped on drop.
pub(crate) async fn read_secret(
    response: &mut Response,
    limit: usize,
    until: Instant,
) -> Result<Zeroizing<Vec<u8>>, Unread> {
    announced(response, limit)?;
    // Room for what came, never for what was announced; each larger buffer leaves a wiped one behind.
    let mut body = Zeroizing::new(Vec::with_capacity(USUAL_SECRET.min(limit)));
    while let Some(piece) = piece(timeout_at(until, response.chunk()).await)? {
        let length = body.len() + piece.len();
        if length > limit {
            return Err(Unread::TooLarge(Bytes::new()));
        }
        if length > body.capacity() {
            let mut larger = Zeroizing::new(Vec::with_capacity(2 * length));
            larger.extend_from_slice(&body);
            body = larger;
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

/// The next piece of a body, if there is one.
fn piece(
    came: Result<Result<Option<Bytes>, reqwest::Error>, Elapsed>,
) -> Result<Option<Bytes>, Unread> {
    let came = came.map_err(|_elapsed| Unread::Late)?;
    came.map_err(|error| Unread::Broken(error.without_url()))
}

/// How long the body is by its head, if it may be that long.
fn announced(response: &Response, limit: usize) -> Result<Option<usize>, Unread> {
    let length = response.headers().get(CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok()?.parse().ok());
    match length {
        Some(length) if length > limit => Err(Unread::TooLarge(Bytes::new())),
        length => Ok(length),
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
