//! The cause of an error.

use std::error::Error;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The cause of an error, shared by all clones of the error.
///
/// A bare `Arc` of an error would appear in the chain of sources as an error of its own and hide the type inside.
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
