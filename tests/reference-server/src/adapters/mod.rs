//! Two HTTP servers for the same handlers, and an in-memory service.

mod body;
pub(crate) mod cors;
pub(crate) mod door;
mod headers;
pub(crate) mod hyper;
mod memory;
#[cfg(feature = "tls")]
pub(crate) mod tls;
pub(crate) mod wiremock;

pub use body::ResponseBody;
pub use memory::InMemoryService;

#[cfg(feature = "tls")]
pub(crate) type Acceptor = tokio_rustls::TlsAcceptor;
#[cfg(not(feature = "tls"))]
#[derive(Clone)]
pub(crate) enum Acceptor {}

/// The implementation that serves requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Transport {
    /// wiremock: one mock server per application, which suits tests. It serves one request per application at a time.
    /// Its limits:
    ///
    /// - It has no read timeout, and reads a body whole before the server can reject its length.
    /// - It can't break, drip or stall a body.
    /// - It accepts a request without `Host`.
    /// - It resolves `.` and `..` in paths, even when they are encoded.
    /// - It sends no response to a badly framed body, but panics in its own task.
    ///
    /// The control endpoint always uses hyper.
    #[default]
    Wiremock,
    /// hyper: fast, with constant memory use, and able to break a connection in the middle of a body. It accepts
    /// HTTP/2 from clients with prior knowledge.
    Hyper,
    /// No HTTP server, socket or thread. Clients reach the server only through
    /// [`ReferenceServer::service`](crate::ReferenceServer::service). The server uses tokio's clock, so a test can
    /// pause it.
    InMemory,
}
