//! Response bodies, read as they arrive, up to a size limit and a deadline.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http::{HeaderMap, Response, Version};
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Either, Full};
use secrecy::zeroize::Zeroizing;
use tokio::task::coop::consume_budget;
use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout_at};

use crate::macros::debug_fields;
use crate::transport::error::{BoxError, TransportError};

/// The body of a response, read as it arrives.
pub struct ResponseBody(Either<Full<Bytes>, UnsyncBoxBody<Bytes, BoxError>>);

impl ResponseBody {
    /// Wraps a streaming body. Trailers are ignored.
    pub fn new<B>(body: B) -> Self
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Self(Either::Right(body.map_err(Into::into).boxed_unsync()))
    }
}

impl<T: Into<Bytes>> From<T> for ResponseBody {
    fn from(body: T) -> Self {
        Self(Either::Left(Full::new(body.into())))
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        Pin::new(&mut self.0).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}

// Without the bytes, which may be confidential.
debug_fields! { ResponseBody |_it| }

/// The head of a response, and its body, which may still be arriving.
pub(crate) struct Incoming {
    pub(crate) status: u16,
    pub(crate) version: Version,
    pub(crate) headers: HeaderMap,
    body: Arriving,
}

enum Arriving {
    /// Stored as a response, because reqwest's own body type would need a box.
    #[cfg(feature = "reqwest-013")]
    Reqwest(reqwest::Response),
    Custom(ResponseBody),
}

#[cfg(feature = "reqwest-013")]
impl From<reqwest::Response> for Incoming {
    fn from(mut response: reqwest::Response) -> Self {
        Self {
            status: response.status().as_u16(),
            version: response.version(),
            headers: std::mem::take(response.headers_mut()),
            body: Arriving::Reqwest(response),
        }
    }
}

impl From<Response<ResponseBody>> for Incoming {
    fn from(response: Response<ResponseBody>) -> Self {
        let (head, body) = response.into_parts();
        Self {
            status: head.status.as_u16(),
            version: head.version,
            headers: head.headers,
            body: Arriving::Custom(body),
        }
    }
}

impl Incoming {
    /// Returns the next chunk of the body, or `None` at its end. The chunk is empty if a frame has no data.
    async fn chunk(&mut self) -> Result<Option<Bytes>, TransportError> {
        match &mut self.body {
            #[cfg(feature = "reqwest-013")]
            Arriving::Reqwest(response) => Ok(response.chunk().await?),
            Arriving::Custom(body) => {
                // A body that is always ready would otherwise starve the deadline's timer.
                consume_budget().await;
                let Some(frame) = body.frame().await else {
                    return Ok(None);
                };
                let data = frame.map_err(TransportError::unspecified)?.into_data();
                Ok(Some(data.unwrap_or_default()))
            }
        }
    }
}

/// The size of the excerpt of a body that is too large.
const EXCERPT: usize = 1024;

/// The buffer size for a usual token response.
const USUAL_SECRET: usize = 8 * 1024;

pub(crate) enum BodyError {
    /// It is larger than allowed. Contains the beginning of the body, if any was read.
    TooLarge(Bytes),
    /// The connection broke before the end.
    Broken(TransportError),
    Late,
    /// It is compressed, and the transport did not decompress it.
    Encoded(String),
}

/// Reads a body. A body that arrives in one chunk, as most do, is not copied.
#[expect(
    clippy::manual_async_fn,
    reason = "an `async fn` stores its arguments twice in the future of each call"
)]
pub(crate) fn read(
    response: &mut Incoming,
    limit: usize,
    until: Instant,
) -> impl Future<Output = Result<Bytes, BodyError>> + Send {
    async move {
        let announced = check_head(response, limit)?;
        let (mut first, mut rest) = (Bytes::new(), BytesMut::new());
        while let Some(piece) = next_piece(timeout_at(until, response.chunk()).await, until)? {
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
                return Err(BodyError::TooLarge(first.slice(..first.len().min(EXCERPT))));
            }
        }
        check_length(announced, first.len().max(rest.len()))?;
        Ok(if rest.is_empty() {
            first
        } else {
            rest.freeze()
        })
    }
}

/// Reads a body that contains a secret, into memory that is wiped on drop.
pub(crate) async fn read_secret(
    response: &mut Incoming,
    limit: usize,
    until: Instant,
) -> Result<Zeroizing<Vec<u8>>, BodyError> {
    let announced = check_head(response, limit)?;
    // Reserve space only for received data, never for the announced length. A buffer that is too small is wiped after
    // copying.
    let mut body = Zeroizing::new(Vec::with_capacity(USUAL_SECRET.min(limit)));
    while let Some(piece) = next_piece(timeout_at(until, response.chunk()).await, until)? {
        let length = body.len() + piece.len();
        if length > limit {
            return Err(BodyError::TooLarge(Bytes::new()));
        }
        if length > body.capacity() {
            let mut larger = Zeroizing::new(Vec::with_capacity(2 * length));
            larger.extend_from_slice(&body);
            body = larger;
        }
        body.extend_from_slice(&piece);
    }
    check_length(announced, body.len())?;
    Ok(body)
}

/// Checks that a body has its announced length. HTTP/2 and custom transports may end a body early without an error.
fn check_length(announced: Option<usize>, length: usize) -> Result<(), BodyError> {
    match announced.filter(|announced| length < *announced) {
        Some(announced) => {
            let ended = format!("the body ended after {length} of {announced} bytes");
            Err(BodyError::Broken(TransportError::unknown(ended)))
        }
        None => Ok(()),
    }
}

fn next_piece(
    read: Result<Result<Option<Bytes>, TransportError>, Elapsed>,
    until: Instant,
) -> Result<Option<Bytes>, BodyError> {
    let piece = read.map_err(|_elapsed| BodyError::Late)?;
    let piece = piece.map_err(BodyError::Broken)?;
    // The size limit bounds all non-empty chunks. A body that is always ready never lets the timer run, so check the
    // time here.
    if piece.as_ref().is_some_and(Bytes::is_empty) && Instant::now() >= until {
        return Err(BodyError::Late);
    }
    Ok(piece)
}

/// Returns the announced length, if any. Fails if the body is compressed or its announced length exceeds the limit.
fn check_head(response: &Incoming, limit: usize) -> Result<Option<usize>, BodyError> {
    let encoding = response.headers.get(CONTENT_ENCODING);
    let encoding = encoding.filter(|it| !it.as_bytes().eq_ignore_ascii_case(b"identity"));
    if let Some(encoding) = encoding {
        let encoding = String::from_utf8_lossy(encoding.as_bytes());
        return Err(BodyError::Encoded(encoding.into()));
    }
    let length = response.headers.get(CONTENT_LENGTH);
    match length.and_then(|length| length.to_str().ok()?.parse().ok()) {
        Some(length) if length > limit => Err(BodyError::TooLarge(Bytes::new())),
        length => Ok(length),
    }
}

/// Returns the capacity for a body after its first two chunks: the announced length, but at most four times the
/// received bytes. An announcement alone must not allocate memory.
fn room(announced: Option<usize>, first: usize, second: usize) -> usize {
    let arrived = first.saturating_add(second);
    let most = arrived.saturating_mul(4);
    announced.map_or(most, |length| length.clamp(arrived, most))
}
