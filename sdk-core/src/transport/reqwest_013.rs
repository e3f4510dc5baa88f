//! reqwest 0.13, the default HTTP client.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;

use futures_util::FutureExt as _;
use http::Uri;
use hyper_util::client::proxy::matcher::Matcher;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};
use url::Url;

use crate::error::source::chain;
use crate::macros::debug_fields;
use crate::transport::ConnectionTimeouts;
use crate::transport::error::{SendState, TransportError, is_unprocessed};
use crate::transport::loopback::{LOOPBACK, is_loopback_name};
use crate::transport::request_body::{Outgoing, RequestBody, SendTracker};

/// A custom HTTP client for [`SuiteBuilder::http_client`](crate::SuiteBuilder::http_client): a builder, or a finished
/// client that other parts of the program also use.
///
/// With the `reqwest-013` feature, which is on by default, it converts from a client or builder of reqwest 0.13:
///
/// ```
/// # fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let proxy = reqwest::Proxy::https("http://proxy.example.com:3128")?;
/// let suite = sdk_core::Suite::builder().http_client(reqwest::Client::builder().proxy(proxy));
///
/// let shared = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build()?;
/// let suite = sdk_core::Suite::builder().http_client(shared);
/// # Ok(()) }
/// ```
pub struct HttpClient(pub(crate) Inner);

pub(crate) enum Inner {
    Builder(Box<reqwest::ClientBuilder>),
    Client(reqwest::Client),
}

impl From<reqwest::ClientBuilder> for HttpClient {
    fn from(builder: reqwest::ClientBuilder) -> Self {
        Self(Inner::Builder(Box::new(builder)))
    }
}

impl From<reqwest::Client> for HttpClient {
    fn from(client: reqwest::Client) -> Self {
        Self(Inner::Client(client))
    }
}

// Without its settings, because default headers may contain a credential.
debug_fields! { HttpClient |_it| }

/// Sends a request. Returns a single unboxed future.
pub(super) fn send(
    client: &Client,
    may_redirect: bool,
    outgoing: Outgoing,
    tracker: Option<&SendTracker>,
) -> impl Future<Output = Result<reqwest::Response, TransportError>> + Send + use<> {
    let requested = may_redirect.then(|| outgoing.url.clone());
    let sending = client.execute(request(outgoing, tracker));
    sending.map(|sent| match (sent?, requested) {
        (response, Some(requested)) => unredirected(response, &requested),
        (response, None) => Ok(response),
    })
}

fn request(outgoing: Outgoing, tracker: Option<&SendTracker>) -> reqwest::Request {
    let mut request = reqwest::Request::new(outgoing.method, outgoing.url);
    *request.headers_mut() = outgoing.headers;
    *request.body_mut() = outgoing.body.map(|body| match tracker {
        // Such a body can't be cloned, so a redirect doesn't forward it.
        Some(tracker) => reqwest::Body::wrap(RequestBody::tracked(Some(body), tracker)),
        None => body.into(),
    });
    request
}

/// Returns an error if the caller's client followed a redirect.
fn unredirected(
    response: reqwest::Response,
    requested: &Url,
) -> Result<reqwest::Response, TransportError> {
    if response.url() == requested {
        return Ok(response);
    }
    let to = response.url().origin().ascii_serialization();
    let why = format!(
        "the custom HTTP client followed a redirect to {to}: build it with `redirect::Policy::none()`"
    );
    Err(TransportError::at(SendState::Redirected, why))
}

impl From<reqwest::Error> for TransportError {
    fn from(error: reqwest::Error) -> Self {
        let state = if error.is_builder() {
            SendState::Unsendable
        } else if error.is_connect() {
            SendState::NotSent
        } else if is_unprocessed(&error) {
            SendState::Unprocessed
        } else {
            SendState::Unspecified
        };
        let timed_out = error.is_timeout();
        let it = Self::at(state, error.without_url());
        if timed_out { it.timed_out() } else { it }
    }
}

