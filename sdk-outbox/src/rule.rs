//! Decides the next step for a stored command, as a pure function.

use std::fmt;
use std::time::{Duration, SystemTime};

use sdk_core::{Backoff, Effect, ErrorKind};

use crate::state::{StoredOutcome, StoredState};

/// How far the clock that prepared a command may be ahead of this one.
const CLOCK_SKEW: Duration = Duration::from_secs(300);

/// The longest `Retry-After` that the rule honors. Without it, a server could delay a command indefinitely.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(3600);

/// The next step for a stored command, before and after it is sent.
///
/// The application may have applied a command that was sent. Resending is safe only if the application recognizes the command
/// by its key, or if the contract documents exact replay. All other commands are parked for an operator. So are commands that are
/// too old, because the contract doesn't say how long an application remembers keys. `send_prepared` itself doesn't apply the
/// rule. The crate's documentation has a program that does.
///
/// The first row that fits decides:
///
/// | # | condition | step |
/// |---|---|---|
/// | 1 | it has a receipt | done |
/// | 2 | it can't be sent (`InvalidInput`, `PreparedCommand`), or the application rejected it (`Rejected`, `NotFound`, `Conflict`) | park: `Refused` |
/// | 3 | it may have been sent, and is not replayable | park: `NoReplay` |
/// | 4 | neither its preparation nor its first sending has a time | park: `UnknownAge` |
/// | 5 | that time is more than five minutes in the future | park: `Future` |
/// | 6 | that time is longer ago than `max_age` | park: `TooOld` |
/// | 7 | it has had `max_attempts` attempts | park: `TooManyAttempts` |
/// | 8 | its last attempt failed otherwise | send at: after the backoff, or `Retry-After` if that is longer (an hour at most) |
/// | 9 | none of these | send |
///
/// *It may have been sent* if its store has a time of its first sending, a worker's lease expired, the last attempt failed with
/// [`Effect::Unknown`], or the command [says so itself](sdk_core::PreparedCommand::was_sent). The backoff differs from command to
/// command, so that commands that failed together don't come back together.
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
            // Assumed: A54. Covers an outage overnight, and any service that remembers keys at all should cover it.
            max_age: Duration::from_secs(24 * 3600),
            // More than a day's worth at the longest backoff.
            max_attempts: 300,
            backoff: Backoff::new(Duration::from_secs(1), Duration::from_secs(600)),
        }
    }
}

impl StoredRule {
    /// Sets the age above which a command is parked; a day by default (assumption A54).
    pub fn with_max_age(mut self, age: Duration) -> Self {
        self.max_age = age;
        self
    }

    /// Sets the number of attempts before a command is parked, at least 1; 300 by default. This also stops a command that crashes
    /// its worker.
    pub fn with_max_attempts(mut self, attempts: u32) -> Self {
        self.max_attempts = attempts.max(1);
        self
    }

    /// Sets how long a command waits after each failure: a second at first and ten minutes in the end by default.
    pub fn with_backoff(mut self, backoff: Backoff) -> Self {
        self.backoff = backoff;
        self
    }

    /// The next step for a stored command at `now`, by the clock of the store's times.
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
            // What this sending did says nothing about an earlier one.
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

    /// The reason to park a command instead of sending it.
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

/// Whether the failure is permanent for this command. If an earlier attempt may have had an effect, resending is still rejected.
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
    /// Send it now.
    Send,
    /// Ask again at this time.
    SendAt(SystemTime),
    /// Leave it to an operator.
    Park(ParkReason),
    /// It has its receipt.
    Done,
}

/// The reason for which a stored command is parked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParkReason {
    /// It can't be sent, or the application rejected it.
    Refused {
        /// The kind of the error.
        kind: ErrorKind,
        /// What is known of its effect: unknown if an earlier sending may have had one.
        effect: Effect,
    },
    /// It may have been sent, it has no key, and the contract doesn't document that its operation recognizes a replay.
    NoReplay,
    /// The application may have forgotten its key.
    TooOld {
        /// Its age.
        age: Duration,
        /// The oldest age allowed.
        max_age: Duration,
    },
    /// Its age is unknown: stored form 1 does not record it.
    UnknownAge,
    /// Its time of preparation or first sending is in the future, so a clock is wrong.
    Future {
        /// How far in the future.
        ahead: Duration,
    },
    /// It has had all its attempts.
    TooManyAttempts {
        /// How often.
        attempts: u32,
    },
}

impl ParkReason {
    /// Its name for counts and metrics, which never changes.
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
                write!(f, "it was refused ({kind})")?;
                if *effect != Effect::Unknown {
                    return f.write_str("; it had no effect");
                }
            }
            Self::TooOld { age, max_age } => write!(
                f,
                "it is {} old, but its key is trusted for only {}",
                hours(*age),
                hours(*max_age)
            )?,
            Self::NoReplay => f.write_str(
                "it may have been sent, and has no key by which the service could recognise it",
            )?,
            Self::UnknownAge => f.write_str("its age is unknown")?,
            Self::Future { ahead } => write!(f, "its time lies {} in the future", hours(*ahead))?,
            Self::TooManyAttempts { attempts } => write!(f, "it was tried {attempts} times")?,
        }
        f.write_str(match self {
            Self::Refused { .. } | Self::NoReplay => "; ",
            // The store may know better.
            _ => "; unless it was never sent, ",
        })?;
        f.write_str("its effect is unknown: check whether it happened before sending it again")
    }
}

/// A duration for people.
fn hours(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 3600, seconds / 60 % 60) {
        (0, 0) => format!("{seconds} s"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests;
