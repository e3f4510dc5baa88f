//! The HTTP clients that a caller may hand in.

use crate::macros::debug_fields;
#[cfg(feature = "hyper-1")]
use crate::transport::hyper_1::{HyperClient, HyperClientBuilder};

/// The caller's own HTTP client, for [`SuiteBuilder::http_client`](crate::SuiteBuilder::http_client): a builder, or a client
/// that exists already and is shared with other parts of a program.
///
/// It converts from those of reqwest 0.13, with the feature `reqwest-013`, which is on by default, and from
/// `transport::HyperClient` and its builder, with the feature `hyper-1`:
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
    #[cfg(feature = "reqwest-013")]
    Builder(Box<reqwest::ClientBuilder>),
    #[cfg(feature = "reqwest-013")]
    Client(reqwest::Client),
    #[cfg(feature = "hyper-1")]
    HyperBuilder(Box<HyperClientBuilder>),
    #[cfg(feature = "hyper-1")]
    Hyper(Box<HyperClient>),
}

macro_rules! handed {
    ($($feature:literal: $type:ty => $given:expr),* $(,)?) => {$(
        #[cfg(feature = $feature)]
        impl From<$type> for HttpClient {
            fn from(it: $type) -> Self {
                let given: fn($type) -> Given = $given;
                Self(given(it))
            }
        }
    )*};
}

handed! {
    "reqwest-013": reqwest::ClientBuilder => |it| Given::Builder(Box::new(it)),
    "reqwest-013": reqwest::Client => Given::Client,
    "hyper-1": HyperClientBuilder => |it| Given::HyperBuilder(Box::new(it)),
    "hyper-1": HyperClient => |it| Given::Hyper(Box::new(it)),
}

// Without its settings: default headers may hold a credential.
debug_fields! { HttpClient |_it| }
