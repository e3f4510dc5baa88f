//! The service's own database: orders, the commands that follow from them, and what became of those.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OpenFlags, OptionalExtension as _, params};
use sdk_calendar::types::CalendarCommandResult;
use sdk_core::{PreparedCommand, Receipt};

use crate::steps::Steps;
use crate::{Failure, private};

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS orders (
        id      TEXT PRIMARY KEY,
        due     TEXT NOT NULL
    );
    -- One row per command to send, in the order in which they were meant.
    CREATE TABLE IF NOT EXISTS outbox (
        number  INTEGER PRIMARY KEY,
        order_id TEXT NOT NULL UNIQUE REFERENCES orders (id),
        command TEXT NOT NULL,
        -- In seconds since the beginning of 1970; NULL while nothing was sent.
        first_sent INTEGER,
        -- NULL until the service said no to this very command: then somebody has to look.
        refused TEXT
    );
    CREATE TABLE IF NOT EXISTS receipts (
        number  INTEGER PRIMARY KEY REFERENCES outbox (number),
        event   TEXT NOT NULL,
        status  INTEGER NOT NULL,
        replayed INTEGER NOT NULL,
        result  TEXT NOT NULL
    );
";

/// The database.
pub(crate) struct Store {
    database: Connection,
}

/// A command that has no receipt yet.
pub(crate) struct Pending {
    pub(crate) number: i64,
    pub(crate) command: PreparedCommand,
    /// When it may have been sent for the first time.
    pub(crate) first_sent: Option<SystemTime>,
}

/// What is in the database.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) orders: u32,
    pub(crate) receipts: u32,
    /// Receipts that say that the command had been committed by an attempt before.
    pub(crate) replayed: u32,
}

impl Store {
    /// Opens the database, and makes it if there is none. Only its owner can read it, and what `SQLite` puts beside it,
    /// which gets the permissions of the database.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let path = private_files(path)?;
        // It is there, so that it need not be made, and its path is no address.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let database = Connection::open_with_flags(path, flags)?;
        database.busy_timeout(Duration::from_secs(5))?;
        // With WAL, a commit is on disk before it counts only if `synchronous` is FULL. A command must not be sent from
        // a transaction that a power failure can undo.
        database.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;",
        )?;
        database.execute_batch(SCHEMA)?;
        Ok(Self { database })
    }

    /// Whether an order was placed.
    pub(crate) fn has(&self, order: &str) -> Result<bool, Failure> {
        let mut query = self
            .database
            .prepare("SELECT 1 FROM orders WHERE id = ?1")?;
        Ok(query.exists([order])?)
    }

    /// Writes the order and its command, both or neither.
    pub(crate) fn place(
        &mut self,
        order: &str,
        due: &str,
        command: &PreparedCommand,
        steps: &Steps,
    ) -> Result<(), Failure> {
        let transaction = self.database.transaction()?;
        steps.take("in the transaction, nothing written");
        transaction.execute("INSERT INTO orders (id, due) VALUES (?1, ?2)", [order, due])?;
        steps.take("in the transaction, order written");
        transaction.execute(
            "INSERT INTO outbox (order_id, command) VALUES (?1, ?2)",
            [order, &serde_json::to_string(command)?],
        )?;
        steps.take("in the transaction, command written");
        transaction.commit()?;
        Ok(())
    }

    /// The oldest command to send after another one. Without that, each would be looked for among all that were sent.
    pub(crate) fn next(&self, after: i64) -> Result<Option<Pending>, Failure> {
        let query =
            "SELECT number, command, first_sent FROM outbox LEFT JOIN receipts USING (number) WHERE number > ?1
                     AND receipts.number IS NULL AND refused IS NULL ORDER BY number LIMIT 1";
        let row = self.database.query_row(query, [after], |row| {
            Ok((
                row.get(0)?,
                row.get::<_, String>(1)?,
                row.get::<_, Option<u32>>(2)?,
            ))
        });
        let Some((number, command, first_sent)) = row.optional()? else {
            return Ok(None);
        };
        Ok(Some(Pending {
            number,
            command: serde_json::from_str(&command)?,
            first_sent: first_sent.map(|at| UNIX_EPOCH + Duration::from_secs(at.into())),
        }))
    }

    /// Records that a command is about to be sent. From here on it may have happened.
    pub(crate) fn sending(&self, number: i64, now: SystemTime) -> Result<(), Failure> {
        let now = u32::try_from(now.duration_since(UNIX_EPOCH)?.as_secs())?;
        let update = "UPDATE outbox SET first_sent = ?2 WHERE number = ?1 AND first_sent IS NULL";
        self.database.execute(update, params![number, now])?;
        Ok(())
    }

    /// Records what the service said. Two workers may have sent the same command: both got the same result.
    pub(crate) fn record(
        &self,
        number: i64,
        receipt: &Receipt<CalendarCommandResult>,
    ) -> Result<(), Failure> {
        self.database.execute(
            "INSERT OR IGNORE INTO receipts (number, event, status, replayed, result) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![
                number,
                receipt.public_reference,
                receipt.http_status(),
                receipt.replayed,
                std::str::from_utf8(receipt.bytes())?,
            ],
        )?;
        Ok(())
    }

    /// Takes a command that was refused, or that a person has to look at, out of the way of the others.
    pub(crate) fn set_aside(&self, number: i64, why: &impl Display) -> Result<(), Failure> {
        let update = "UPDATE outbox SET refused = ?2 WHERE number = ?1";
        self.database
            .execute(update, params![number, why.to_string()])?;
        Ok(())
    }

    /// Counts everything.
    pub(crate) fn counts(&self) -> Result<Counts, Failure> {
        let query = "SELECT (SELECT count(*) FROM orders), count(*), coalesce(sum(replayed), 0) FROM receipts";
        let counts = self.database.query_row(query, [], |row| {
            Ok(Counts {
                orders: row.get(0)?,
                receipts: row.get(1)?,
                replayed: row.get(2)?,
            })
        })?;
        Ok(counts)
    }
}

/// Makes a database that others cannot read, or keeps others from reading it, and returns its path without links.
///
/// To open and close one of its files takes away the locks that this process has on it. So this is not for a database
/// that the process has open already.
fn private_files(path: &Path) -> io::Result<PathBuf> {
    let folder = path.parent().filter(|path| !path.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let folder = private::naming(folder, folder.canonicalize())?;
    let path = folder.join(path.file_name().unwrap_or_default());
    if private::open(&path)?.is_none() {
        match private::create(&path) {
            // Another process was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => drop(made?),
        }
    }
    for suffix in ["-journal", "-wal", "-shm"] {
        private::open(&private::beside(&path, suffix))?;
    }
    Ok(path)
}
