//! What to do with a command that was stored and not sent, or not known to have been.

use std::fmt;
use std::time::{Duration, SystemTime};

use crate::command::prepared::PreparedCommand;

/// How far the clock of the machine that prepared a command may be ahead of ours.
const CLOCK_SKEW: Duration = Duration::from_secs(300);

/// The rule for stored commands: what a worker may send by itself, and what a person has to look at first.
///
/// A command that was sent may have been committed, and to send it again would do it twice, unless the service recognises
/// it: by its key, or as an exact replay where the contract shows that. Any other one waits for a person, and so does one that
/// is too old, since how long a service remembers is not shown. `send_prepared` by hand does what it is told.
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
            // Assumed: A54. Long enough for an outage over night, short enough for any service that remembers keys at all.
            max_age: Duration::from_secs(24 * 3600),
        }
    }
}

impl StoredRule {
    /// Sets how old a command may be that is sent without anybody looking at it; a day by default (assumed: A54).
    pub fn with_max_age(mut self, age: Duration) -> Self {
        self.max_age = age;
        self
    }

    /// What comes next for a stored command at `now`. `first_sent` is when the store knows it to have been first sent; none
    /// means never, but for what the command [says itself](PreparedCommand::was_sent). Its age runs from then, or else from its
    /// preparation.
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

/// What comes next for a stored command.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoredStep {
    /// It can be sent.
    Send,
    /// It waits for a person.
    Park(ParkReason),
}

/// Why a stored command waits for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParkReason {
    /// It was sent, has no key, and the contract does not show that its operation recognises a replay.
    NoReplay,
    /// Its key may be forgotten.
    TooOld {
        /// How old it is.
        age: Duration,
        /// How old it may be.
        max_age: Duration,
    },
    /// When it was prepared is not known: its form is of version 1.
    UnknownAge,
    /// It was prepared in the future: a clock is wrong.
    Future {
        /// How far.
        ahead: Duration,
    },
}

impl fmt::Display for ParkReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooOld { age, max_age } => write!(
                f,
                "it is {} old, and its key is trusted for {}",
                hours(*age),
                hours(*max_age)
            )?,
            Self::NoReplay => {
                f.write_str("it was sent, and has no key by which it would be recognised")?;
            }
            Self::UnknownAge => f.write_str("how old it is, is not known")?,
            Self::Future { ahead } => write!(f, "it was prepared {} in the future", hours(*ahead))?,
        }
        f.write_str("; its effect is unknown: look whether it happened before it is sent again")
    }
}

/// A time that people can read.
fn hours(time: Duration) -> String {
    let minutes = time.as_secs() / 60;
    format!("{} h {} min", minutes / 60, minutes % 60)
}
