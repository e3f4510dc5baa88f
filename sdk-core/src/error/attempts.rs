//! What a failed call tells of its attempts.

use std::time::Duration;

use crate::error::kind::{Effect, ErrorKind};

/// One failed attempt of a call. See [`Error::attempt_log`](crate::Error::attempt_log).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AttemptRecord {
    /// Its number, from 1.
    pub number: u32,
    /// The kind of its failure.
    pub kind: ErrorKind,
    /// The HTTP status of its reply, if one came.
    pub status: Option<u16>,
    /// What is known about its effect.
    pub effect: Effect,
    /// The request id of its reply, redacted.
    pub request_id: Option<String>,
    /// How long after the start of the call it began.
    pub began_after: Duration,
    /// How long it took.
    pub duration: Duration,
    /// How long the call waited before it, for its backoff or because the server asked. Not for a token.
    pub waited: Duration,
}

/// How many attempts are kept: far more than a call usually makes.
const MOST: usize = 32;

/// Adds an attempt, in the place of the oldest if there are too many.
pub(crate) fn push(log: &mut Vec<AttemptRecord>, record: AttemptRecord) {
    if log.len() == MOST {
        log.remove(0);
    }
    log.push(record);
}
