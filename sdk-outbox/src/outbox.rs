//! The outbox, for services and their operators.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use crate::entry::{State, Status, StoredCommand};
use crate::error::Error;
use crate::store::{Decision, Store};

/// A database with stored commands.
///
/// Open it with [`sqlite::Outbox::open`](crate::sqlite::Outbox) or [`postgres::Outbox::open`](crate::postgres::Outbox).
/// A [`Worker`](crate::Worker) sends its commands. Clones share the connection.
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

    /// Wakes the worker of this process.
    ///
    /// Call it after your commit. Otherwise, the worker finds new commands when it polls next.
    pub fn wake(&self) {
        self.woken.notify_one();
    }

    /// Counts the commands by state, and returns the oldest unsent command.
    ///
    /// It reads the whole table, so call it at most every 30 seconds.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn status(&self) -> Result<Status, Error> {
        self.store.status().await
    }

    /// Returns at most 1,000 commands in this state, the oldest first.
    ///
    /// Operators check the commands in [`State::Parked`]. The [guide](sdk_core::guide::outbox#operate-the-outbox) lists
    /// the action for each reason. Look a command up in the application only after the command has been parked. Until
    /// then, a worker may still be sending it.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn list(&self, state: State) -> Result<Vec<StoredCommand>, Error> {
        self.store.list(state).await
    }

    /// Returns the command with this ID, or `None` if it doesn't exist or was purged.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn find(&self, id: i64) -> Result<Option<StoredCommand>, Error> {
        self.store.find(id).await
    }

    /// Resends a parked command, even if it may have been applied. Its age and number of attempts restart from zero.
    ///
    /// `by` is the name of the operator.
    ///
    /// # Errors
    /// If the command is not parked, or the database fails.
    pub async fn retry(&self, id: i64, by: &str) -> Result<(), Error> {
        self.decide(id, by, &Decision::Retry).await
    }

    /// Drops a parked command, so that it is never sent and its lane continues.
    ///
    /// `by` is the name of the operator, and `why` is stored as the command's note.
    ///
    /// # Errors
    /// If the command is not parked, or the database fails.
    pub async fn drop(&self, id: i64, by: &str, why: &str) -> Result<(), Error> {
        self.decide(id, by, &Decision::Drop(why.to_owned())).await
    }

    /// Deletes commands that were done or dropped more than `older` ago, and returns their number.
    ///
    /// It deletes in batches, so that no transaction takes long.
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
