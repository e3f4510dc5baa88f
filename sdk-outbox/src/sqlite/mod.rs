//! An outbox in a SQLite database, for a service with one process, or with several processes on one machine.
//!
//! # Enqueue with another driver
//! Run this statement in the transaction that writes your own rows. `command` is the prepared command as JSON, and
//! `application` is [`PreparedCommand::application`](sdk_core::PreparedCommand::application). You can omit the other
//! columns.
//! ```sql
//! INSERT INTO sdk_outbox (application, installation, lane, reference, command)
//!     VALUES (?1, ?2, ?3, ?4, ?5)
//! ```
//!
//! # Limits
//! SQLite has one writer at a time, and its busy handler is not fair. Run one worker per file, and keep your own
//! transactions short. The crate sets the file to WAL mode. If the crate creates the file, only its owner can read it,
//! because it contains the bodies of commands. Never change or delete rows by hand.

mod store;

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior, params};
use tokio::sync::Mutex;
use tokio::time::Instant;

use self::store::millis;
use crate::entry::{Entry, StoredCommand, StoredReceipt};
use crate::error::Error;
use crate::store::migrations;

/// An outbox in a SQLite database.
pub type Outbox = crate::Outbox<Sqlite>;

/// The migrations of the tables, by version. Times are milliseconds since 1970-01-01, and states are indexes in
/// [`State::ALL`](crate::State::ALL). The `token` column is the claim ID.
const MIGRATIONS: &[&str] = &["
    CREATE TABLE sdk_outbox (
        id           INTEGER PRIMARY KEY AUTOINCREMENT,
        stored_at    INTEGER NOT NULL DEFAULT (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)),
        application  TEXT NOT NULL,
        installation TEXT NOT NULL DEFAULT '',
        lane         TEXT,
        reference    TEXT,
        state        INTEGER NOT NULL DEFAULT 0,
        due_at       INTEGER NOT NULL DEFAULT 0, -- of a command that is done or dropped: when it was
        token        TEXT,
        lease_until  INTEGER,
        lease_expired INTEGER NOT NULL DEFAULT 0, -- the last lease ended without a result
        attempts     INTEGER NOT NULL DEFAULT 0,
        first_sent   INTEGER,
        approved_at  INTEGER,
        decided_by   TEXT,
        reason       TEXT,
        note         TEXT, -- the last error, or why an operator dropped it
        late         TEXT,
        http_status  INTEGER,
        replayed     INTEGER,
        result       TEXT,
        command      TEXT NOT NULL
    ) STRICT;
    CREATE INDEX sdk_outbox_new ON sdk_outbox (id) WHERE state = 0;
    CREATE INDEX sdk_outbox_ready ON sdk_outbox (application, installation, due_at, id) WHERE state = 1;
    CREATE INDEX sdk_outbox_waiting ON sdk_outbox (lane, id) WHERE lane IS NOT NULL AND state = 2;
    CREATE INDEX sdk_outbox_leased ON sdk_outbox (lease_until) WHERE state = 3;
    CREATE INDEX sdk_outbox_parked ON sdk_outbox (id) WHERE state = 4;
    CREATE UNIQUE INDEX sdk_outbox_head ON sdk_outbox (lane) WHERE lane IS NOT NULL AND state IN (1, 3, 4);
"];

type OnReceipt =
    dyn Fn(&Transaction<'_>, &StoredCommand, &StoredReceipt) -> rusqlite::Result<()> + Send + Sync;

/// The store of an [`Outbox`].
#[derive(Clone)]
pub struct Sqlite {
    pub(crate) connection: Arc<Mutex<Connection>>,
    clock: Clock,
    on_receipt: Option<Arc<OnReceipt>>,
}

/// The clock of the store. SQLite runs in this process, so the store uses a clock of this process.
#[derive(Clone, Copy, Debug)]
enum Clock {
    /// The system's clock, which all processes on this machine share.
    System,
    /// Tokio's clock, which starts at this time. A test can pause it.
    Tokio(SystemTime, Instant),
}

impl Clock {
    fn tokio() -> Self {
        Self::Tokio(SystemTime::now(), Instant::now())
    }

    fn now(self) -> SystemTime {
        match self {
            Self::System => SystemTime::now(),
            Self::Tokio(epoch, since) => epoch + since.elapsed(),
        }
    }
}

/// Stores a command, and returns its ID.
///
/// Call it in the transaction that writes your own rows, so that both are committed or neither is.
///
/// # Errors
/// If the entry is invalid, or the database fails.
pub fn enqueue(transaction: &Connection, entry: &Entry<'_>) -> Result<i64, Error> {
    let command = entry.body()?;
    transaction.execute(
        "INSERT INTO sdk_outbox (application, installation, lane, reference, command) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![
            entry.command.application(),
            entry.installation,
            entry.lane,
            entry.reference,
            command
        ],
    )?;
    Ok(transaction.last_insert_rowid())
}

