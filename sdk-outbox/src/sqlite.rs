//! An outbox in a SQLite database: for a service that is one process, or several on one machine.
//!
//! # Enqueue with another driver
//! One statement, in the transaction of your own rows. `command` is the prepared command as JSON, and `application` is
//! [`PreparedCommand::application`](sdk_core::PreparedCommand::application). The other columns may be left out.
//! ```sql
//! INSERT INTO sdk_outbox (application, installation, lane, reference, command) VALUES (?1, ?2, ?3, ?4, ?5)
//! ```
//!
//! # Limits
//! SQLite has one writer at a time, and its busy handler is not fair. Run one worker per file, and keep your own transactions
//! short. The file is set to WAL mode. If this crate creates it, only its owner can read it: it holds the bodies of commands.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row, Transaction, TransactionBehavior, params};

use crate::entry::{Body, Entry, State, StoredCommand, StoredReceipt};
use crate::error::Error;
use crate::outbox::{Count, Status};
use crate::steps::reached;
use crate::store::{Claim, Decision, Settlement, Store, Wanted, sealed};
use crate::time::{Clock, Lease};

/// An outbox in a SQLite database.
pub type Outbox = crate::Outbox<Sqlite>;

/// The version of the tables.
const VERSION: i64 = 1;

/// The tables. Times are milliseconds since the beginning of 1970, and states are those of [`State::ALL`]. `lease_until` of a
/// command that is ready says that its last lease ended without a result.
const SCHEMA: &str = "
    CREATE TABLE sdk_outbox (
        id           INTEGER PRIMARY KEY AUTOINCREMENT,
        stored_at    INTEGER NOT NULL DEFAULT (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)),
        application  TEXT NOT NULL,
        installation TEXT NOT NULL DEFAULT '',
        lane         TEXT,
        reference    TEXT,
        state        INTEGER NOT NULL DEFAULT 0,
        due_at       INTEGER NOT NULL DEFAULT 0,
        token        TEXT,
        lease_until  INTEGER,
        attempts     INTEGER NOT NULL DEFAULT 0,
        first_sent   INTEGER,
        approved_at  INTEGER,
        decided_by   TEXT,
        reason       TEXT,
        note         TEXT,
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
    CREATE TABLE sdk_outbox_version (version INTEGER NOT NULL) STRICT;
    INSERT INTO sdk_outbox_version VALUES (1);
";

/// Lets the next command of a lane continue, once the command ?1 no longer blocks it.
const PROMOTE: &str = "
    UPDATE sdk_outbox SET state = 1 WHERE id = (
        SELECT min(id) FROM sdk_outbox WHERE state = 2 AND lane = (SELECT lane FROM sdk_outbox WHERE id = ?1)
    )";

/// The columns of [`stored`].
const COLUMNS: &str = "id, state, application, installation, lane, reference, stored_at, attempts, first_sent, reason, note, late, command";

type OnReceipt =
    dyn Fn(&Transaction<'_>, &StoredCommand, &StoredReceipt) -> rusqlite::Result<()> + Send + Sync;

/// The store of an [`Outbox`].
#[derive(Clone)]
pub struct Sqlite {
    pub(crate) connection: Arc<Mutex<Connection>>,
    clock: Clock,
    on_receipt: Option<Arc<OnReceipt>>,
}

/// Stores a command, and returns its ID. Call it within the transaction of your own rows: both are committed, or neither.
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
    /// Opens an outbox in a database file, which may hold your own tables, too. If there is no file, it is created for its
    /// owner alone. Makes the tables `sdk_outbox` and `sdk_outbox_version` if there are none, and touches no other table.
    ///
    /// # Errors
    /// If the file can't be opened or written, or a later release made the tables.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref().to_owned();
        let opened = blocking(move || Sqlite::open(&path)).await?;
        Ok(Self::new(opened))
    }

    /// Sets SQL of your own that runs in the transaction that records a receipt. If it fails, the receipt is not recorded: the
    /// command is parked with the reason `not_settled`. It must not commit, and runs on a thread that may block.
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

