//! The store of proposed writes, in the same SQLite file as the outbox that sends the approved writes.
//!
//! The agent's process and the approver's process share the file, so the approver's process doesn't trust its rows. It
//! therefore compares each command with its digest and its signature right before it sends the command.

use std::fmt::Display;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Row, TransactionBehavior, params};
use sdk_core::PreparedCommand;
use sdk_outbox::sqlite::{self, Outbox};
use sdk_outbox::{Entry, State};

use crate::output::{Exit, Failure};
use crate::private;

/// The maximum number of proposals that wait for a person, so that an agent can't flood the person.
const MOST_PENDING: i64 = 20;
/// How long decided and expired proposals are kept. They contain customer data.
const RETENTION: Duration = Duration::from_secs(30 * 24 * 3600);

/// `decision` is `approved` or `rejected`. `outbox_id` and `http_status` belong to an approved write.
const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS suite_proposal (
        digest      TEXT PRIMARY KEY,
        command     TEXT NOT NULL,
        intent      TEXT,
        created     INTEGER NOT NULL,
        expires     INTEGER NOT NULL,
        decision    TEXT,
        decided     INTEGER,
        decided_by  TEXT,
        signature   BLOB,
        outbox_id   INTEGER,
        http_status INTEGER,
        replayed    INTEGER,
        result      TEXT
    ) STRICT;
    CREATE TABLE IF NOT EXISTS suite_party (
        role   TEXT PRIMARY KEY,
        client TEXT NOT NULL,
        facts  TEXT NOT NULL
    ) STRICT;
    PRAGMA user_version = 1;";
/// The version of the tables. A later version adds its statements for earlier versions to `create_tables`.
const VERSION: i64 = 1;

const COLUMNS: &str = "digest, command, intent, created, expires, decision, decided_by, signature, outbox_id, http_status, replayed, result";

/// A row of the store, which any program with access to the file may have written.
#[derive(Clone)]
pub(crate) struct Proposal {
    pub(crate) digest: String,
    /// The stored form of the command.
    pub(crate) command: String,
    /// The agent's words.
    pub(crate) intent: Option<String>,
    pub(crate) created: i64,
    pub(crate) expires: i64,
    pub(crate) decision: Option<String>,
    pub(crate) decided_by: Option<String>,
    pub(crate) signature: Option<Vec<u8>>,
    /// The ID of the approved command in the outbox.
    pub(crate) outbox_id: Option<i64>,
    pub(crate) http_status: Option<i64>,
    pub(crate) replayed: Option<bool>,
    pub(crate) result: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Pending,
    /// No person decided in time.
    Expired,
    /// The outbox's worker sends it.
    Approved,
    /// The suite applied it.
    Done,
    /// It was approved, and a person must check it.
    Parked,
    Rejected,
}

impl Status {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Expired => "expired",
            Self::Approved => "approved",
            Self::Done => "done",
            Self::Parked => "parked",
            Self::Rejected => "rejected",
        }
    }
}

/// The status of a proposal, and the note of its command in the outbox.
pub(crate) struct Progress {
    pub(crate) status: Status,
    pub(crate) note: Option<String>,
}

#[derive(Clone)]
pub(crate) struct Approvals {
    path: PathBuf,
    pub(crate) outbox: Outbox,
}

