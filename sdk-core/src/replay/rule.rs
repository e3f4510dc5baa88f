//! What to do with a stored command that may or may not have been sent.

use std::fmt;
use std::time::{Duration, SystemTime};

use crate::command::prepared::PreparedCommand;

/// How far the clock that prepared a command may be ahead of this one.
const CLOCK_SKEW: Duration = Duration::from_secs(300);

/// The rule for stored commands: which a worker may send by itself, and which a person has to check first.
///
/// A command that was sent may have been committed. Sending it again is safe only if the service recognises it, by its key
/// or as an exact replay where the contract shows that. Every other command waits for a person, and so does one that is too
/// old, because the contract does not show how long a service remembers. `send_prepared` itself does not apply the rule.
///
/// ```
/// # fn example(stored: &sdk_core::PreparedCommand) {
/// use std::time::SystemTime;
/// use sdk_core::{StoredRule, StoredStep};
///
/// match StoredRule::default().next(stored, None, SystemTime::now()) {
///     StoredStep::Send => { /* client.send_prepared(stored) */ }
///     StoredStep::Park(reason) => eprintln!("{}: {reason}", stored.operation()),
///     _ => {}
/// }
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct StoredRule {
    max_age: Duration,
}

impl Default for StoredRule {
    fn default() -> Self {
        Self {
            // Assumed: A54. Covers an outage overnight, and any service that remembers keys at all should cover it.
            max_age: Duration::from_secs(24 * 3600),
        }
    }
}

impl StoredRule {
    /// Sets the oldest age at which a command is sent without a check; a day by default (assumed: A54).
    pub fn with_max_age(mut self, age: Duration) -> Self {
        self.max_age = age;
        self
    }

    /// The next step for a stored command at `now`. `first_sent` is when your store first sent it, if it did; the command
    /// also [says itself](PreparedCommand::was_sent) whether it was sent. Its age counts from `first_sent`, or else from
    /// its preparation.
    #[must_use]
    pub fn next(
        &self,
        command: &PreparedCommand,
        first_sent: Option<SystemTime>,
        now: SystemTime,
    ) -> StoredStep {
        if (first_sent.is_some() || command.was_sent()) && !command.is_replayable() {
            return StoredStep::Park(ParkReason::NoReplay);
        }
        let Some(since) = first_sent.or(command.prepared_at()) else {
            return StoredStep::Park(ParkReason::UnknownAge);
        };
        match now.duration_since(since) {
            Ok(age) if age > self.max_age => StoredStep::Park(ParkReason::TooOld {
                age,
                max_age: self.max_age,
            }),
            Err(ahead) if ahead.duration() > CLOCK_SKEW => StoredStep::Park(ParkReason::Future {
                ahead: ahead.duration(),
            }),
            _ => StoredStep::Send,
        }
    }
}

/// The next step for a stored command.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoredStep {
    /// Send it.
    Send,
    /// Wait for a person.
    Park(ParkReason),
}

/// Why a stored command waits for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParkReason {
    /// It was sent without a key, and the contract does not show that its operation recognises a replay.
    NoReplay,
    /// The service may have forgotten its key.
    TooOld {
        /// Its age.
        age: Duration,
        /// The oldest age allowed.
        max_age: Duration,
    },
    /// Its age is unknown: stored form 1 does not record it.
    UnknownAge,
    /// Its time of preparation lies in the future: a clock is wrong.
    Future {
        /// How far in the future.
        ahead: Duration,
    },
}

impl fmt::Display for ParkReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooOld { age, max_age } => write!(
                f,
                "it is {} old, but its key is trusted for only {}",
                hours(*age),
                hours(*max_age)
            )?,
            Self::NoReplay => {
                f.write_str("it was sent without a key, so the service cannot recognise it")?;
            }
            Self::UnknownAge => f.write_str("its age is unknown")?,
            Self::Future { ahead } => write!(f, "it was prepared {} in the future", hours(*ahead))?,
        }
        f.write_str("; its effect is unknown: check whether it happened before sending it again")
    }
}

/// A duration for people.
fn hours(time: Duration) -> String {
    let minutes = time.as_secs() / 60;
    format!("{} h {} min", minutes / 60, minutes % 60)
}
