//! The interface between worker and database, which only the stores of this crate implement.

use std::fmt;
use std::time::{Duration, SystemTime};

use sdk_core::PreparedCommand;

use crate::entry::{State, Status, StoredCommand, StoredReceipt};
use crate::error::Error;
use crate::state::StoredState;
use crate::time::Lease;

pub(crate) mod sealed {
    pub trait Sealed {}
}

/// A database with stored commands: [`Sqlite`](crate::sqlite::Sqlite) or [`Postgres`](crate::postgres::Postgres).
///
/// [`Outbox`](crate::Outbox) and [`Worker`](crate::Worker) call its methods, so you don't have to. Clones share the
/// connection.
pub trait Store: sealed::Sealed + Clone + fmt::Debug + Send + Sync + 'static {
    /// Admits a batch of new commands to their lanes, and releases commands whose lease expired. Returns whether there
    /// may be more new commands.
    #[doc(hidden)]
    fn maintain(&self) -> impl Future<Output = Result<bool, Error>> + Send;

    /// Claims commands that are due, at most `free` for each sender.
    #[doc(hidden)]
    fn claim(
        &self,
        wanted: &[Wanted],
        lease: Duration,
    ) -> impl Future<Output = Result<Vec<Claim>, Error>> + Send;

    /// Records the result of a claim in one transaction. Returns false if the claim ID no longer matches,
    /// because the lease expired. In that case, only `late` may change.
    #[doc(hidden)]
    fn settle(
        &self,
        claim: &Claim,
        to: &Settlement,
    ) -> impl Future<Output = Result<bool, Error>> + Send;

    #[doc(hidden)]
    fn status(&self) -> impl Future<Output = Result<Status, Error>> + Send;

    #[doc(hidden)]
    fn list(&self, state: State) -> impl Future<Output = Result<Vec<StoredCommand>, Error>> + Send;

    #[doc(hidden)]
    fn find(&self, id: i64) -> impl Future<Output = Result<Option<StoredCommand>, Error>> + Send;

    /// Records the decision of an operator. Returns false if the command is not parked.
    #[doc(hidden)]
    fn decide(
        &self,
        id: i64,
        by: &str,
        decision: &Decision,
    ) -> impl Future<Output = Result<bool, Error>> + Send;

    /// Deletes commands that were done or dropped more than `older` ago, and returns their number.
    #[doc(hidden)]
    fn purge(&self, older: Duration) -> impl Future<Output = Result<u64, Error>> + Send;
}

/// Returns the migrations that are missing from tables of the version `found`.
pub(crate) fn migrations<'a>(all: &'a [&'a str], found: i64) -> Result<&'a [&'a str], Error> {
    let missing = usize::try_from(found).ok().and_then(|it| all.get(it..));
    let known = all.len();
    missing.ok_or(Error::TooNew { found, known })
}

/// The number of commands that a worker can take for one of its senders.
#[derive(Clone, Debug)]
pub struct Wanted {
    pub(crate) application: &'static str,
    pub(crate) installation: String,
    pub(crate) free: usize,
    pub(crate) index: usize,
}

/// A command that this worker has claimed until its lease expires.
#[derive(Clone, Debug)]
pub struct Claim {
    pub(crate) index: usize,
    /// The command before the claim. In the database, the claim counts an attempt and sets the first sending, in case
    /// this process dies.
    pub(crate) command: StoredCommand,
    /// The claim ID, a random value in the `token` column that changes with each claim.
    pub(crate) token: String,
    pub(crate) due_at: SystemTime,
    pub(crate) approved_at: Option<SystemTime>,
    /// Whether the last lease expired without a result.
    pub(crate) lease_expired: bool,
    /// The time of the claim by the store's clock.
    pub(crate) at: SystemTime,
    pub(crate) lease: Lease,
}

impl Claim {
    pub(crate) fn state(&self, command: &PreparedCommand) -> StoredState {
        StoredState::of(command)
            .with_attempts(self.command.attempts)
            .with_first_sent(self.command.first_sent)
            .with_approved_at(self.approved_at)
            .with_lease_expired(self.lease_expired)
    }

    /// Returns the current time by the store's clock.
    pub(crate) fn now(&self) -> SystemTime {
        self.at + self.lease.elapsed()
    }
}

/// The columns that change when a claim ends.
#[derive(Clone, Debug)]
pub struct Settlement {
    pub(crate) state: State,
    /// The time at which the command is due again, or `None` for now.
    pub(crate) due: Option<SystemTime>,
    pub(crate) attempts: u32,
    pub(crate) first_sent: Option<SystemTime>,
    /// Whether the last lease expired without a result.
    pub(crate) lease_expired: bool,
    pub(crate) reason: Option<&'static str>,
    pub(crate) note: Option<String>,
    pub(crate) receipt: Option<StoredReceipt>,
}

impl Settlement {
    /// The result of a command that was not sent. Every column returns to its value before the claim.
    pub(crate) fn released(claim: &Claim) -> Self {
        Self {
            state: State::Ready,
            due: Some(claim.due_at),
            attempts: claim.command.attempts,
            first_sent: claim.command.first_sent,
            lease_expired: claim.lease_expired,
            reason: None,
            note: claim.command.note.clone(),
            receipt: None,
        }
    }

    pub(crate) fn done(claim: &Claim, receipt: StoredReceipt) -> Self {
        Self {
            state: State::Done,
            due: None,
            attempts: claim.command.attempts + 1,
            first_sent: claim.command.first_sent.or(Some(claim.at)),
            note: None,
            receipt: Some(receipt),
            ..Self::released(claim)
        }
    }

    pub(crate) fn later(
        claim: &Claim,
        at: SystemTime,
        first_sent: Option<SystemTime>,
        note: String,
    ) -> Self {
        Self {
            due: Some(at),
            attempts: claim.command.attempts + 1,
            first_sent,
            lease_expired: false,
            note: Some(note),
            ..Self::released(claim)
        }
    }

    /// An operator must look at it.
    pub(crate) fn parked(
        claim: &Claim,
        reason: &'static str,
        first_sent: Option<SystemTime>,
        note: String,
    ) -> Self {
        Self {
            state: State::Parked,
            attempts: claim.command.attempts + 1,
            first_sent,
            reason: Some(reason),
            note: Some(note),
            ..Self::released(claim)
        }
    }
}

/// The decision of an operator about a parked command.
#[derive(Clone, Debug)]
pub enum Decision {
    /// Resend the command, even if it may have been applied.
    Retry,
    /// Never send the command, for this reason.
    Drop(String),
}
