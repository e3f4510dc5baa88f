//! The outbox as a service and its operators see it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use crate::entry::{State, Status, StoredCommand};
use crate::error::Error;
use crate::store::{Decision, Store};

/// Stored commands in a database. Its clones share the connection.
///
/// Open it with [`sqlite::Outbox::open`](crate::sqlite::Outbox) or [`postgres::Outbox::open`](crate::postgres::Outbox). A
/// [`Worker`](crate::Worker) sends what it holds.
#[derive(Clone, Debug)]
pub struct Outbox<S> {
    pub(crate) store: S,
    pub(crate) woken: Arc<Notify>,
}

impl<S: Store> Outbox<S> {
    pub(crate) fn new(store: S) -> Self {
        let woken = Arc::default();
        Self { store, woken }
    }

    /// Wakes the worker of this process. Call it after your commit; without it, a worker finds new commands the next time it
    /// polls.
    pub fn wake(&self) {
        self.woken.notify_one();
    }

    /// Counts the commands by state, and returns the oldest unsent command. It reads the whole table, so call it every 30 seconds
    /// at most.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn status(&self) -> Result<Status, Error> {
        self.store.status().await
    }

    /// The commands in a state, the oldest first, at most 1,000 of them.
    ///
    /// [`State::Parked`] is the list for operators. The [guide](sdk_core::guide::outbox#operate-the-outbox) says what to do for
    /// each reason. Look in the application after a command was parked, because a worker may have been sending it until then.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn list(&self, state: State) -> Result<Vec<StoredCommand>, Error> {
        self.store.list(state).await
    }

    /// The command with this ID, unless it was purged.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn find(&self, id: i64) -> Result<Option<StoredCommand>, Error> {
        self.store.find(id).await
    }

    /// Resends a parked command, even if it may have been applied. Its age and attempts start again. `by` names the operator.
    ///
    /// # Errors
    /// If it is not parked, or the database fails.
    pub async fn retry(&self, id: i64, by: &str) -> Result<(), Error> {
        self.decide(id, by, &Decision::Retry).await
    }

    /// Never sends a parked command, so that its lane continues. `by` names the operator, and `why` is stored as its note.
    ///
    /// # Errors
    /// If it is not parked, or the database fails.
    pub async fn drop(&self, id: i64, by: &str, why: &str) -> Result<(), Error> {
        self.decide(id, by, &Decision::Drop(why.to_owned())).await
    }

    /// Deletes commands that were done or dropped longer ago than `older`, in batches, and returns their number.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn purge(&self, older: Duration) -> Result<u64, Error> {
        self.store.purge(older).await
    }

    async fn decide(&self, id: i64, by: &str, decision: &Decision) -> Result<(), Error> {
        if !self.store.decide(id, by, decision).await? {
            return Err(Error::NotParked { id });
        }
        self.wake();
        Ok(())
    }
}
