//! Replies as they arrive.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::header::CONTENT_ENCODING;
use http::{HeaderMap, Response, Version};
use http_body::{Body, Frame, SizeHint};

use crate::transport::error::{BoxError, TransportError};

/// The body of a reply, read as it arrives.
pub struct ReplyBody(Inner);

enum Inner {
    Whole(Bytes),
    Streamed(Pin<Box<dyn Body<Data = Bytes, Error = BoxError> + Send>>),
}

impl ReplyBody {
    /// A body that is read as it arrives. Its trailers are ignored.
    pub fn new<B>(body: B) -> Self
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Self(Inner::Streamed(Box::pin(Boxed { body })))
    }
}

impl<T: Into<Bytes>> From<T> for ReplyBody {
    fn from(whole: T) -> Self {
        Self(Inner::Whole(whole.into()))
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match &mut self.0 {
            Inner::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Inner::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Inner::Streamed(body) => body.as_mut().poll_frame(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Inner::Whole(bytes) => bytes.is_empty(),
            Inner::Streamed(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Inner::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Inner::Streamed(body) => body.size_hint(),
        }
    }
}

impl fmt::Debug for ReplyBody {
    /// Without its bytes, which may be confidential.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplyBody").finish_non_exhaustive()
    }
}

pin_project_lite::pin_project! {
    /// A body with boxed errors.
    struct Boxed<B> {
        #[pin]
        body: B,
    }
}

impl<B: Body<Data = Bytes>> Body for Boxed<B>
where
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let frame = ready!(self.project().body.poll_frame(context));
        Poll::Ready(frame.map(|frame| frame.map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A reply whose body may still be on its way.
pub(crate) enum Incoming {
    #[cfg(feature = "reqwest-013")]
    Reqwest(reqwest::Response),
    Own(Response<ReplyBody>),
}

impl Incoming {
    pub(crate) fn status(&self) -> u16 {
        match self {
            #[cfg(feature = "reqwest-013")]
            Self::Reqwest(response) => response.status().as_u16(),
            Self::Own(response) => response.status().as_u16(),
        }
    }

    pub(crate) fn version(&self) -> Version {
        match self {
            #[cfg(feature = "reqwest-013")]
            Self::Reqwest(response) => response.version(),
            Self::Own(response) => response.version(),
        }
    }

    pub(crate) fn headers(&self) -> &HeaderMap {
        match self {
            #[cfg(feature = "reqwest-013")]
            Self::Reqwest(response) => response.headers(),
            Self::Own(response) => response.headers(),
        }
    }

    pub(crate) fn headers_mut(&mut self) -> &mut HeaderMap {
        match self {
            #[cfg(feature = "reqwest-013")]
            Self::Reqwest(response) => response.headers_mut(),
            Self::Own(response) => response.headers_mut(),
        }
    }

    /// The encoding of a body that the transport did not decode.
    pub(crate) fn encoding(&self) -> Option<&[u8]> {
        let encoding = self.headers().get(CONTENT_ENCODING)?.as_bytes();
        (!encoding.eq_ignore_ascii_case(b"identity")).then_some(encoding)
    }

    /// The next piece of the body; `None` at its end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, TransportError> {
        match self {
            #[cfg(feature = "reqwest-013")]
            Self::Reqwest(response) => response.chunk().await.map_err(TransportError::from),
            Self::Own(response) => poll_fn(|context| next(response.body_mut(), context)).await,
        }
    }
}

/// The next data of a body. What else a frame can hold is skipped.
fn next(
    body: &mut ReplyBody,
    context: &mut Context<'_>,
) -> Poll<Result<Option<Bytes>, TransportError>> {
    loop {
        let Some(frame) = ready!(Pin::new(&mut *body).poll_frame(context)) else {
            return Poll::Ready(Ok(None));
        };
        match frame.map(Frame::into_data) {
            Ok(Ok(data)) => return Poll::Ready(Ok(Some(data))),
            Ok(Err(_other)) => {}
            Err(error) => return Poll::Ready(Err(TransportError::of(error))),
        }
    }
}
