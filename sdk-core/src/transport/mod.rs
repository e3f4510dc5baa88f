//! The way to the network: the HTTP clients of a suite, and what is known about a request that got no reply.
//!
//! Nothing here knows operations, tokens or retries. Only here is a type of the HTTP library public.

pub(crate) mod begun;
pub(crate) mod body;
pub(crate) mod cause;
pub(crate) mod clients;
pub(crate) mod loopback;
mod proxy;

/// The caller's own HTTP client, for [`SuiteBuilder::http_client`](crate::SuiteBuilder::http_client).
///
/// It converts from a builder of reqwest 0.13, with the feature `reqwest-013`, which is on by default:
///
/// ```
/// # fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let proxy = reqwest::Proxy::https("http://proxy.example.com:3128")?;
/// let suite = sdk_core::Suite::builder().http_client(reqwest::Client::builder().proxy(proxy));
/// # Ok(()) }
/// ```
#[cfg(feature = "reqwest-013")]
pub struct HttpClient(pub(crate) reqwest::ClientBuilder);

#[cfg(feature = "reqwest-013")]
impl From<reqwest::ClientBuilder> for HttpClient {
    fn from(builder: reqwest::ClientBuilder) -> Self {
        Self(builder)
    }
}

#[cfg(feature = "reqwest-013")]
impl std::fmt::Debug for HttpClient {
    /// Without its settings: default headers may hold a credential.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpClient").finish_non_exhaustive()
    }
}
