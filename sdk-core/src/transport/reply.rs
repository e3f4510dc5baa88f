//! Replies as they arrive.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::CONTENT_ENCODING;
use http::{HeaderMap, Response, Version};
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Either, Full};
use tokio::task::coop::consume_budget;

use crate::macros::debug_fields;
use crate::transport::error::{BoxError, TransportError};

/// The body of a reply, read as it arrives.
pub struct ReplyBody(Either<Full<Bytes>, UnsyncBoxBody<Bytes, BoxError>>);

impl ReplyBody {
    /// A body that is read as it arrives. Its trailers are ignored.
    pub fn new<B>(body: B) -> Self
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Self(Either::Right(body.map_err(Into::into).boxed_unsync()))
    }
}

impl<T: Into<Bytes>> From<T> for ReplyBody {
    fn from(whole: T) -> Self {
        Self(Either::Left(Full::new(whole.into())))
    }
}

impl Body for ReplyBody {
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

// Without its bytes, which may be confidential.
debug_fields! { ReplyBody |_it| }

/// A reply whose body may still be on its way.
pub(crate) enum Incoming {
    #[cfg(feature = "reqwest-013")]
    Reqwest(reqwest::Response),
    Custom(Response<ReplyBody>),
}

/// What all kinds of replies have under one name.
macro_rules! of_any {
    ($incoming:expr, $response:ident => $part:expr) => {
        match $incoming {
            #[cfg(feature = "reqwest-013")]
            Self::Reqwest($response) => $part,
            Self::Custom($response) => $part,
        }
    };
}

impl Incoming {
    pub(crate) fn status(&self) -> u16 {
        of_any!(self, response => response.status().as_u16())
    }

    pub(crate) fn version(&self) -> Version {
        of_any!(self, response => response.version())
    }

    pub(crate) fn headers(&self) -> &HeaderMap {
        of_any!(self, response => response.headers())
    }

    pub(crate) fn headers_mut(&mut self) -> &mut HeaderMap {
        of_any!(self, response => response.headers_mut())
    }

    /// The encoding of a body that the transport did not decode.
    pub(crate) fn encoding(&self) -> Option<&[u8]> {
        let encoding = self.headers().get(CONTENT_ENCODING)?.as_bytes();
        (!encoding.eq_ignore_ascii_case(b"identity")).then_some(encoding)
    }

    /// The next piece of the body; `None` at its end. It is empty where a frame holds anything else.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, TransportError> {
        let response = match self {
            #[cfg(feature = "reqwest-013")]
            Self::Reqwest(response) => return response.chunk().await.map_err(TransportError::from),
            Self::Custom(response) => response,
        };
        // A body that is always ready would keep the deadline from being looked at.
        consume_budget().await;
        match response.body_mut().frame().await {
            Some(frame) => {
                let data = frame.map_err(TransportError::of)?.into_data();
                Ok(Some(data.unwrap_or_default()))
            }
            None => Ok(None),
        }
    }
}
