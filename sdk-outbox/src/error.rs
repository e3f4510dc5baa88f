//! Errors of an outbox.

/// An error of an outbox: of its database, or of what it was given.
///
/// It contains no part of a command.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The database rejected a statement, or can't be reached.
    #[error("outbox database: {message}")]
    Database {
        /// The message of the driver, without details that may quote a row.
        message: String,
        /// Whether the same statement may succeed later: the database is unavailable, busy or full.
        is_transient: bool,
    },
    /// A later release of this crate created the tables.
    #[error(
        "the outbox tables have version {found}, but this release supports only versions up to {known}"
    )]
    TooNew {
        /// The version of the tables.
        found: i64,
        /// The latest version that this release supports.
        known: usize,
    },
    /// The database has no outbox, and this call creates none.
    #[error("there is no outbox here")]
    Missing,
    /// A value is invalid. Nothing was stored.
    #[error("`{parameter}` must {rule}, but it is {value}")]
    Invalid {
        /// The parameter.
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
    /// Whether the same call may succeed later, because the database is unavailable, busy or full.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::Database {
                is_transient: true,
                ..
            }
        )
    }

    pub(crate) fn database(message: &str, is_transient: bool) -> Self {
        Self::Database {
            message: sdk_core::one_line(message),
            is_transient,
        }
    }
}
