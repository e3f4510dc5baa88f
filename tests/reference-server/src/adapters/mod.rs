//! Two HTTP servers for the same handlers, and a service in memory.

mod body;
pub(crate) mod door;
mod error;
mod headers;
pub(crate) mod hyper;
mod memory;
#[cfg(feature = "tls")]
pub(crate) mod tls;
pub(crate) mod wiremock;

pub use body::ReplyBody;
pub use error::ConnectionError;
pub use memory::InMemoryService;

/// What proves a server to its clients, where TLS is compiled in.
#[cfg(feature = "tls")]
pub(crate) type Acceptor = tokio_rustls::TlsAcceptor;
#[cfg(not(feature = "tls"))]
#[derive(Clone)]
pub(crate) enum Acceptor {}

/// What answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Transport {
    /// wiremock: one mock server per application. It keeps every request in memory until it stops and answers
    /// one at a time, which suits tests. It has no read timeout.
    #[default]
    Wiremock,
    /// hyper: fast, with flat memory, and able to break a connection in the middle of a body. It speaks HTTP/2 to
    /// clients that begin with it.
    Hyper,
    /// No HTTP server, no socket and no thread: [`ReferenceServer::service`](crate::ReferenceServer::service) is all there
    /// is. The server's clock is tokio's, so that a test may pause it.
    InMemory,
}