impl Outbox {
    /// Opens an outbox in a database file, which may also contain your own tables.
    ///
    /// If the file doesn't exist, this creates a file that only its owner can read. If the tables `sdk_outbox` and
    /// `sdk_outbox_version` don't exist, this creates them. This touches no other table.
    ///
    /// # Errors
    /// If the file can't be opened or written, or a later release created the tables.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref().to_owned();
        let opened = blocking(move || {
            create_private(&path).map_err(|error| Error::database(&error.to_string(), false))?;
            Sqlite::open(&path)
        });
        Ok(Self::new(opened.await?))
    }

    /// Opens an existing outbox.
    ///
    /// Use it in tools, where the path might be wrong, because it creates no file and no tables.
    ///
    /// # Errors
    /// [`Error::Missing`] if the file has no outbox, and the errors of [`open`](Self::open).
    pub async fn open_existing(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref().to_owned();
        let opened = blocking(move || {
            let file = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
            if !has_tables(&file)? {
                return Err(Error::Missing);
            }
            Sqlite::open(&path)
        });
        Ok(Self::new(opened.await?))
    }

    /// Uses tokio's clock instead of the system's clock, so that a test can
    /// [pause](https://docs.rs/tokio/latest/tokio/time/fn.pause.html) and advance it.
    ///
    /// Use it only in tests, because processes don't share tokio's clock. Prepare the commands before you advance the
    /// clock, because they contain the system's time. PostgreSQL has no such method, because a paused clock jumps ahead
    /// while a task waits for a socket.
    #[must_use]
    pub fn with_tokio_clock(mut self) -> Self {
        self.store.clock = Clock::tokio();
        self
    }

    /// Sets your own SQL, which runs in the transaction that records a receipt.
    ///
    /// If your SQL fails or panics, the receipt is not recorded, and the command is parked with the reason
    /// `not_settled`. The function runs on a thread that may block. It must not commit, and must not use the outbox or
    /// another connection to the file.
    #[must_use]
    pub fn on_receipt(
        mut self,
        record: impl Fn(&Transaction<'_>, &StoredCommand, &StoredReceipt) -> rusqlite::Result<()>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.store.on_receipt = Some(Arc::new(record));
        self
    }
}

fn has_tables(database: &Connection) -> rusqlite::Result<bool> {
    let exist = "SELECT count(*) > 0 FROM sqlite_master WHERE name = 'sdk_outbox_version'";
    database.query_row(exist, [], |row| row.get(0))
}

impl Sqlite {
    fn open(path: &Path) -> Result<Self, Error> {
        // SQLite interprets some names as databases in memory or as options.
        if path == Path::new(":memory:") || path.to_string_lossy().starts_with("file:") {
            return Err(Error::Invalid {
                parameter: "path",
                rule: "be the path of a file, not a URI or `:memory:`",
                value: path.display().to_string(),
            });
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(Duration::from_secs(5))?;
        // In WAL mode, a power failure could undo the record of a sent command unless `synchronous` is FULL.
        connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")?;
        // The transaction starts as a writer. Otherwise, it couldn't wait for other writers.
        let work = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let found = if has_tables(&work)? {
            let version = "SELECT version FROM sdk_outbox_version";
            work.query_row(version, [], |row| row.get(0))?
        } else {
            0
        };
        let missing = migrations(MIGRATIONS, found)?;
        if !missing.is_empty() {
            work.execute_batch(&missing.concat())?;
            let latest = MIGRATIONS.len();
            work.execute_batch(&format!(
                "CREATE TABLE IF NOT EXISTS sdk_outbox_version (version INTEGER NOT NULL) STRICT;
                 DELETE FROM sdk_outbox_version; INSERT INTO sdk_outbox_version VALUES ({latest})"
            ))?;
        }
        work.commit()?;
        Ok(Self {
            connection: Arc::new(Mutex::new(connection)),
            clock: Clock::System,
            on_receipt: None,
        })
    }

    /// Runs a transaction that writes, on a thread that may block. Waiting transactions don't block a thread.
    async fn transact<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>, i64) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.run(TransactionBehavior::Immediate, work).await
    }

    /// Runs a transaction that reads. It blocks no writer.
    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>, i64) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.run(TransactionBehavior::Deferred, work).await
    }

    async fn run<T: Send + 'static>(
        &self,
        behavior: TransactionBehavior,
        work: impl FnOnce(&Transaction<'_>, i64) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let mut connection = Arc::clone(&self.connection).lock_owned().await;
        let clock = self.clock;
        blocking(move || {
            let transaction = connection.transaction_with_behavior(behavior)?;
            // The time is read after the wait for other writers.
            let now = millis(clock.now());
            let result = work(&transaction, now)?;
            transaction.commit()?;
            Ok(result)
        })
        .await
    }
}

impl fmt::Debug for Sqlite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sqlite")
            .field("clock", &self.clock)
            .finish_non_exhaustive()
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(error) => Err(Error::database(&error.to_string(), false)),
        },
    }
}

/// Creates a file that only its owner can read, unless it exists. SQLite's journal files get the same permissions.
fn create_private(path: &Path) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        let is_transient = matches!(
            error.sqlite_error_code(),
            Some(
                ErrorCode::DatabaseBusy
                    | ErrorCode::DatabaseLocked
                    | ErrorCode::DiskFull
                    | ErrorCode::SystemIoFailure
                    | ErrorCode::CannotOpen
                    | ErrorCode::OutOfMemory
                    | ErrorCode::FileLockingProtocolFailed
            )
        );
        Self::database(&error.to_string(), is_transient)
    }
}
