//! The error type of an outbox.

use std::fmt;

/// An error of an outbox, caused by its database or by an invalid argument.
///
/// It contains no part of a command.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The database rejected a statement, or can't be reached.
    #[error("outbox database: {message}")]
    Database {
        /// The message of the driver, without details that may quote a row.
        message: String,
        /// Whether the same statement may succeed later, because the database is unavailable, busy or full.
        is_transient: bool,
    },
    /// A later release of this crate created the tables, and this release doesn't support them.
    #[error(
        "the outbox tables have version {found}, but this release supports only versions up to {known}"
    )]
    TooNew {
        /// The version of the tables.
        found: i64,
        /// The latest version that this release supports.
        known: usize,
    },
    /// The database contains no outbox, and `open_existing` doesn't create one.
    #[error("the database contains no outbox")]
    Missing,
    /// An argument is invalid. Nothing was stored.
    #[error("`{parameter}` must {rule}, but it is {value}")]
    Invalid {
        /// The parameter.
        parameter: &'static str,
        /// The rule.
        rule: &'static str,
        /// The value, or a description of it.
        value: String,
    },
    /// The command is not parked, so it can't be retried or dropped.
    #[error("command {id} is not parked")]
    NotParked {
        /// The ID of the command.
        id: i64,
    },
}

/// Prints the same line as `Display`, because a `main` that returns the error prints it this way.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
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
