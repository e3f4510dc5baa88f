//! Why a request in memory got no reply.

use std::error::Error;
use std::fmt;
use std::io;
use std::sync::Arc;

/// Why a request in memory got no reply. The source is an [`io::Error`] with the kind that a socket would give.
#[derive(Clone, Debug)]
pub struct ConnectionError(Arc<io::Error>);

impl ConnectionError {
    pub(super) fn refused(why: impl Into<Box<dyn Error + Send + Sync>>) -> ConnectionError {
        let error = io::Error::new(io::ErrorKind::ConnectionRefused, why);
        ConnectionError(Arc::new(error))
    }

    pub(super) fn reset(why: impl Into<Box<dyn Error + Send + Sync>>) -> ConnectionError {
        let error = io::Error::new(io::ErrorKind::ConnectionReset, why);
        ConnectionError(Arc::new(error))
    }

    /// Whether the connection was refused: nothing was sent. Otherwise the request may have taken effect.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.0.kind() == io::ErrorKind::ConnectionRefused
    }
}

impl fmt::Display for ConnectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_refused() {
            "the connection was refused"
        } else {
            "the connection was reset before a reply"
        })
    }
}

impl Error for ConnectionError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}