impl Approvals {
    /// Opens the store. If `creates` is true and it doesn't exist, this creates a file that only its owner can read.
    pub(crate) async fn open(path: PathBuf, creates: bool) -> Result<Self, Failure> {
        let problem = |error: &dyn Display| {
            Failure::setup(format!(
                "the store of approvals {}: {error}",
                path.display()
            ))
        };
        let name = path.to_string_lossy();
        if name == ":memory:" || name.starts_with("file:") {
            return Err(problem(&"it must be the path of a file"));
        }
        let size = std::fs::metadata(&path).map_or(0, |it| it.len());
        if size == 0 && !creates {
            return Err(problem(
                &"it does not exist; `suite mcp approvals run` creates it",
            ));
        }
        // Another program's database must stay as it is.
        if size > 0 && !is_own_or_empty(&path).map_err(|error| problem(&error))? {
            return Err(problem(&"it is not a store of approvals"));
        }
        if let Some(folder) = path.parent().filter(|it| !it.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|error| problem(&error))?;
        }
        match private::create(&path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(problem(&error)),
            _ => {}
        }
        // These tables come first, because a file with only the outbox's tables belongs to another program.
        create_tables(&path).map_err(|error| problem(&error))?;
        let outbox = open_outbox(&path).await.map_err(|error| problem(&error))?;
        let outbox = outbox.on_receipt(|work, stored, receipt| {
            let record = "UPDATE suite_proposal SET http_status = ?2, replayed = ?3, result = ?4 WHERE digest = ?1";
            let status = i64::from(receipt.http_status);
            work.execute(record, params![stored.reference, status, receipt.replayed, receipt.body])
                .map(drop)
        });
        Ok(Self { path, outbox })
    }

    /// Stores a proposal, unless the store has it. An expired proposal becomes pending again.
    pub(crate) fn propose(
        &self,
        digest: &str,
        command: &PreparedCommand,
        intent: Option<&str>,
        lifetime: Duration,
    ) -> Result<(), Failure> {
        let command = serde_json::to_string(command).map_err(std::io::Error::from)?;
        let mut database = connect(&self.path)?;
        let work = database.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let (now, expires) = (now(), now().saturating_add(length(lifetime)));
        let known =
            "SELECT decision IS NULL AND expires <= ?2 FROM suite_proposal WHERE digest = ?1";
        let known = work.query_row(known, params![digest, now], |row| row.get(0));
        if known.optional()? == Some(false) {
            return Ok(());
        }
        let pending = "SELECT count(*) FROM suite_proposal WHERE decision IS NULL AND expires > ?1";
        let pending: i64 = work.query_row(pending, [now], |row| row.get(0))?;
        if pending >= MOST_PENDING {
            let message =
                format!("{pending} proposals already wait for a person, which is the limit");
            return Err(Failure::new(Exit::Later, "too_many_proposals", message));
        }
        let store = "INSERT INTO suite_proposal (digest, command, intent, created, expires) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT (digest) DO UPDATE SET command = ?2, intent = ?3, created = ?4, expires = ?5";
        work.execute(store, params![digest, command, intent, now, expires])?;
        work.commit()?;
        Ok(())
    }

    pub(crate) fn find(&self, digest: &str) -> Result<Option<Proposal>, Failure> {
        let find = format!("SELECT {COLUMNS} FROM suite_proposal WHERE digest = ?1");
        Ok(connect(&self.path)?
            .query_row(&find, [digest], |row| Ok(proposal(row)))
            .optional()?)
    }

    /// Returns all proposals, the oldest first.
    pub(crate) fn list(&self) -> Result<Vec<Proposal>, Failure> {
        let list = format!("SELECT {COLUMNS} FROM suite_proposal ORDER BY created, digest");
        let database = connect(&self.path)?;
        let mut list = database.prepare(&list)?;
        let list = list.query_map([], |row| Ok(proposal(row)))?;
        Ok(list.collect::<Result<_, _>>()?)
    }

    pub(crate) async fn progress(&self, proposal: &Proposal) -> Result<Progress, Failure> {
        let stored = match proposal.outbox_id {
            Some(id) => self.outbox.find(id).await?,
            None => None,
        };
        let decision = proposal.decision.as_deref();
        let status = match (decision, stored.as_ref().map(|it| it.state)) {
            (None, _) if proposal.expires <= now() => Status::Expired,
            (None, _) => Status::Pending,
            (Some(_), Some(State::Done)) => Status::Done,
            (Some("approved"), Some(State::Parked)) => Status::Parked,
            (Some("approved"), Some(state)) if state != State::Dropped => Status::Approved,
            (Some(_), _) => Status::Rejected,
        };
        Ok(Progress {
            status,
            note: stored.and_then(|it| it.late.or(it.note)),
        })
    }

    /// Approves a pending proposal, or a parked one again, and stores its command in the outbox in the same transaction.
    /// Returns whether this call approved it.
    pub(crate) fn approve(
        &self,
        digest: &str,
        command: &PreparedCommand,
        installation: &str,
        approval: &Approval<'_>,
    ) -> Result<bool, Failure> {
        let mut database = connect(&self.path)?;
        let work = database.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // The command that the person saw, and not the row, which may have changed since.
        let entry = Entry::new(command)
            .installation(installation)
            .reference(digest);
        let id = sqlite::enqueue(&work, &entry)?;
        let approve = "UPDATE suite_proposal SET decision = 'approved', decided = ?2, decided_by = ?3, signature = ?4, expires = ?5,
            outbox_id = ?6 WHERE digest = ?1 AND (decision IS NULL AND expires > ?2 OR decision = 'approved' AND outbox_id = ?7)";
        let Approval {
            by,
            signature,
            expires,
            parked,
        } = approval;
        let values = params![digest, now(), by, signature, expires, id, parked];
        if work.execute(approve, values)? == 0 {
            return Ok(false);
        }
        work.commit()?;
        Ok(true)
    }

    /// Rejects a proposal, and returns whether this call rejected it. If it was approved, an attempt in flight continues.
    pub(crate) fn reject(&self, digest: &str, by: &str) -> Result<bool, Failure> {
        let reject =
            "UPDATE suite_proposal SET decision = 'rejected', decided = ?2, decided_by = ?3
            WHERE digest = ?1 AND (decision IS NULL OR decision = 'approved' AND http_status IS NULL)";
        let rejected = connect(&self.path)?.execute(reject, params![digest, now(), by])?;
        Ok(rejected == 1)
    }

    /// Deletes proposals that were decided or expired more than 30 days ago, except parked ones.
    pub(crate) async fn purge(&self) -> Result<(), Failure> {
        // The outbox keeps parked commands, also those that were rejected or approved again since.
        let approved = |it: &Proposal| it.decision.as_deref() == Some("approved");
        let proposals = self.list()?;
        for parked in self.outbox.list(State::Parked).await? {
            let is_own = |it: &Proposal| it.outbox_id == Some(parked.id) && approved(it);
            if !proposals.iter().any(is_own) {
                // The agent needs the note, because the write may have been applied.
                let why = format!("no longer approved; {}", parked.note.unwrap_or_default());
                self.outbox.drop(parked.id, "suite", &why).await?;
            }
        }
        self.outbox.purge(RETENTION).await?;
        let purge = "DELETE FROM suite_proposal WHERE coalesce(decided, expires) < ?1
            AND (outbox_id IS NULL OR outbox_id NOT IN (SELECT id FROM sdk_outbox))";
        connect(&self.path)?.execute(purge, [now() - length(RETENTION)])?;
        Ok(())
    }

    /// Records who uses the store as the agent or as the approver.
    pub(crate) fn register(&self, role: &str, client: &str, facts: &str) -> Result<(), Failure> {
        let register = "INSERT INTO suite_party VALUES (?1, ?2, ?3) ON CONFLICT (role) DO UPDATE SET client = ?2, facts = ?3";
        connect(&self.path)?.execute(register, [role, client, facts])?;
        Ok(())
    }

    /// Returns the client ID and the facts of a role.
    pub(crate) fn party(&self, role: &str) -> Result<Option<(String, String)>, Failure> {
        let party = "SELECT client, facts FROM suite_party WHERE role = ?1";
        let party =
            connect(&self.path)?.query_row(party, [role], |row| Ok((row.get(0)?, row.get(1)?)));
        Ok(party.optional()?)
    }
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let database = Connection::open(path)?;
    database.busy_timeout(Duration::from_secs(10))?;
    database.execute_batch("PRAGMA synchronous = FULL")?;
    Ok(database)
}

