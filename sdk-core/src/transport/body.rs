//! Bodies of replies, read up to a size and until a deadline.

use bytes::{Bytes, BytesMut};
use http::header::CONTENT_LENGTH;
use secrecy::zeroize::Zeroizing;
use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout_at};

use crate::transport::error::TransportError;
use crate::transport::reply::Incoming;

/// How much is kept of a body that is too large.
const EXCERPT: usize = 1024;

/// Room for a token reply of usual size.
const USUAL_SECRET: usize = 8 * 1024;

/// Why a body could not be read.
pub(crate) enum Unread {
    /// It is larger than allowed. This is its beginning, if any of it was read.
    TooLarge(Bytes),
    /// It broke off.
    Broken(TransportError),
    /// The deadline passed before it ended.
    Late,
    /// It is compressed, and the transport did not decode it.
    Encoded(String),
}

/// Reads a body. One that arrives in one piece, as most do, is not copied.
#[expect(
    clippy::manual_async_fn,
    reason = "an `async fn` stores its arguments twice in the future of each call"
)]
pub(crate) fn read(
    response: &mut Incoming,
    limit: usize,
    until: Instant,
) -> impl Future<Output = Result<Bytes, Unread>> + Send {
    async move {
        let announced = head(response, limit)?;
        let (mut first, mut rest) = (Bytes::new(), BytesMut::new());
        while let Some(piece) = piece(timeout_at(until, response.chunk()).await, until)? {
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
        whole(announced, first.len().max(rest.len()))?;
        Ok(if rest.is_empty() {
            first
        } else {
            rest.freeze()
        })
    }
}

/// Reads a body that holds a secret, into memory that is wiped on drop.
pub(crate) async fn read_secret(
    response: &mut Incoming,
    limit: usize,
    until: Instant,
) -> Result<Zeroizing<Vec<u8>>, Unread> {
    let announced = head(response, limit)?;
    // Room for what arrived, never for what was announced. A buffer that is outgrown is wiped.
    let mut body = Zeroizing::new(Vec::with_capacity(USUAL_SECRET.min(limit)));
    while let Some(piece) = piece(timeout_at(until, response.chunk()).await, until)? {
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
    whole(announced, body.len())?;
    Ok(body)
}

/// Whether a body is as long as its head announces: HTTP/2 and callers' transports may end one early without an error.
fn whole(announced: Option<usize>, length: usize) -> Result<(), Unread> {
    match announced.filter(|announced| length < *announced) {
        Some(announced) => {
            let ended = format!("the body ended after {length} of {announced} bytes");
            Err(Unread::Broken(TransportError::unknown(ended)))
        }
        None => Ok(()),
    }
}

/// The next piece of a body; `None` at its end.
fn piece(
    read: Result<Result<Option<Bytes>, TransportError>, Elapsed>,
    until: Instant,
) -> Result<Option<Bytes>, Unread> {
    let piece = read.map_err(|_elapsed| Unread::Late)?;
    let piece = piece.map_err(Unread::Broken)?;
    // The size bounds all other pieces, and a body that is always ready never lets the timer have a look.
    if piece.as_ref().is_some_and(Bytes::is_empty) && Instant::now() >= until {
        return Err(Unread::Late);
    }
    Ok(piece)
}

/// The length that the head announces, if it does and it is allowed.
fn head(response: &Incoming, limit: usize) -> Result<Option<usize>, Unread> {
    if let Some(encoding) = response.encoding() {
        return Err(Unread::Encoded(String::from_utf8_lossy(encoding).into()));
    }
    let length = response.headers().get(CONTENT_LENGTH);
    match length.and_then(|length| length.to_str().ok()?.parse().ok()) {
        Some(length) if length > limit => Err(Unread::TooLarge(Bytes::new())),
        length => Ok(length),
    }
}

/// Room for a body after its first two pieces: the announced length, but at most a few times what arrived, so that a promise
/// alone takes no memory.
fn room(announced: Option<usize>, first: usize, second: usize) -> usize {
    let arrived = first.saturating_add(second);
    let most = arrived.saturating_mul(4);
    announced.map_or(most, |length| length.clamp(arrived, most))
}