impl Sqlite {
    fn open(path: &Path) -> Result<Self, Error> {
        create_private(path).map_err(|error| Error::database(error, false))?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(Duration::from_secs(5))?;
        // With WAL, less than FULL would let a power failure undo what was sent already.
        connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")?;
        let work = begin(&mut connection)?;
        let tables = "SELECT count(*) FROM sqlite_master WHERE name = 'sdk_outbox_version'";
        if work.query_row(tables, [], |row| row.get::<_, i64>(0))? == 0 {
            work.execute_batch(SCHEMA)?;
        }
        let found = work.query_row("SELECT version FROM sdk_outbox_version", [], |row| {
            row.get(0)
        })?;
        if found > VERSION {
            let known = VERSION;
            return Err(Error::TooNew { found, known });
        }
        work.commit()?;
        Ok(Self {
            connection: Arc::new(Mutex::new(connection)),
            clock: Clock::Database,
            on_receipt: None,
        })
    }

    /// Runs a transaction on a thread that may block.
    async fn transact<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>, i64) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (connection, clock) = (Arc::clone(&self.connection), self.clock);
        blocking(move || {
            // A transaction whose thread panicked was rolled back.
            let mut connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
            let transaction = begin(&mut connection)?;
            // After the wait for other writers. SQLite's own clock is this machine's, too.
            let now = millis(clock.now().unwrap_or_else(SystemTime::now));
            let result = work(&transaction, now)?;
            transaction.commit()?;
            Ok(result)
        })
        .await
    }
}

impl sealed::Sealed for Sqlite {}

impl Store for Sqlite {
    fn set_clock(&mut self, clock: Clock) {
        self.clock = clock;
    }

    async fn maintain(&self) -> Result<(), Error> {
        // In batches, so that the service's own transactions get their turn.
        while self.transact(admit).await? {}
        self.transact(|work, now| {
            let reclaim = "UPDATE sdk_outbox SET state = 1, token = NULL WHERE state = 3 AND lease_until < ?1";
            work.execute(reclaim, [now])?;
            reached("leases ended, not committed");
            Ok(())
        })
        .await
    }

    async fn claim(&self, wanted: &[Wanted], lease: Duration) -> Result<Vec<Claim>, Error> {
        let (wanted, held) = (wanted.to_vec(), Lease::begin(lease));
        self.transact(move |work, now| {
            let mut claims = Vec::new();
            for wanted in &wanted {
                claim(work, wanted, now, held, lease, &mut claims)?;
            }
            reached("claimed, not committed");
            Ok(claims)
        })
        .await
    }

    async fn settle(&self, claim: &Claim, to: &Settlement) -> Result<bool, Error> {
        let (claim, to, record) = (claim.clone(), to.clone(), self.on_receipt.clone());
        self.transact(move |work, now| settle(work, &claim, &to, now, record.as_deref()))
            .await
    }

    async fn status(&self) -> Result<Status, Error> {
        self.transact(|work, now| {
            let counts = "SELECT state, CASE WHEN state = 4 THEN reason END AS reason, count(*) FROM sdk_outbox GROUP BY 1, 2 ORDER BY 1, 2";
            let mut counts = work.prepare(counts)?;
            let counts = counts.query_map([], |row| {
                let (state, reason, commands): (i16, _, i64) = row.try_into()?;
                let (state, commands) = (State::numbered(state), commands.unsigned_abs());
                Ok(Count { state, reason, commands })
            })?;
            let oldest = format!("SELECT {COLUMNS} FROM sdk_outbox WHERE state < 4 ORDER BY id LIMIT 1");
            let mut oldest = work.prepare(&oldest)?;
            let mut oldest = oldest.query_map([], |row| stored(row, now))?;
            Ok(Status {
                counts: counts.collect::<Result<_, _>>()?,
                oldest: oldest.next().transpose()?,
            })
        })
        .await
    }

    async fn parked(&self) -> Result<Vec<StoredCommand>, Error> {
        self.transact(|work, now| {
            let parked =
                format!("SELECT {COLUMNS} FROM sdk_outbox WHERE state = 4 ORDER BY id LIMIT 1000");
            let mut parked = work.prepare(&parked)?;
            let parked = parked.query_map([], |row| stored(row, now))?;
            Ok(parked.collect::<Result<_, _>>()?)
        })
        .await
    }

