//! The service's own database: orders, the commands that follow from them, and what became of those.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OpenFlags, Params, params};
use sdk_calendar::types::CalendarCommandResult;
use sdk_core::{PreparedCommand, Receipt};
use sdk_outbox::StoredState;

use crate::steps::Steps;
use crate::{Failure, private};

const SCHEMA: &str = "
    -- With WAL, less than FULL would let a power failure undo what was sent already.
    PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;
    CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, due TEXT NOT NULL);
    -- One row per command to send. Times are milliseconds since the beginning of 1970.
    CREATE TABLE IF NOT EXISTS outbox (
        number     INTEGER PRIMARY KEY,
        order_id   TEXT NOT NULL UNIQUE REFERENCES orders (id),
        command    TEXT NOT NULL,
        due        INTEGER NOT NULL DEFAULT 0,
        attempts   INTEGER NOT NULL DEFAULT 0,
        first_sent INTEGER,
        -- When a person said: send it.
        approved   INTEGER,
        -- Why somebody has to look.
        parked     TEXT,
        -- The receipt: the event, the HTTP status, whether it had been committed before, and the body.
        event      TEXT,
        status     INTEGER,
        replayed   INTEGER,
        result     TEXT
    );
    CREATE INDEX IF NOT EXISTS ready ON outbox (due, number) WHERE event IS NULL AND parked IS NULL;
";

/// The database.
pub(crate) struct Store {
    database: Connection,
}

/// A command to send.
pub(crate) struct Pending {
    pub(crate) number: i64,
    /// As it was stored.
    pub(crate) command: String,
    pub(crate) due: SystemTime,
    pub(crate) attempts: u32,
    first_sent: Option<SystemTime>,
    approved: Option<SystemTime>,
}

impl Pending {
    /// What the rule goes by.
    pub(crate) fn state(&self, command: &PreparedCommand) -> StoredState {
        StoredState::of(command)
            .with_attempts(self.attempts)
            .with_first_sent(self.first_sent)
            .with_approved_at(self.approved)
    }
}

impl Store {
    /// Opens the database, and makes it if there is none. Only its owner can read it, and what SQLite puts beside it,
    /// which gets the permissions of the database.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let path = private_files(path)?;
        // It is there, so that it need not be made, and its path is no address.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let database = Connection::open_with_flags(path, flags)?;
        database.busy_timeout(Duration::from_secs(5))?;
        database.execute_batch(SCHEMA)?;
        Ok(Self { database })
    }

    /// Writes the order and its command, both or neither, unless they are there.
    pub(crate) fn place(
        &mut self,
        order: &str,
        due: &str,
        command: &PreparedCommand,
        steps: &Steps,
    ) -> Result<(), Failure> {
        let transaction = self.database.transaction()?;
        steps.take("in the transaction, nothing written");
        let insert = "INSERT OR IGNORE INTO orders (id, due) VALUES (?1, ?2)";
        if transaction.execute(insert, [order, due])? == 0 {
            return Ok(());
        }
        steps.take("in the transaction, order written");
        transaction.execute(
            "INSERT INTO outbox (order_id, command) VALUES (?1, ?2)",
            [order, &serde_json::to_string(command)?],
        )?;
        steps.take("in the transaction, command written");
        transaction.commit()?;
        Ok(())
    }

    /// The command that is due first.
    pub(crate) fn next(&self) -> Result<Option<Pending>, Failure> {
        let query = "SELECT number, command, due, attempts, first_sent, approved FROM outbox
             WHERE event IS NULL AND parked IS NULL ORDER BY due, number LIMIT 1";
        let mut query = self.database.prepare(query)?;
        let mut rows = query.query([])?;
        let Some(row) = rows.next()? else {
            return Ok(None);
        };
        Ok(Some(Pending {
            number: row.get(0)?,
            command: row.get(1)?,
            due: time(row.get(2)?),
            attempts: row.get(3)?,
            first_sent: row.get::<_, Option<_>>(4)?.map(time),
            approved: row.get::<_, Option<_>>(5)?.map(time),
        }))
    }

    /// Records that a command is about to be sent. From here on it may have happened.
    pub(crate) fn sending(&self, number: i64, now: SystemTime) -> Result<(), Failure> {
        let change = "attempts = attempts + 1, first_sent = coalesce(first_sent, ?2)";
        self.update(change, params![number, millis(now)?])
    }

    /// Leaves a command until later.
    pub(crate) fn postpone(
        &self,
        number: i64,
        due: SystemTime,
        first_sent: Option<SystemTime>,
    ) -> Result<(), Failure> {
        let first_sent = first_sent.map(millis).transpose()?;
        let values = params![number, millis(due)?, first_sent];
        self.update("due = ?2, first_sent = ?3", values)
    }

    /// Leaves a command to a person, and the way to the others.
    pub(crate) fn park(&self, number: i64, why: &impl Display) -> Result<(), Failure> {
        self.update("parked = ?2", params![number, why.to_string()])
    }

    /// Records what the service said. Two workers may have sent the same command: both got the same result.
    pub(crate) fn record(
        &self,
        number: i64,
        receipt: &Receipt<CalendarCommandResult>,
    ) -> Result<(), Failure> {
        let (event, status) = (&receipt.public_reference, receipt.http_status());
        let result = std::str::from_utf8(receipt.bytes())?;
        let values = params![number, event, status, receipt.replayed, result];
        self.update(
            "event = ?2, status = ?3, replayed = ?4, result = ?5",
            values,
        )
    }

    fn update(&self, change: &str, values: impl Params) -> Result<(), Failure> {
        let update = format!("UPDATE outbox SET {change} WHERE number = ?1");
        self.database.execute(&update, values)?;
        Ok(())
    }

    /// How many orders there are, how many receipts, how many of those say that an attempt before had been committed, and how
    /// many commands wait for a person.
    pub(crate) fn counts(&self) -> Result<(u32, u32, u32, u32), Failure> {
        let query = "SELECT count(*), count(event), coalesce(sum(replayed), 0), count(parked)
            FROM orders LEFT JOIN outbox ON order_id = id";
        Ok(self.database.query_row(query, [], |row| row.try_into())?)
    }
}

fn time(millis: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(millis.unsigned_abs())
}

fn millis(time: SystemTime) -> Result<i64, Failure> {
    Ok(time.duration_since(UNIX_EPOCH)?.as_millis().try_into()?)
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
