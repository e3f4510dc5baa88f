//! The HTTP clients that a caller may hand in.

use crate::macros::debug_fields;

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
    Builder(Box<reqwest::ClientBuilder>),
    Client(reqwest::Client),
}

impl From<reqwest::ClientBuilder> for HttpClient {
    fn from(builder: reqwest::ClientBuilder) -> Self {
        Self(Given::Builder(Box::new(builder)))
    }
}

impl From<reqwest::Client> for HttpClient {
    fn from(client: reqwest::Client) -> Self {
        Self(Given::Client(client))
    }
}

// Without its settings: default headers may hold a credential.
debug_fields! { HttpClient |_it| }
