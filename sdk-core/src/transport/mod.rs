//! The way to the network: the [`Transport`] trait, the HTTP client behind it by default, and what is known about a request
//! that got no reply.
//!
//! Nothing here knows operations, tokens or retries. Only here is a type of the HTTP library public.
//!
//! A suite sends through reqwest unless it is given
//! - a client or a builder of reqwest, by [`SuiteBuilder::http_client`](crate::SuiteBuilder::http_client),
//! - any other [`Transport`], by [`SuiteBuilder::transport`](crate::SuiteBuilder::transport), or
//! - the connections of another suite, by [`SuiteBuilder::transport_of`](crate::SuiteBuilder::transport_of).
//!
//! [The guide](crate::guide::network) shows proxies, certificates and middleware.

pub(crate) mod connections;
pub(crate) mod error;
pub(crate) mod loopback;
pub(crate) mod reply_body;
pub(crate) mod request_body;
#[cfg(feature = "reqwest-013")]
mod reqwest_013;

use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body::Body;
use tower_service::Service;

use self::error::BoxError;

/// The types of requests and replies.
pub use http;
/// The HTTP library behind [`HttpClient`], for programs that configure it.
#[cfg(feature = "reqwest-013")]
pub use reqwest;

pub use self::error::TransportError;
pub use self::reply_body::ReplyBody;
pub use self::request_body::{Deadline, RequestBody};
#[cfg(feature = "reqwest-013")]
pub use self::reqwest_013::HttpClient;

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
            ready.map_err(|error| TransportError::of(error.into()).infer_send_state(true, true))?;
            let response = service.call(request).await;
            let response = response.map_err(|error| TransportError::of(error.into()))?;
            Ok(response.map(ReplyBody::new))
        })
    }
}

/// How long the suite waits for connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConnectionTimeouts {
    /// How long a connection may take to come up.
    pub(crate) connect: Duration,
    /// How long an HTTP/2 connection with requests under way may be silent before it is pinged.
    pub(crate) ping_interval: Duration,
    /// How long it may take to answer a ping.
    pub(crate) ping_timeout: Duration,
}

impl Default for ConnectionTimeouts {
    fn default() -> Self {
        Self {
            // On loopback and within a region it takes milliseconds.
            connect: Duration::from_secs(5),
            // Together less than the timeout of an attempt, so that a silent connection is dropped before the next one.
            ping_interval: Duration::from_secs(4),
            ping_timeout: Duration::from_secs(4),
        }
    }
}
