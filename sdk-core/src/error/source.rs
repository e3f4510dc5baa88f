//! What an error came of.

use std::error::Error;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// What an error came of, shared by all clones of the error.
///
/// An `Arc` of an error is an error too, and would stand in the chain of sources in place of what it holds, which nobody
/// could find by its type any more.
#[derive(Clone)]
pub(crate) struct Source(Arc<dyn Error + Send + Sync>);

impl Source {
    pub(crate) fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(Arc::from(error.into()))
    }
}

impl Deref for Source {
    type Target = dyn Error + Send + Sync;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}
