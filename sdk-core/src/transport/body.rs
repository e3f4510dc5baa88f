//! Bodies of replies, read within bounds: this many bytes at most, and until a deadline.

use bytes::{Bytes, BytesMut};
use http::header::CONTENT_LENGTH;
use reqwest::Response;
use secrecy::zeroize::Zeroizing;
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
pub(crate) async fn read(
    response: &mut Response,
    limit: usize,
    until: Instant,
) -> Result<Bytes, Unread> {
    let announced = announced(response);
    let mut first = Bytes::new();
    let mut rest = BytesMut::new();
    let take = |piece: Bytes| {
        if first.is_empty() {
            first = piece;
            return;
        }
        if rest.is_empty() {
            rest.reserve(room(announced, first.len(), piece.len()));
            rest.extend_from_slice(&first);
        }
        rest.extend_from_slice(&piece);
    };
    match pieces(response, limit, until, take).await {
        Ok(()) if rest.is_empty() => Ok(first),
        Ok(()) => Ok(rest.freeze()),
        Err(Unread::TooLarge(_)) => Err(Unread::TooLarge(first.slice(..first.len().min(EXCERPT)))),
        Err(unread) => Err(unread),
    }
}

/// Reads a body that holds a secret, into memory that is wiped on drop.
pub(crate) async fn read_secret(
    response: &mut Response,
    limit: usize,
    until: Instant,
) -> Result<Zeroizing<Vec<u8>>, Unread> {
    // Room for what came, never for what was announced; each larger buffer leaves a wiped one behind.
    let mut body = Zeroizing::new(Vec::with_capacity(USUAL_SECRET.min(limit)));
    let take = |piece: Bytes| {
        let length = body.len() + piece.len();
        if length > body.capacity() {
            let mut larger = Zeroizing::new(Vec::with_capacity(2 * length));
            larger.extend_from_slice(&body);
            body = larger;
        }
        body.extend_from_slice(&piece);
    };
    pieces(response, limit, until, take).await?;
    Ok(body)
}

/// Hands a body over piece by piece. The piece that makes it too large is the last one.
async fn pieces(
    response: &mut Response,
    limit: usize,
    until: Instant,
    mut take: impl FnMut(Bytes),
) -> Result<(), Unread> {
    let too_large = || Err(Unread::TooLarge(Bytes::new()));
    if announced(response).is_some_and(|length| length > limit) {
        return too_large();
    }
    let mut length = 0_usize;
    loop {
        match timeout_at(until, response.chunk()).await {
            Ok(Ok(None)) => return Ok(()),
            Ok(Ok(Some(piece))) => {
                length = length.saturating_add(piece.len());
                take(piece);
            }
            Ok(Err(error)) => return Err(Unread::Broken(error.without_url())),
            Err(_elapsed) => return Err(Unread::Late),
        }
        if length > limit {
            return too_large();
        }
    }
}

/// How long the body is, by its head.
fn announced(response: &Response) -> Option<usize> {
    let length = response.headers().get(CONTENT_LENGTH)?;
    length.to_str().ok()?.parse().ok()
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