/// Whether this build of reqwest has TLS, which any crate of a program may enable.
pub(super) fn has_tls() -> bool {
    /// The return type of `tls_info`. Only with TLS does the builder itself have that method.
    trait Built {
        const HAS_TLS: bool;
    }

    impl Built for ClientBuilder {
        const HAS_TLS: bool = true;
    }

    #[allow(dead_code, reason = "a build with TLS never calls it")]
    struct WithoutTls;

    impl Built for WithoutTls {
        const HAS_TLS: bool = false;
    }

    #[allow(dead_code, reason = "a build with TLS never calls it")]
    trait Fallback: Sized {
        fn tls_info(self, _kept: bool) -> WithoutTls {
            WithoutTls
        }
    }

    impl Fallback for ClientBuilder {}

    fn answer<T: Built>(_build: fn(ClientBuilder) -> T) -> bool {
        T::HAS_TLS
    }

    answer(|builder| builder.tls_info(false))
}

/// Builds the pool for all addresses except loopback, or for all addresses if the caller passed a builder.
pub(super) fn network(
    builder: ClientBuilder,
    addresses: &[Url],
    timeouts: ConnectionTimeouts,
) -> Result<Client, reqwest::Error> {
    // Loopback names bypass the resolver.
    let names = addresses.iter().filter_map(Url::host_str);
    let names = names.filter(|name| is_loopback_name(name));
    let pin = |builder: ClientBuilder, name| builder.resolve_to_addrs(name, &LOOPBACK);
    finish(names.fold(builder, pin), timeouts)
}

/// Builds the pool for plain HTTP to loopback. It bypasses all environment proxies and every resolver.
pub(super) fn loopback(timeouts: ConnectionTimeouts) -> Result<Client, reqwest::Error> {
    let builder = Client::builder().no_proxy().dns_resolver(Arc::new(Pinned));
    // Plain HTTP needs no certificates, and loading the system's certificates is the slowest step.
    #[cfg(feature = "rustls")]
    let builder = builder.tls_certs_only([]);
    finish(builder, timeouts)
}

/// Resolves every name to loopback. Only loopback names reach it.
struct Pinned;

impl Resolve for Pinned {
    fn resolve(&self, _name: Name) -> Resolving {
        let addresses: Addrs = Box::new(LOOPBACK.into_iter());
        Box::pin(std::future::ready(Ok(addresses)))
    }
}

/// Applies the settings that all pools share.
fn finish(builder: ClientBuilder, timeouts: ConnectionTimeouts) -> Result<Client, reqwest::Error> {
    let builder = builder
        .redirect(Policy::none())
        // By default, reqwest resends a request that an HTTP/2 server did not process. The suite makes each attempt
        // itself, so that it is counted, has its own timeout, and uses the retry budget. Without the limit of 0,
        // reqwest would clone each request for this.
        .retry(reqwest::retry::never().max_retries_per_request(0))
        .connect_timeout(timeouts.connect);
    #[cfg(feature = "http2")]
    let builder = builder
        .http2_keep_alive_interval(timeouts.ping_interval)
        .http2_keep_alive_timeout(timeouts.ping_timeout);
    builder.build().map_err(reqwest::Error::without_url)
}

/// Returns the address to which no connection could be opened. Only hyper-util's `Debug` output contains it.
pub(super) fn tried_address(error: &(dyn Error + 'static)) -> Option<SocketAddr> {
    chain(error).find_map(|error| {
        let shown = format!("{error:?}");
        let rest = shown.strip_prefix("ConnectError(\"tcp connect error\", ")?;
        rest.split(',').next()?.parse().ok()
    })
}

/// Returns the environment's proxy for an address, without its credential, for error messages.
pub(super) fn proxy_for(url: &Url) -> Option<String> {
    let target: Uri = url.as_str().parse().ok()?;
    named(Matcher::from_env().intercept(&target)?.uri())
}

fn named(uri: &Uri) -> Option<String> {
    let port = uri.port().map(|port| format!(":{port}"));
    Some(format!(
        "{}://{}{}",
        uri.scheme_str().unwrap_or("http"),
        uri.host()?,
        port.unwrap_or_default()
    ))
}
