//! Why an outbox could not do what it was asked.

use std::error::Error as StdError;
use std::sync::Arc;

/// An error of an outbox: of its database, or of what it was given. Its clones are cheap.
///
/// It contains no part of a command.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The database rejected a statement, or can't be reached.
    #[error("the outbox's database: {message}")]
    Database {
        /// The message of the driver, with its causes.
        message: String,
        /// Whether the same statement may succeed later: the database is away, busy or full.
        is_passing: bool,
        /// The driver's error.
        #[source]
        source: Arc<dyn StdError + Send + Sync>,
    },
    /// A later release of this crate made the tables.
    #[error(
        "the outbox's tables have version {found}, but this release knows only versions up to {known}"
    )]
    TooNew {
        /// The version of the tables.
        found: i64,
        /// The latest version that this release knows.
        known: i64,
    },
    /// A value is invalid. Nothing was stored.
    #[error("`{parameter}` must {rule}, but it is {value}")]
    Invalid {
        /// The setter.
        parameter: &'static str,
        /// The rule.
        rule: &'static str,
        /// The value, or what is wrong with it.
        value: String,
    },
    /// Only a parked command can be retried or dropped.
    #[error("command {id} is not parked")]
    NotParked {
        /// The ID of the command.
        id: i64,
    },
}

impl Error {
    /// Whether the same call may succeed later, because the database is away, busy or full.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::Database {
                is_passing: true,
                ..
            }
        )
    }

    pub(crate) fn database(
        source: impl StdError + Send + Sync + 'static,
        is_passing: bool,
    ) -> Self {
        // A driver's own message often names only the class, and its source the reason.
        let mut message = source.to_string();
        let mut cause = source.source();
        while let Some(next) = cause {
            let reason = next.to_string();
            if !reason.contains(&message) {
                message = format!("{message}: {reason}");
            }
            cause = next.source();
        }
        Self::Database {
            message: sdk_core::one_line(&message),
            is_passing,
            source: Arc::new(source),
        }
    }
}
