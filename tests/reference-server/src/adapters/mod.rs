//! Two HTTP servers for the same handlers, and a service in memory.

mod body;
pub(crate) mod cors;
pub(crate) mod door;
mod headers;
pub(crate) mod hyper;
mod memory;
#[cfg(feature = "tls")]
pub(crate) mod tls;
pub(crate) mod wiremock;

pub use body::ReplyBody;
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
    /// wiremock: one mock server per application, which suits tests. It answers one request of an application at a time,
    /// and reads a body whole, however long, before the server can reject it. It has no read timeout; it cannot break, drip or
    /// stall a body; it takes a request without `Host`; it resolves `.` and `..` in paths, encoded ones too; and to a body that
    /// is framed badly it gives no reply, but a panic in a task of its own. The control endpoint is hyper's all the same.
    #[default]
    Wiremock,
    /// hyper: fast, with flat memory, and able to break a connection in the middle of a body. It speaks HTTP/2 to
    /// clients that begin with it.
    Hyper,
    /// No HTTP server, no socket and no thread: [`ReferenceServer::service`](crate::ReferenceServer::service) is all there
    /// is. The server's clock is tokio's, so that a test may pause it.
    InMemory,
}
