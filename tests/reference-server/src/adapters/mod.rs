//! Two HTTP servers for the same handlers.

mod body;
pub(crate) mod hyper;
pub(crate) mod wiremock;

/// Which HTTP server answers.
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
}
