//! What an attempt comes to.

use std::time::Duration;

use crate::error::Error;
use crate::reply::response::Reply;

/// Done, worth another attempt, or an error.
pub(super) enum Verdict {
    Done(Reply),
    /// A 401: worth one more attempt with another token.
    Renew(Error),
    /// An error; `again` when another attempt may help and is allowed, `after` what the server asked for.
    Fail {
        error: Error,
        again: bool,
        after: Option<Duration>,
    },
}

impl Verdict {
    /// The status of a reply that was taken, or the error.
    pub(super) fn ended(&self) -> Result<u16, &Error> {
        match self {
            Self::Done(reply) => Ok(reply.status),
            Self::Renew(error) | Self::Fail { error, .. } => Err(error),
        }
    }
}

/// An error without a time to wait.
pub(super) fn fail(error: Error, again: bool) -> Verdict {
    Verdict::Fail {
        error,
        again,
        after: None,
    }
}
