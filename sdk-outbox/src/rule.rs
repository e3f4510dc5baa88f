//! Decides the next step for a stored command, as a pure function.

use std::fmt;
use std::time::{Duration, SystemTime};

use sdk_core::{Backoff, Effect, ErrorKind};

use crate::state::{StoredOutcome, StoredState};

/// How far the clock that prepared a command may be ahead of this one.
const CLOCK_SKEW: Duration = Duration::from_secs(300);

/// The longest `Retry-After` that the rule follows. Without this limit, a server could delay a command indefinitely.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(3600);

/// Decides the next step for a stored command, before and after each attempt.
///
/// After an attempt without a response, the application may have applied the command. Resending is safe only if the
/// application recognizes the command by its key, or if the contract documents exact replay. The rule parks all other
/// commands for an operator. It also parks commands that are too old, because the contract doesn't say how long an
/// application remembers keys. `send_prepared` itself doesn't apply the rule. The crate's documentation has an example
/// that does.
///
/// The first matching row decides:
///
/// | # | condition | step |
/// |---|---|---|
/// | 1 | The command has a receipt. | done |
/// | 2 | The command can't be sent (`InvalidInput`, `PreparedCommand`), or the application rejected it (`Rejected`, `NotFound`, `Conflict`). | park: `Refused` |
/// | 3 | The command may have been sent, and is not replayable. | park: `NoReplay` |
/// | 4 | The time from which its age counts is unknown (its first sending, or else its approved retry, or else its preparation). | park: `UnknownAge` |
/// | 5 | That time is more than five minutes in the future. | park: `Future` |
/// | 6 | That time is more than `max_age` ago. | park: `TooOld` |
/// | 7 | The command has had `max_attempts` attempts. | park: `TooManyAttempts` |
/// | 8 | The last attempt failed for another reason. | send at: after the backoff, or after `Retry-After` if it is longer (at most an hour) |
/// | 9 | none of the above | send |
///
/// A command may have been sent if its store has a time of the first sending, if a worker's lease expired, if the last
/// attempt failed with [`Effect::Unknown`], or if the command [records it](sdk_core::PreparedCommand::was_sent). The
/// backoff differs between commands, so that commands that failed together are not resent together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct StoredRule {
    max_age: Duration,
    max_attempts: u32,
    backoff: Backoff,
}

impl Default for StoredRule {
    fn default() -> Self {
        Self {
            // A day covers an outage overnight. An application that remembers keys should do so for a day (A54).
            max_age: Duration::from_secs(24 * 3600),
            // At the longest backoff, 300 attempts take more than a day.
            max_attempts: 300,
            backoff: Backoff::new(Duration::from_secs(1), Duration::from_secs(600)),
        }
    }
}

impl StoredRule {
    /// Sets the age above which a command is parked. The default is a day (assumption A54).
    pub fn with_max_age(mut self, age: Duration) -> Self {
        self.max_age = age;
        self
    }

    /// Sets the number of attempts before a command is parked. The minimum is 1, and the default is 300.
    ///
    /// The limit also stops a command that crashes its worker.
    pub fn with_max_attempts(mut self, attempts: u32) -> Self {
        self.max_attempts = attempts.max(1);
        self
    }

    /// Sets the backoff after each failure. By default, it grows from one second to ten minutes.
    pub fn with_backoff(mut self, backoff: Backoff) -> Self {
        self.backoff = backoff;
        self
    }

    /// Returns the next step for a stored command.
    ///
    /// `now` is the current time by the clock that set the stored times.
    #[must_use]
    pub fn next(&self, state: &StoredState, now: SystemTime) -> StoredStep {
        let failed = match state.outcome {
            Some(StoredOutcome::Done) => return StoredStep::Done,
            Some(StoredOutcome::Failed {
                effect,
                kind,
                retry_after,
            }) => Some((effect, kind, retry_after)),
            None => None,
        };
        if let Some((effect, kind, _)) = failed
            && is_final(effect, kind)
        {
            // Although this attempt was rejected, an earlier attempt may have had an effect.
            let before = state.may_have_been_sent();
            let effect = if before { Effect::Unknown } else { effect };
            return StoredStep::Park(ParkReason::Refused { kind, effect });
        }
        if let Some(reason) = self.in_the_way(state, now) {
            return StoredStep::Park(reason);
        }
        let Some((_, _, retry_after)) = failed else {
            return StoredStep::Send;
        };
        let asked = retry_after.unwrap_or_default().min(MAX_RETRY_AFTER);
        let wait = self.backoff.half_jitter(state.attempts, state.random());
        StoredStep::SendAt(now.checked_add(wait.max(asked)).unwrap_or(now))
    }

