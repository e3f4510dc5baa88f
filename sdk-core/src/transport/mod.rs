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

pub(crate) mod body;
pub(crate) mod cause;
pub(crate) mod connections;
pub(crate) mod error;
#[cfg(feature = "reqwest-013")]
mod given;
pub(crate) mod loopback;
pub(crate) mod outgoing;
#[cfg(feature = "reqwest-013")]
mod proxy;
pub(crate) mod reply;
pub(crate) mod request;
#[cfg(feature = "reqwest-013")]
mod reqwest_013;
mod seam;
pub(crate) mod sender;
pub(crate) mod waits;

/// The types of requests and replies.
pub use http;
/// The HTTP library behind [`HttpClient`], for programs that configure it.
#[cfg(feature = "reqwest-013")]
pub use reqwest;

pub use error::TransportError;
#[cfg(feature = "reqwest-013")]
pub use given::HttpClient;
pub use reply::ReplyBody;
pub use request::RequestBody;
pub use seam::{Deadline, Transport, TransportFuture};
