//! The network layer: the [`Transport`] trait, the default HTTP client, and the state of requests that got no response.
//!
//! This module doesn't know operations, tokens or retries. It is the only module with a public type of the HTTP
//! library.
//!
//! By default, the SDK uses reqwest. To change that, set
//! - a reqwest client or builder with [`SuiteBuilder::http_client`](crate::SuiteBuilder::http_client),
//! - any other [`Transport`] with [`SuiteBuilder::transport`](crate::SuiteBuilder::transport), or
//! - the connections of another suite with [`SuiteBuilder::transport_of`](crate::SuiteBuilder::transport_of).
//!
//! See [the guide](crate::guide::network) for proxies, certificates and middleware.

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

/// The request and response types.
pub use http;
/// The HTTP library behind [`HttpClient`], for programs that configure it.
#[cfg(feature = "reqwest-013")]
pub use reqwest;

pub use self::error::TransportError;
pub use self::reply_body::ResponseBody;
pub use self::request_body::{Deadline, RequestBody};
#[cfg(feature = "reqwest-013")]
pub use self::reqwest_013::HttpClient;

/// The future of a [`Transport`].
pub type TransportFuture =
    Pin<Box<dyn Future<Output = Result<Response<ResponseBody>, TransportError>> + Send>>;

/// Sends requests to a suite and returns the responses. Set it with
/// [`SuiteBuilder::transport`](crate::SuiteBuilder::transport).
///
/// Every `tower` service that is `Clone` is a transport, including its layers: a hyper client, an axum router in a
/// test, a recorder, or a proxy stack. The SDK sends all calls and token requests through it, each attempt
/// separately. The SDK itself handles retries, tokens and deadlines, and drops the future when the time is up.
///
/// A transport must send each request once, and only to the address in its URI. It must not follow redirects, because
/// they would forward tokens and secrets. It must not answer instead of the server: a layer that converts a timeout
/// into a 408 makes the timeout look like a rejection. Return an error instead. A layer around a reqwest client should
/// convert the body with `reqwest::Body::wrap`, so that the SDK can detect whether the request was sent.
///
/// ```
/// use http::{Request, Response};
/// use sdk_core::transport::{ResponseBody, RequestBody, Transport, TransportFuture};
///
/// /// Answers every request itself.
/// struct Quiet;
///
/// impl Transport for Quiet {
///     fn send(&self, request: Request<RequestBody>) -> TransportFuture {
///         Box::pin(async move {
///             let _sent = request.into_body().into_bytes()?;
///             let body = ResponseBody::from(r#"{"items": [], "nextCursor": null}"#);
///             Ok(Response::new(body))
///         })
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a transport",
    note = "a `tower` service is one if it is `Clone + Send + Sync + 'static`, takes `http::Request<RequestBody>`, and returns \
            an `http::Response` whose body is an `http_body::Body<Data = Bytes>`"
)]
pub trait Transport: Send + Sync + 'static {
    /// Sends a request and returns the head of its response.
    ///
    /// # Errors
    /// If no response arrives. The error states whether the request was sent, if the transport knows.
    fn send(&self, request: Request<RequestBody>) -> TransportFuture;

    /// Returns the connect timeout of a transport that opens connections and reports each failed connection as
    /// [not sent](TransportError::not_sent). Returns `None` if the transport doesn't report that.
    fn connect_timeout(&self) -> Option<Duration> {
        None
    }

    /// Returns the proxy in front of an address, without its credential, for error messages. The SDK calls it once
    /// for each of a suite's addresses when the suite is built.
    ///
    /// # Errors
    /// If this transport can't send to the address. Building the suite then fails.
    fn proxy_for(&self, _address: &Uri) -> Result<Option<String>, TransportError> {
        Ok(None)
    }

    /// Whether loopback names, such as `localhost`, always resolve to this machine. If not, the SDK doesn't send
    /// plain HTTP to these names.
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
            // The service did not receive the request, so its body was not sent either.
            ready.map_err(|error| TransportError::of(error.into()).infer_send_state(true, true))?;
            let response = service.call(request).await;
            let response = response.map_err(|error| TransportError::of(error.into()))?;
            Ok(response.map(ResponseBody::new))
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConnectionTimeouts {
    pub(crate) connect: Duration,
    /// The time after which a silent HTTP/2 connection with requests in flight is pinged.
    pub(crate) ping_interval: Duration,
    pub(crate) ping_timeout: Duration,
}

impl Default for ConnectionTimeouts {
    fn default() -> Self {
        Self {
            // A connection takes milliseconds on loopback and within a region.
            connect: Duration::from_secs(5),
            // Together less than an attempt's timeout, so a silent connection is dropped before the next attempt.
            ping_interval: Duration::from_secs(4),
            ping_timeout: Duration::from_secs(4),
        }
    }
}
