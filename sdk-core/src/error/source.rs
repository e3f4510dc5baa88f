//! The cause of an error.

use std::error::Error;
use std::fmt;
use std::io;
use std::ops::Deref;
use std::sync::Arc;

/// The cause of an error, shared by all clones of the error.
///
/// A bare `Arc` of an error would appear in the chain of sources as a separate error and hide the type inside.
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

/// Whether `found` matches the `Display` or `Debug` output of an error or of any error in its chain of sources.
pub(crate) fn says(error: &(dyn Error + 'static), found: impl Fn(&str) -> bool) -> bool {
    chain(error).any(|error| found(&error.to_string()) || found(&format!("{error:?}")))
}

/// An error and its sources, outermost first.
pub(crate) fn chain<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| inner(*error))
}

/// The next error in the chain. `io::Error::source` skips the error that it wraps, so wrapped errors are handled here.
fn inner<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    let io = error.downcast_ref::<io::Error>();
    match io.and_then(io::Error::get_ref) {
        Some(wrapped) => Some(wrapped),
        None => error.source(),
    }
}
