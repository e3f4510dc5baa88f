//! How requests leave, and how replies come back.

use std::future::poll_fn;
use std::pin::Pin;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body::Body;
use tower_service::Service;

use crate::transport::error::{BoxError, TransportError};
use crate::transport::reply::ReplyBody;
use crate::transport::request::RequestBody;

/// The future of a [`Transport`].
pub type TransportFuture =
    Pin<Box<dyn Future<Output = Result<Response<ReplyBody>, TransportError>> + Send>>;

/// Carries requests to a suite and replies back. Set one with
/// [`SuiteBuilder::transport`](crate::SuiteBuilder::transport).
///
/// Every `tower` service that is `Clone` is one, with its layers: a client of hyper, a router of axum in a test, a recorder, a
/// proxy stack. All calls and all token exchanges go through it, one attempt each: retries, tokens and deadlines stay with the
/// suite, which drops the future when the time is up.
///
/// A transport sends each request once, to the address in its URI and nowhere else. In particular, it does not follow
/// redirects, because they would take tokens and secrets along, and it does not answer in the place of the server: a layer that
/// turns a timeout into a 408 makes it look like a refusal. Let it fail instead. A layer around a client of reqwest converts with
/// `reqwest::Body::wrap`, so that the body keeps its evidence.
///
/// ```
/// use http::{Request, Response};
/// use sdk_core::transport::{ReplyBody, RequestBody, Transport, TransportFuture};
///
/// /// Answers everything itself.
/// struct Quiet;
///
/// impl Transport for Quiet {
///     fn send(&self, request: Request<RequestBody>) -> TransportFuture {
///         Box::pin(async move {
///             let _sent = request.into_body().into_bytes()?;
///             let body = ReplyBody::from(r#"{"items": [], "nextCursor": null}"#);
///             Ok(Response::new(body))
///         })
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no transport",
    note = "a `tower` service is one if it is `Clone + Send + Sync + 'static`, takes `http::Request<RequestBody>`, and returns \
            an `http::Response` whose body is an `http_body::Body<Data = Bytes>`"
)]
pub trait Transport: Send + Sync + 'static {
    /// Sends a request and returns the head of its reply.
    ///
    /// # Errors
    /// When no reply comes. The error says whether the request was sent, if the transport knows.
    fn send(&self, request: Request<RequestBody>) -> TransportFuture;

    /// How long a connection may take to come up, if this transport opens connections and reports each one that doesn't come
    /// up as [not sent](TransportError::not_sent). `None` if it doesn't say.
    fn connect_timeout(&self) -> Option<Duration> {
        None
    }

    /// The proxy in front of an address, without its credential, for error messages. The suite asks once for each of its
    /// addresses when it is built.
    ///
    /// # Errors
    /// When this transport can't send to the address. The suite then isn't built.
    fn proxy_for(&self, _address: &Uri) -> Result<Option<String>, TransportError> {
        Ok(None)
    }

    /// Whether names that stand for loopback, such as `localhost`, can only lead to this machine. Only then does the suite
    /// send plain HTTP to them.
    fn binds_loopback(&self) -> bool {
        false
    }
}

/// When the suite stops waiting for the response and its body: an extension of each request that a [`Transport`] receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline(pub Instant);

impl<S, B> Transport for S
where
    S: Service<Request<RequestBody>, Response = Response<B>> + Clone + Send + Sync + 'static,
    S::Future: Send,
    S::Error: Into<BoxError>,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    fn send(&self, request: Request<RequestBody>) -> TransportFuture {
        let mut service = self.clone();
        Box::pin(async move {
            let ready = poll_fn(|context| service.poll_ready(context)).await;
            // Not even the body was offered.
            ready.map_err(|error| TransportError::of(error.into()).by_evidence(true, true))?;
            let response = service.call(request).await;
            let response = response.map_err(|error| TransportError::of(error.into()))?;
            Ok(response.map(ReplyBody::new))
        })
    }
}
