//! A connection with its prepared statements, and a transaction on it.

use std::collections::HashMap;
use std::error::Error as StdError;
use std::io;
use std::time::SystemTime;

use tokio::time::Instant;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, GenericClient, Row, Statement, Transaction};

use super::sql::{LOCK_HEAD, PROMOTE};
use crate::error::Error;
use crate::steps::reached;

pub(super) type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

/// A connection with its prepared statements and its cursors.
pub(super) struct Session {
    pub(super) client: Client,
    statements: HashMap<&'static str, Statement>,
    /// The last claimed command of each sender. The next claim begins after it.
    pub(super) cursors: HashMap<(String, String), (SystemTime, i64)>,
    /// The time when the cursors were last cleared, so that claims find commands that became due before a cursor.
    pub(super) reset: Instant,
}

impl Session {
    pub(super) fn new(client: Client) -> Self {
        Self {
            client,
            statements: HashMap::new(),
            cursors: HashMap::new(),
            reset: Instant::now(),
        }
    }

    pub(super) async fn query(
        &mut self,
        sql: &'static str,
        values: Values<'_>,
    ) -> Result<Vec<Row>, Error> {
        let statement = prepared(&self.client, &mut self.statements, sql).await?;
        Ok(self.client.query(&statement, values).await?)
    }

    /// Sets a cursor back, so that the next claim finds a command that was stored earlier.
    pub(super) fn look_before(&mut self, command: &Row) {
        let key = (command.get(0), command.get(1));
        if let Some(cursor) = self.cursors.get_mut(&key) {
            *cursor = (*cursor).min((command.get(2), command.get::<_, i64>(3) - 1));
        }
    }

    pub(super) async fn begin(&mut self) -> Result<Work<'_>, Error> {
        Ok(Work {
            transaction: self.client.transaction().await?,
            statements: &mut self.statements,
        })
    }
}

/// A transaction. It is rolled back unless it is committed.
pub(super) struct Work<'a> {
    pub(super) transaction: Transaction<'a>,
    statements: &'a mut HashMap<&'static str, Statement>,
}

impl Work<'_> {
    pub(super) async fn query(
        &mut self,
        sql: &'static str,
        values: Values<'_>,
    ) -> Result<Vec<Row>, Error> {
        let statement = prepared(&self.transaction, self.statements, sql).await?;
        Ok(self.transaction.query(&statement, values).await?)
    }

    pub(super) async fn commit(self) -> Result<(), Error> {
        Ok(self.transaction.commit().await?)
    }

    /// Makes the next command of a lane ready, and returns it.
    pub(super) async fn promote(&mut self, settled: &Row) -> Result<Option<Row>, Error> {
        let Some(lane) = settled.get::<_, Option<String>>(0) else {
            return Ok(None);
        };
        self.query(LOCK_HEAD, &[&lane]).await?;
        let next = self.query(PROMOTE, &[&lane]).await?.pop();
        reached("lane continued, not committed");
        Ok(next)
    }
}

/// Returns a statement, which is prepared once for each connection.
async fn prepared(
    client: &impl GenericClient,
    statements: &mut HashMap<&'static str, Statement>,
    sql: &'static str,
) -> Result<Statement, Error> {
    if let Some(statement) = statements.get(sql) {
        return Ok(statement.clone());
    }
    let statement = client.prepare(sql).await?;
    statements.insert(sql, statement.clone());
    Ok(statement)
}

/// Converts an error of the caller's own SQL. An error without a code is a permanent mistake, such as a value of a
/// wrong type, unless the connection was lost.
pub(super) fn rejected_by_caller(error: &tokio_postgres::Error) -> Error {
    let is_lost = error.is_closed() || cause(error).is_some_and(<dyn StdError>::is::<io::Error>);
    Error::database(
        &described(error),
        error.code().map_or(is_lost, is_transient),
    )
}

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::database(&described(&error), error.code().is_none_or(is_transient))
    }
}

/// Whether an error may be temporary. These classes are connections, transaction state (a standby), conflicts,
/// resources, locks and shutdown.
fn is_transient(code: &SqlState) -> bool {
    // If the transaction had already failed, the caller's SQL has a mistake.
    let may_pass = ["08", "25", "40", "53", "55", "57"].contains(&&code.code()[..2]);
    may_pass && *code != SqlState::IN_FAILED_SQL_TRANSACTION
}

/// Returns the error's message without the database's details, which may quote a row.
fn described(error: &tokio_postgres::Error) -> String {
    match (error.as_db_error(), cause(error)) {
        (Some(error), _) => format!("{} ({})", error.message(), error.code().code()),
        (None, Some(cause)) => format!("{error}: {cause}"),
        (None, None) => error.to_string(),
    }
}

fn cause(error: &tokio_postgres::Error) -> Option<&(dyn StdError + 'static)> {
    error.source()
}
