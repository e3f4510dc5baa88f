//! What to do with a command that was stored and not sent, or not known to have been.

use std::fmt;
use std::time::{Duration, SystemTime};

use crate::prepared::PreparedCommand;

/// How far the clock of the machine that prepared a command may be ahead of ours.
const CLOCK_SKEW: Duration = Duration::from_secs(300);

/// The rule for stored commands: what a worker may send by itself, and what a person has to look at first.
///
/// How long a service remembers a key, and so recognises a replay, is not shown. A command that is too old for that may have
/// been committed and forgotten: to send it again would do it twice. `send_prepared` by hand does what it is told.
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

    /// What comes next for a stored command at `now`. Its age runs from its preparation, unless the store knows when it was
    /// first sent.
    #[must_use]
    pub fn next(
        &self,
        command: &PreparedCommand,
        first_sent: Option<SystemTime>,
        now: SystemTime,
    ) -> StoredStep {
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
