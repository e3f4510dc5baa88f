//! reqwest 0.13, the default transport. Nothing outside this room knows it.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};
use url::Url;

use crate::shown::shows;
use crate::text::one_line;
use crate::transport::cause;
use crate::transport::error::{Stage, TransportError};
use crate::transport::loopback::is_loopback_name;
use crate::transport::outgoing::Outgoing;
use crate::transport::request::{Begun, RequestBody};
use crate::transport::waits::Waits;

/// The caller's own HTTP client, for [`SuiteBuilder::http_client`](crate::SuiteBuilder::http_client): a builder, or a client
/// that exists already and is shared with other parts of a program.
///
/// It converts from those of reqwest 0.13, with the feature `reqwest-013`, which is on by default:
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
pub struct HttpClient(pub(crate) Given);

/// What a caller hands in.
pub(crate) enum Given {
    Builder(Box<ClientBuilder>),
    Client(Client),
}

impl From<ClientBuilder> for HttpClient {
    fn from(builder: ClientBuilder) -> Self {
        Self(Given::Builder(Box::new(builder)))
    }
}

impl From<Client> for HttpClient {
    fn from(client: Client) -> Self {
        Self(Given::Client(client))
    }
}

// Without its settings: default headers may hold a credential.
shows! { HttpClient |_it| }

/// Who made a client of reqwest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handed {
    /// The suite, so that its settings are known.
    No,
    /// The caller: it may follow redirects, and nobody knows how long it waits for a connection.
    Client,
}

/// The request as reqwest sends it.
pub(super) fn request(outgoing: Outgoing, begun: Option<&Begun>) -> reqwest::Request {
    let mut request = reqwest::Request::new(outgoing.method, outgoing.url);
    *request.headers_mut() = outgoing.headers;
    *request.body_mut() = outgoing.body.map(|body| match begun {
        // Such a body exists once, so that no redirect takes it along.
        Some(begun) => reqwest::Body::wrap(RequestBody::watched(Some(body), begun)),
        None => body.into(),
    });
    request
}

/// Where a request was sent, to notice a redirect that the caller's client followed.
pub(super) struct Asked(Url);

impl Asked {
    pub(super) fn of(url: &Url) -> Self {
        Self(url.clone())
    }

    pub(super) fn check(&self, response: &reqwest::Response) -> Result<(), TransportError> {
        if *response.url() == self.0 {
            return Ok(());
        }
        let to = response.url().origin().ascii_serialization();
        let why = format!(
            "the HTTP client that was handed in followed a redirect to {to}: build it with `redirect::Policy::none()`"
        );
        Err(TransportError::at(Stage::Redirected, why))
    }
}

impl From<reqwest::Error> for TransportError {
    fn from(error: reqwest::Error) -> Self {
        let stage = if error.is_builder() {
            Stage::Refused
        } else if error.is_connect() {
            Stage::NotSent
        } else if cause::is_unprocessed(&error) {
            Stage::Unprocessed
        } else {
            Stage::Silent
        };
        let timed_out = error.is_timeout();
        let it = Self::at(stage, error.without_url());
        if timed_out { it.timed_out() } else { it }
    }
}

/// A pool for everything that leaves this machine, or for all that the caller's own builder sends.
pub(super) fn network(
    builder: ClientBuilder,
    addresses: &[Url],
    waits: Waits,
) -> Result<Client, reqwest::Error> {
    // Names that stand for loopback bypass the resolver.
    let names = addresses.iter().filter_map(Url::host_str);
    let names = names.filter(|name| is_loopback_name(name));
    let pin = |builder: ClientBuilder, name| builder.resolve_to_addrs(name, &LOOPBACK);
    finish(names.fold(builder, pin), waits)
}

/// A pool for plain HTTP to loopback, which bypasses every proxy that the environment names, and every resolver.
pub(super) fn loopback(waits: Waits) -> Result<Client, reqwest::Error> {
    let builder = Client::builder().no_proxy().dns_resolver(Arc::new(Pinned));
    // Plain HTTP needs no certificates, and loading those of the system is the slowest step of all.
    #[cfg(feature = "rustls")]
    let builder = builder.tls_certs_only([]);
    finish(builder, waits)
}

/// Both addresses of loopback, without a port: that of the URL counts.
const LOOPBACK: [SocketAddr; 2] = [
    SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
    SocketAddr::new(std::net::IpAddr::V6(Ipv6Addr::LOCALHOST), 0),
];

/// Resolves every name to loopback: only such names come here.
struct Pinned;

impl Resolve for Pinned {
    fn resolve(&self, _name: Name) -> Resolving {
        let addresses: Addrs = Box::new(LOOPBACK.into_iter());
        Box::pin(std::future::ready(Ok(addresses)))
    }
}

/// Adds what all pools have in common.
fn finish(builder: ClientBuilder, waits: Waits) -> Result<Client, reqwest::Error> {
    let builder = builder
        .redirect(Policy::none())
        // By itself it sends a request again that an HTTP/2 server did not process. Each attempt is the suite's, so that it is
        // counted, waits, and has a budget.
        .retry(reqwest::retry::never())
        .connect_timeout(waits.connect);
    #[cfg(feature = "http2")]
    let builder = builder
        .http2_keep_alive_interval(waits.ping_interval)
        .http2_keep_alive_timeout(waits.ping_timeout);
    builder.build().map_err(reqwest::Error::without_url)
}

/// The text of an error of a client that cannot be built.
pub(super) fn unbuilt(error: &reqwest::Error) -> String {
    let cause = one_line(&cause::root(error).to_string());
    format!("the HTTP client cannot be built: {cause}")
}
