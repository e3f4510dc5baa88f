//! The facts about a stored command on which the rule decides.

use std::time::{Duration, SystemTime};

use fastrand::Rng;
use sdk_core::{Effect, Error, ErrorKind, PreparedCommand};

/// The facts about a stored command on which [`StoredRule::next`](crate::StoredRule::next) decides.
///
/// Call `next` before you send the command, and again with the outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct StoredState {
    pub(crate) replayable: bool,
    /// Whether the command itself records that it may have been sent.
    was_sent: bool,
    prepared_at: Option<SystemTime>,
    /// The seed of the backoff, which differs between commands.
    seed: u64,
    first_sent: Option<SystemTime>,
    approved_at: Option<SystemTime>,
    pub(crate) attempts: u32,
    lease_expired: bool,
    pub(crate) outcome: Option<StoredOutcome>,
}

impl StoredState {
    /// Reads the facts in the command itself: whether it is replayable, when it was prepared, and whether it may have
    /// been sent.
    pub fn of(command: &PreparedCommand) -> Self {
        // Without the digest, which contains the time of preparation, so that a seeded simulation can be repeated.
        let key = command.idempotency_key().map_or("", |key| key.as_str());
        let letters = key.bytes().chain(command.body().bytes());
        Self {
            replayable: command.is_replayable(),
            was_sent: command.was_sent(),
            prepared_at: command.prepared_at(),
            seed: letters.fold(0, |seed, letter| {
                seed.wrapping_mul(31).wrapping_add(letter.into())
            }),
            first_sent: None,
            approved_at: None,
            attempts: 0,
            lease_expired: false,
            outcome: None,
        }
    }

    /// Sets the first time at which the command may have been sent.
    ///
    /// Store this time before you send the command. After the call, replace it with
    /// [`first_sent_after`](Self::first_sent_after).
    pub fn with_first_sent(mut self, at: impl Into<Option<SystemTime>>) -> Self {
        self.first_sent = at.into();
        self
    }

    /// Sets the time at which an operator approved a retry.
    ///
    /// The rule then counts the age from this time, and ignores the command's own record that it was sent. Also clear
    /// the time of the first sending and the attempts.
    pub fn with_approved_at(mut self, at: impl Into<Option<SystemTime>>) -> Self {
        self.approved_at = at.into();
        self
    }

    /// Sets the number of attempts. If you set an outcome, include the current attempt.
    pub fn with_attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    /// Sets whether an earlier lease expired without a result.
    pub fn with_lease_expired(mut self, expired: bool) -> Self {
        self.lease_expired = expired;
        self
    }

    /// Sets the outcome of the current attempt.
    pub fn with_outcome(mut self, outcome: impl Into<StoredOutcome>) -> Self {
        self.outcome = Some(outcome.into());
        self
    }

    /// Returns the time of the first sending to store after an attempt that began at `sent_at`.
    ///
    /// An attempt that is known to have had no effect doesn't count as a sending.
    #[must_use]
    pub fn first_sent_after(&self, sent_at: SystemTime) -> Option<SystemTime> {
        self.first_sent.or(self.is_unknown().then_some(sent_at))
    }

    fn is_unknown(&self) -> bool {
        match self.outcome {
            Some(StoredOutcome::Failed { effect, .. }) => effect == Effect::Unknown,
            _ => false,
        }
    }

    pub(crate) fn may_have_been_sent(&self) -> bool {
        let was_sent = self.was_sent && self.approved_at.is_none();
        self.first_sent.is_some() || self.lease_expired || self.is_unknown() || was_sent
    }

    /// Returns the time from which the age counts.
    pub(crate) fn since(&self) -> Option<SystemTime> {
        self.first_sent.or(self.approved_at).or(self.prepared_at)
    }

    /// Returns a number from 0 to 1 that depends only on the command and the attempt.
    pub(crate) fn random(&self) -> f64 {
        Rng::with_seed(self.seed.wrapping_add(self.attempts.into())).f64()
    }
}

/// The outcome of an attempt. Converts from the result of `send_prepared`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredOutcome {
    /// The application returned a receipt.
    Done,
    /// The attempt failed.
    Failed {
        /// The effect of the attempt.
        effect: Effect,
        /// The kind of the error.
        kind: ErrorKind,
        /// The delay in the response's `Retry-After`.
        retry_after: Option<Duration>,
    },
}

impl From<&Error> for StoredOutcome {
    fn from(error: &Error) -> Self {
        Self::Failed {
            effect: error.effect(),
            kind: error.kind(),
            retry_after: error.retry_after(),
        }
    }
}

impl<T> From<&Result<T, Error>> for StoredOutcome {
    fn from(sent: &Result<T, Error>) -> Self {
        sent.as_ref().map_or_else(Self::from, |_| Self::Done)
    }
}
