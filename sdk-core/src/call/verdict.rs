//! The verdict on an attempt.

use std::time::Duration;

use crate::error::Error;
use crate::reply::response::Reply;

/// Done, worth another attempt, or an error.
pub(super) enum Verdict {
    Done(Reply),
    /// A 401: worth one more attempt with another token.
    Renew(Error),
    /// An error. `again`: another attempt may help and is allowed. `after`: how long the server asked to wait.
    Fail {
        error: Error,
        again: bool,
        after: Option<Duration>,
    },
}

impl Verdict {
    /// The error, unless the reply was accepted.
    pub(super) fn error(&self) -> Option<&Error> {
        match self {
            Self::Done(_) => None,
            Self::Renew(error) | Self::Fail { error, .. } => Some(error),
        }
    }
}

/// An error for which the server did not ask to wait.
pub(super) fn fail(error: Error, again: bool) -> Verdict {
    Verdict::Fail {
        error,
        again,
        after: None,
    }
}