fn is_own_or_empty(path: &Path) -> rusqlite::Result<bool> {
    let database = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let own = "SELECT count(*) = 0 OR sum(name = 'suite_proposal') > 0 FROM sqlite_master";
    database.query_row(own, [], |row| row.get(0))
}

fn create_tables(path: &Path) -> Result<(), Failure> {
    let mut database = connect(path)?;
    let work = database.transaction_with_behavior(TransactionBehavior::Immediate)?;
    match work.query_row("PRAGMA user_version", [], |row| row.get(0))? {
        0 => work.execute_batch(TABLES)?,
        VERSION => {}
        _ => return Err(Failure::setup("a later release of this program created it")),
    }
    work.commit()?;
    Ok(())
}

/// Opens the outbox, and tries again while another process creates it.
async fn open_outbox(path: &Path) -> Result<Outbox, sdk_outbox::Error> {
    for _ in 0..50 {
        match Outbox::open(path).await {
            Err(error) if error.is_transient() => {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            opened => return opened,
        }
    }
    Outbox::open(path).await
}

/// A person's approval.
pub(crate) struct Approval<'a> {
    pub(crate) by: &'a str,
    pub(crate) signature: Vec<u8>,
    pub(crate) expires: i64,
    /// The ID of the command in the outbox, if it is parked.
    pub(crate) parked: Option<i64>,
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        sdk_outbox::Error::from(error).into()
    }
}

/// Reads a row. A value of another type counts as absent, because any program may have written it.
fn proposal(row: &Row<'_>) -> Proposal {
    let text = |at| match row.get_ref(at) {
        Ok(ValueRef::Text(text)) => Some(String::from_utf8_lossy(text).into_owned()),
        _ => None,
    };
    let number = |at| row.get::<_, i64>(at).ok();
    Proposal {
        digest: text(0).unwrap_or_default(),
        command: text(1).unwrap_or_default(),
        intent: text(2),
        created: number(3).unwrap_or_default(),
        expires: number(4).unwrap_or_default(),
        decision: text(5),
        decided_by: text(6),
        signature: row.get(7).ok(),
        outbox_id: number(8),
        http_status: number(9),
        replayed: number(10).map(|it| it != 0),
        result: text(11),
    }
}

/// Returns the time in milliseconds since 1970-01-01.
pub(crate) fn now() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, length)
}

pub(crate) fn length(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}