    async fn decide(&self, id: i64, by: &str, decision: &Decision) -> Result<bool, Error> {
        let (by, decision) = (by.to_owned(), decision.clone());
        self.transact(move |work, now| match decision {
            Decision::Retry => {
                let retry = "UPDATE sdk_outbox SET state = 1, due_at = ?2, attempts = 0, first_sent = NULL, approved_at = ?2,
                    decided_by = ?3, reason = NULL, note = NULL, late = NULL, lease_until = NULL WHERE id = ?1 AND state = 4";
                Ok(work.execute(retry, params![id, now, by])? == 1)
            }
            Decision::Drop(why) => {
                let drop = "UPDATE sdk_outbox SET state = 6, due_at = ?2, decided_by = ?3, note = ?4 WHERE id = ?1 AND state = 4";
                let dropped = work.execute(drop, params![id, now, by, why])? == 1;
                if dropped {
                    work.execute(PROMOTE, [id])?;
                }
                Ok(dropped)
            }
        })
        .await
    }

    async fn purge(&self, older: Duration) -> Result<u64, Error> {
        let (older, mut purged) = (length(older), 0);
        loop {
            let deleted = self.transact(move |work, now| {
                let delete = "DELETE FROM sdk_outbox WHERE id IN
                    (SELECT id FROM sdk_outbox WHERE state IN (5, 6) AND due_at < ?1 ORDER BY id LIMIT ?2)";
                Ok(work.execute(delete, [now.saturating_sub(older), BATCH.into()])?)
            });
            let deleted = deleted.await?;
            purged += deleted as u64;
            if deleted < BATCH as usize {
                return Ok(purged);
            }
        }
    }
}

impl fmt::Debug for Sqlite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sqlite")
            .field("clock", &self.clock)
            .finish_non_exhaustive()
    }
}

/// How many commands are admitted or deleted in a transaction.
const BATCH: u32 = 500;

/// Admits new commands: each is ready, or waits for another one of its lane. Returns whether there may be more.
fn admit(work: &Transaction<'_>, now: i64) -> Result<bool, Error> {
    let new = "SELECT id, lane FROM sdk_outbox WHERE state = 0 ORDER BY id LIMIT ?1";
    let mut new = work.prepare(new)?;
    let new: Vec<(i64, bool)> = new
        .query_map([BATCH], |row| {
            Ok((row.get(0)?, row.get_ref(1)? == ValueRef::Null))
        })?
        .collect::<Result<_, _>>()?;
    // Not before the commands that came first.
    let mut admit = work
        .prepare("UPDATE sdk_outbox SET state = ?2, due_at = min(stored_at, ?3) WHERE id = ?1")?;
    let mut head = work.prepare(
        "UPDATE sdk_outbox SET state = 1 WHERE id = ?1 AND NOT EXISTS (
            SELECT 1 FROM sdk_outbox AS head WHERE head.lane = sdk_outbox.lane AND head.lane IS NOT NULL AND head.state IN (1, 3, 4)
        )",
    )?;
    for (id, is_free) in &new {
        admit.execute(params![id, if *is_free { 1 } else { 2 }, now])?;
        if !is_free {
            head.execute([id])?;
        }
    }
    reached("admitted, not committed");
    Ok(new.len() == BATCH as usize)
}

fn claim(
    work: &Transaction<'_>,
    wanted: &Wanted,
    now: i64,
    held: Lease,
    lease: Duration,
    claims: &mut Vec<Claim>,
) -> Result<(), Error> {
    let due = format!(
        "SELECT {COLUMNS}, approved_at, lease_until IS NOT NULL, lower(hex(randomblob(16))), due_at FROM sdk_outbox
         WHERE state = 1 AND application = ?1 AND installation = ?2 AND due_at <= ?3 ORDER BY due_at, id LIMIT ?4"
    );
    let mut due = work.prepare(&due)?;
    let free = i64::try_from(wanted.free).unwrap_or(i64::MAX);
    let due = due.query_map(
        params![wanted.application, wanted.installation, now, free],
        |row| {
            Ok(Claim {
                command: stored(row, now)?,
                approved_at: row.get::<_, Option<i64>>(13)?.map(time),
                lease_expired: row.get(14)?,
                token: row.get(15)?,
                due_at: time(row.get(16)?),
                at: time(now),
                lease: held,
            })
        },
    )?;
    let mut take = work.prepare(
        "UPDATE sdk_outbox SET state = 3, token = ?2, lease_until = ?3, attempts = attempts + 1,
            first_sent = coalesce(first_sent, ?4) WHERE id = ?1",
    )?;
    for claim in due.collect::<Result<Vec<_>, _>>()? {
        let until = now.saturating_add(length(lease));
        take.execute(params![claim.command.id, claim.token, until, now])?;
        claims.push(claim);
    }
    Ok(())
}

