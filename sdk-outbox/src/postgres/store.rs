//! Implements the store on PostgreSQL.

use std::time::{Duration, SystemTime};

use tokio::sync::{MappedMutexGuard, MutexGuard};
use tokio::time::{Instant, timeout};
use tokio_postgres::Row;

use super::Postgres;
use super::session::{Session, Values, rejected_by_caller};
use super::sql::{
    ADMIT, ADMIT_ALONE, ADMIT_HEADS, ADMIT_LANES, ADMIT_NEW, BATCH, CLAIM, COUNT, DROP, FIND,
    IS_SETTLED, LATE, LIST, OLDEST, PURGE, RECLAIM, RETRY, SETTLE,
};
use crate::entry::{Body, Count, State, Status, StoredCommand};
use crate::error::Error;
use crate::steps::reached;
use crate::store::{Claim, Decision, Settlement, Store, Wanted, sealed};
use crate::time::Lease;

/// The time limit for the caller's own SQL. The worker's connection waits for it.
const OWN_SQL: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 5 });

fn by_caller(what: &str) -> Error {
    Error::database(&format!("the caller's SQL {what}"), false)
}

impl Postgres {
    /// Returns the connection, and reconnects if it was lost.
    pub(super) async fn session(&self) -> Result<MappedMutexGuard<'_, Session>, Error> {
        let mut session = self.session.lock().await;
        if session.as_ref().is_none_or(|it| it.client.is_closed()) {
            *session = None;
        }
        if session.is_none() {
            let client = (self.connect)().await?;
            *session = Some(Session::new(client));
        }
        MutexGuard::try_map(session, Option::as_mut).map_err(|_| unreachable!("it was just made"))
    }

    async fn query(&self, sql: &'static str, values: Values<'_>) -> Result<Vec<Row>, Error> {
        self.session().await?.query(sql, values).await
    }

    /// Makes new commands ready, or lets them wait for earlier ones of their lane. Returns whether there may be more.
    async fn admit(&self) -> Result<bool, Error> {
        let mut session = self.session().await?;
        let mut work = session.begin().await?;
        let alone = work.query(ADMIT_ALONE, &[]).await?;
        if !alone[0].get::<_, bool>(0) {
            return Ok(false);
        }
        let new = work.query(ADMIT_NEW, &[]).await?;
        if new.is_empty() {
            return Ok(false);
        }
        let ids: Vec<i64> = new.iter().map(|row| row.get(0)).collect();
        let lanes: Vec<Option<&str>> = new.iter().map(|row| row.get(1)).collect();
        let free = work.query(ADMIT_LANES, &[&lanes]).await?;
        let free: Vec<&str> = free.iter().map(|row| row.get(0)).collect();
        let admitted = work.query(ADMIT, &[&ids, &free]).await?;
        reached("admitted without heads");
        work.query(ADMIT_HEADS, &[&free]).await?;
        reached("admitted, not committed");
        work.commit().await?;
        Ok(ids.len() == BATCH && !admitted.is_empty())
    }
}

impl sealed::Sealed for Postgres {}

impl Store for Postgres {
    async fn maintain(&self) -> Result<bool, Error> {
        let mut session = self.session().await?;
        if !session.query(RECLAIM, &[]).await?.is_empty() {
            // The released commands may be due before a cursor.
            session.cursors.clear();
        }
        drop(session);
        reached("leases ended");
        self.admit().await
    }

    async fn claim(&self, wanted: &[Wanted], lease: Duration) -> Result<Vec<Claim>, Error> {
        let held = Lease::begin(lease);
        let mut session = self.session().await?;
        if session.reset.elapsed() > Duration::from_secs(1) {
            session.cursors.clear();
            session.reset = Instant::now();
        }
        let key = |it: &Wanted| (it.application.to_owned(), it.installation.clone());
        let cursors = wanted.iter().map(|it| session.cursors.get(&key(it)));
        let (due, ids): (Vec<Option<SystemTime>>, Vec<i64>) = cursors
            .map(|it| it.map_or((None, 0), |(due, id)| (Some(*due), *id)))
            .unzip();
        let applications: Vec<&str> = wanted.iter().map(|it| it.application).collect();
        let installations: Vec<&str> = wanted.iter().map(|it| &*it.installation).collect();
        let free = wanted
            .iter()
            .map(|it| i64::try_from(it.free).unwrap_or(i64::MAX));
        let free: Vec<i64> = free.collect();
        let seconds = lease.as_secs_f64();
        let values: Values<'_> = &[&applications, &installations, &due, &ids, &free, &seconds];
        let rows = session.query(CLAIM, values).await?;
        let number =
            |row: &Row| usize::try_from(row.get::<_, i64>("number") - 1).unwrap_or_default();
        let mut last = vec![(0, None); wanted.len()];
        for row in &rows {
            let (count, cursor) = &mut last[number(row)];
            *count += 1;
            *cursor = (*cursor).max(Some((row.get("due_at"), row.get("id"))));
        }
        for (wanted, (count, cursor)) in wanted.iter().zip(last) {
            match cursor {
                Some(cursor) if count == wanted.free => session.cursors.insert(key(wanted), cursor),
                _ => session.cursors.remove(&key(wanted)),
            };
        }
        let claims = rows.iter().map(|row| Claim {
            index: wanted[number(row)].index,
            command: stored(row),
            token: row.get("token"),
            due_at: row.get("due_at"),
            approved_at: row.get("approved_at"),
            lease_expired: row.get("lease_expired"),
            at: row.get("claimed_at"),
            lease: held,
        });
        Ok(claims.collect())
    }