    fn in_the_way(&self, state: &StoredState, now: SystemTime) -> Option<ParkReason> {
        if state.may_have_been_sent() && !state.replayable {
            return Some(ParkReason::NoReplay);
        }
        let Some(since) = state.since() else {
            return Some(ParkReason::UnknownAge);
        };
        match now.duration_since(since) {
            Err(ahead) if ahead.duration() > CLOCK_SKEW => Some(ParkReason::Future {
                ahead: ahead.duration(),
            }),
            Ok(age) if age > self.max_age => Some(ParkReason::TooOld {
                age,
                max_age: self.max_age,
            }),
            _ if state.attempts >= self.max_attempts => Some(ParkReason::TooManyAttempts {
                attempts: state.attempts,
            }),
            _ => None,
        }
    }
}

/// Whether the failure is permanent, so that resending the command would fail in the same way.
fn is_final(effect: Effect, kind: ErrorKind) -> bool {
    match kind {
        ErrorKind::InvalidInput | ErrorKind::PreparedCommand => true,
        ErrorKind::Rejected | ErrorKind::NotFound | ErrorKind::Conflict => {
            effect != Effect::NotSent
        }
        _ => false,
    }
}

/// The next step for a stored command. The enum is exhaustive, so a `match` needs no wildcard arm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredStep {
    /// Send the command now.
    Send,
    /// Don't send the command before this time. Call [`StoredRule::next`] again then.
    SendAt(SystemTime),
    /// Set the command aside for an operator.
    Park(ParkReason),
    /// The application has applied the command.
    Done,
}

/// The reason for parking a stored command.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParkReason {
    /// The command can't be sent, or the application rejected it.
    Refused {
        /// The kind of the error.
        kind: ErrorKind,
        /// The effect of the command, which is unknown if an earlier attempt may have had an effect.
        effect: Effect,
    },
    /// The command may have been sent, it has no key, and the contract doesn't document exact replay for its operation.
    NoReplay,
    /// The command is so old that the application may have forgotten its key.
    TooOld {
        /// The age of the command.
        age: Duration,
        /// The maximum age of the rule.
        max_age: Duration,
    },
    /// The age of the command is unknown, because stored form 1 doesn't record it.
    UnknownAge,
    /// The time of preparation or first sending is in the future, so a clock is wrong.
    Future {
        /// The difference from the current time.
        ahead: Duration,
    },
    /// The command has reached the maximum number of attempts.
    TooManyAttempts {
        /// The number of attempts.
        attempts: u32,
    },
}

impl ParkReason {
    /// Returns the stable name for counts and metrics.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Refused { .. } => "refused",
            Self::NoReplay => "no_replay",
            Self::TooOld { .. } => "too_old",
            Self::UnknownAge => "unknown_age",
            Self::Future { .. } => "future",
            Self::TooManyAttempts { .. } => "too_many_attempts",
        }
    }
}

impl fmt::Display for ParkReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { kind, effect } => {
                write!(f, "it was rejected ({kind})")?;
                if *effect != Effect::Unknown {
                    return f.write_str("; it had no effect");
                }
            }
            Self::TooOld { age, max_age } => write!(
                f,
                "it is {} old, but the rule trusts keys for only {}",
                hours(*age),
                hours(*max_age)
            )?,
            Self::NoReplay => f.write_str(
                "it may have been sent, and has no key by which the application could recognize it",
            )?,
            Self::UnknownAge => f.write_str("its age is unknown")?,
            Self::Future { ahead } => write!(f, "its time is {} in the future", hours(*ahead))?,
            Self::TooManyAttempts { attempts } => write!(f, "it had {attempts} attempts")?,
        }
        f.write_str(match self {
            Self::Refused { .. } | Self::NoReplay => "; ",
            // The store may have recorded that the command was never sent.
            _ => "; unless it was never sent, ",
        })?;
        f.write_str("its effect is unknown, so check whether it was applied before you resend it")
    }
}

fn hours(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 3600, seconds / 60 % 60) {
        (0, 0) => format!("{seconds} s"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests;