fn settle(
    work: &Transaction<'_>,
    claim: &Claim,
    to: &Settlement,
    now: i64,
    record: Option<&OnReceipt>,
) -> Result<bool, Error> {
    let (id, token) = (claim.command.id, &claim.token);
    // By ID and token only: who has another token changes nothing.
    let settle = "UPDATE sdk_outbox SET state = ?3, due_at = ?4, attempts = ?5, first_sent = ?6, reason = ?7, note = ?8,
        http_status = ?9, replayed = ?10, result = ?11, token = NULL, lease_until = CASE WHEN ?12 THEN lease_until END
        WHERE id = ?1 AND token = ?2";
    let receipt = to.receipt.as_ref();
    let settled = work.execute(
        settle,
        params![
            id,
            token,
            to.state as i64,
            to.due.map_or(now, millis),
            to.attempts,
            to.first_sent.map(millis),
            to.reason,
            to.note,
            receipt.map(|it| i64::from(it.http_status)),
            receipt.and_then(|it| it.replayed),
            receipt.map(|it| &it.body),
            to.lease_expired,
        ],
    )?;
    if let Some(receipt) = receipt {
        if settled == 0 {
            let late = "UPDATE sdk_outbox SET late = ?2 WHERE id = ?1 AND state <> 5";
            work.execute(late, params![id, receipt.late()])?;
        } else {
            if let Some(record) = record {
                record(work, &claim.command, receipt)?;
            }
            reached("receipt stored, lane blocked");
            work.execute(PROMOTE, [id])?;
            reached("lane continued, not committed");
        }
    }
    reached("settled, not committed");
    Ok(settled == 1)
}

/// A row of [`COLUMNS`].
fn stored(row: &Row<'_>, now: i64) -> rusqlite::Result<StoredCommand> {
    let required = |at| text(row, at).map(Option::unwrap_or_default);
    let age = now.saturating_sub(row.get(6)?).max(0).unsigned_abs();
    Ok(StoredCommand {
        id: row.get(0)?,
        state: State::numbered(row.get(1)?),
        application: required(2)?,
        installation: required(3)?,
        lane: text(row, 4)?,
        reference: text(row, 5)?,
        age: Duration::from_millis(age),
        attempts: u32::try_from(row.get::<_, i64>(7)?).unwrap_or(u32::MAX),
        first_sent: row.get::<_, Option<i64>>(8)?.map(time),
        reason: text(row, 9)?,
        note: text(row, 10)?,
        late: text(row, 11)?,
        command: Body(text(row, 12)?),
    })
}

/// A column that another program may have filled with anything.
fn text(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<String>> {
    Ok(match row.get_ref(at)? {
        ValueRef::Text(text) => Some(String::from_utf8_lossy(text).into_owned()),
        _ => None,
    })
}

fn begin(connection: &mut Connection) -> rusqlite::Result<Transaction<'_>> {
    // A transaction that only becomes a writer later can't wait for the other writers.
    connection.transaction_with_behavior(TransactionBehavior::Immediate)
}

fn time(millis: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(millis.max(0).unsigned_abs())
}

fn millis(time: SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH).map_or(0, length)
}

fn length(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(error) => Err(Error::database(error, false)),
        },
    }
}

/// Creates a file that only its owner can read, unless there is one. SQLite gives the files next to it the same permissions.
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
        let is_passing = matches!(
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
        Self::database(error, is_passing)
    }
}