    async fn settle(&self, claim: &Claim, to: &Settlement) -> Result<bool, Error> {
        let mut session = self.session().await?;
        let mut work = session.begin().await?;
        let id = &claim.command.id;
        let receipt = to.receipt.as_ref();
        let settled = work
            .query(
                SETTLE,
                &[
                    id,
                    &claim.token,
                    &(to.state as i16),
                    &to.due,
                    &i32::try_from(to.attempts).unwrap_or(i32::MAX),
                    &to.first_sent,
                    &to.reason,
                    &to.note.as_deref().map(without_nul),
                    &receipt.map(|it| i32::from(it.http_status)),
                    &receipt.and_then(|it| it.replayed),
                    &receipt.map(|it| without_nul(&it.body)),
                    &to.lease_expired,
                ],
            )
            .await?;
        let mut promoted = None;
        match (receipt, settled.first()) {
            (Some(receipt), Some(row)) => {
                if let Some(record) = &self.on_receipt {
                    let recorded = record(&work.transaction, &claim.command, receipt);
                    let recorded = timeout(OWN_SQL, recorded).await;
                    let recorded = recorded.map_err(|_| by_caller("took longer than 5 s"))?;
                    recorded.map_err(|error| rejected_by_caller(&error))?;
                    if !work.query(IS_SETTLED, &[id]).await?[0].get::<_, bool>(0) {
                        return Err(by_caller("ended the transaction"));
                    }
                }
                reached("receipt stored, lane blocked");
                promoted = work.promote(row).await?;
            }
            (Some(receipt), None) => drop(work.query(LATE, &[id, &receipt.late()]).await?),
            (None, _) => {}
        }
        reached("settled, not committed");
        work.commit().await?;
        if let Some(next) = promoted {
            session.look_before(&next);
        }
        Ok(settled.len() == 1)
    }

    async fn status(&self) -> Result<Status, Error> {
        let counts = self.query(COUNT, &[]).await?;
        let counts = counts.iter().map(|row| Count {
            state: State::numbered(row.get("state")),
            reason: row.get("reason"),
            commands: row.get::<_, i64>("commands").unsigned_abs(),
        });
        let oldest = self.query(OLDEST, &[]).await?;
        Ok(Status {
            counts: counts.collect(),
            oldest: oldest.first().map(stored),
        })
    }

    async fn list(&self, state: State) -> Result<Vec<StoredCommand>, Error> {
        let found = self.query(LIST, &[&(state as i16)]).await?;
        Ok(found.iter().map(stored).collect())
    }

    async fn find(&self, id: i64) -> Result<Option<StoredCommand>, Error> {
        Ok(self.query(FIND, &[&id]).await?.first().map(stored))
    }

    async fn decide(&self, id: i64, by: &str, decision: &Decision) -> Result<bool, Error> {
        match decision {
            Decision::Retry => Ok(self.query(RETRY, &[&id, &by]).await?.len() == 1),
            Decision::Drop(why) => {
                let mut session = self.session().await?;
                let mut work = session.begin().await?;
                let dropped = work.query(DROP, &[&id, &by, why]).await?;
                let Some(row) = dropped.first() else {
                    return Ok(false);
                };
                work.promote(row).await?;
                work.commit().await?;
                Ok(true)
            }
        }
    }

    async fn purge(&self, older: Duration) -> Result<u64, Error> {
        // The age is limited, because PostgreSQL's timestamps can't be arbitrarily old.
        let (seconds, mut purged) = (older.as_secs_f64().min(3e9), 0);
        loop {
            let deleted = self.query(PURGE, &[&seconds]).await?;
            purged += deleted.len() as u64;
            if deleted.len() < BATCH {
                return Ok(purged);
            }
        }
    }
}

/// Reads a command's row, by the names of its columns.
fn stored(row: &Row) -> StoredCommand {
    let age = Duration::try_from_secs_f64(row.get("age")).unwrap_or_default();
    StoredCommand {
        id: row.get("id"),
        state: State::numbered(row.get("state")),
        application: row.get("application"),
        installation: row.get("installation"),
        lane: row.get("lane"),
        reference: row.get("reference"),
        age,
        attempts: row.get::<_, i32>("attempts").max(0).unsigned_abs(),
        first_sent: row.get("first_sent"),
        reason: row.get("reason"),
        note: row.get("note"),
        late: row.get("late"),
        command: Body(row.get("command")),
    }
}

/// Replaces NUL, which PostgreSQL can't store.
fn without_nul(text: &str) -> String {
    text.replace('\0', "\u{FFFD}")
}
