//! The table of the commands, by the SQL of the guide.

use std::collections::HashMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use sdk_core::PreparedCommand;
use sdk_outbox::StoredState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, NoTls, Row, Statement, Transaction};

use crate::Failure;

/// Each statement after a line `-- name: ...`.
const SQL: &str = include_str!("../../sdk-core/docs/outbox_postgres.sql");

/// The states, by number.
const STATES: [&str; 7] = [
    "new", "ready", "waiting", "leased", "parked", "done", "dropped",
];

pub(crate) type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

/// A connection to the database.
pub(crate) struct Store {
    pub(crate) client: Client,
    sql: HashMap<&'static str, Statement>,
}

/// A command that this process has for as long as its lease lasts.
pub(crate) struct Claim {
    pub(crate) id: i64,
    lane: Option<(String, i64)>,
    token: String,
    /// Without a body there is none.
    pub(crate) command: Option<String>,
    pub(crate) attempts: u32,
    first_sent: Option<SystemTime>,
    approved_at: Option<SystemTime>,
    lease_expired: bool,
    /// When it was claimed, by the database.
    pub(crate) at: SystemTime,
    lease: Lease,
}

impl Claim {
    /// What the rule goes by.
    pub(crate) fn state(&self, command: &PreparedCommand) -> StoredState {
        StoredState::of(command)
            .with_attempts(self.attempts)
            .with_first_sent(self.first_sent)
            .with_approved_at(self.approved_at)
            .with_lease_expired(self.lease_expired)
    }

    /// How much is left of its lease.
    pub(crate) fn left(&self) -> Duration {
        self.lease.left()
    }
}

/// A lease, counted from before it was asked for, by both clocks: one stands still while the machine sleeps, and the other
/// can be set back.
#[derive(Clone, Copy)]
struct Lease {
    since: (Instant, SystemTime),
    length: Duration,
}

impl Lease {
    fn begin(length: Duration) -> Self {
        let since = (Instant::now(), SystemTime::now());
        Self { since, length }
    }

    fn left(&self) -> Duration {
        let slept = self.since.1.elapsed().unwrap_or_default();
        self.length
            .saturating_sub(self.since.0.elapsed().max(slept))
    }
}

/// Where the next claim goes on.
#[derive(Clone, Copy)]
pub(crate) struct Cursor(SystemTime, i64);

impl Cursor {
    pub(crate) const START: Self = Self(UNIX_EPOCH, 0);
}

/// What becomes of a claim.
#[derive(Debug)]
pub(crate) enum Settled {
    /// HTTP status, whether it was a replay, result.
    Done(u16, Option<bool>, String),
    /// When it is due again, since when it may have been sent, why.
    Later(SystemTime, Option<SystemTime>, String),
    /// Reason and explanation.
    Parked(&'static str, String),
}

/// A database, and the schema in it.
#[derive(Clone)]
pub(crate) struct Address {
    pub(crate) config: Config,
    pub(crate) schema: String,
}

impl Store {
    /// Makes schema and tables, if there are none.
    pub(crate) async fn install(address: &Address) -> Result<(), Failure> {
        let (client, connection) = address.config.connect(NoTls).await?;
        tokio::spawn(connection);
        let (schema, tables) = (&address.schema, statements().next().unwrap_or_default().1);
        // One process at a time: IF NOT EXISTS alone is no protection against another.
        let alone = "SELECT pg_advisory_xact_lock(hashtext('outbox schema'))";
        let make = format!("BEGIN; {alone}; CREATE SCHEMA IF NOT EXISTS {schema}");
        let all = format!("{make}; SET search_path TO {schema}; {tables} COMMIT");
        Ok(client.batch_execute(&all).await?)
    }

    pub(crate) async fn connect(address: &Address) -> Result<Self, Failure> {
        let (client, connection) = address.config.connect(NoTls).await?;
        tokio::spawn(connection);
        let enter = format!("SET search_path TO {}", address.schema);
        client.batch_execute(&enter).await?;
        let mut sql = HashMap::new();
        for (name, text) in statements().skip(1) {
            if name == "session" {
                client.batch_execute(text).await?;
            } else {
                let text = text.split(";\n").next().unwrap_or(text);
                sql.insert(name, client.prepare(text).await?);
            }
        }
        Ok(Self { client, sql })
    }

    /// Stores a command, in the transaction of the business row.
    pub(crate) async fn place(
        &mut self,
        lane: Option<&str>,
        command: &PreparedCommand,
    ) -> Result<(), Failure> {
        Ok(self.placing(lane, command).await?.commit().await?)
    }

    /// As above, but for the commit.
    pub(crate) async fn placing(
        &mut self,
        lane: Option<&str>,
        command: &PreparedCommand,
    ) -> Result<Transaction<'_>, Failure> {
        let command = serde_json::to_string(command)?;
        let work = Work(self.client.transaction().await?, &self.sql);
        // Here the service writes its own row.
        if let Some(lane) = lane {
            work.query("lock_lane", &[&lane]).await?;
        }
        work.change("enqueue", &[&lane, &command]).await?;
        Ok(work.0)
    }

    /// What a worker does every second: lets new commands into their lanes, and takes back what ran out.
    pub(crate) async fn keep_house(&mut self) -> Result<(), Failure> {
        self.change("reclaim", &[]).await?;
        let work = Work(self.client.transaction().await?, &self.sql);
        let alone = work.query("admit_alone", &[]).await?;
        if !alone[0].get::<_, bool>(0) {
            return Ok(());
        }
        let new = work.query("admit_new", &[]).await?;
        let ids: Vec<i64> = new.iter().map(|row| row.get(0)).collect();
        let lanes: Vec<&str> = new.iter().map(|row| row.get(1)).collect();
        if !ids.is_empty() {
            let free = work.query("admit_lanes", &[&lanes]).await?;
            let free: Vec<&str> = free.iter().map(|row| row.get(0)).collect();
            work.change("admit_wait", &[&ids, &free]).await?;
            work.change("admit_ready", &[&ids]).await?;
        }
        Ok(work.0.commit().await?)
    }

    /// Claims the next command that is due, if there is one.
    pub(crate) async fn claim(
        &self,
        after: &mut Cursor,
        lease: Duration,
    ) -> Result<Option<Claim>, Failure> {
        let held = Lease::begin(lease);
        let values: Values<'_> = &[&after.0, &after.1, &lease.as_secs_f64()];
        let rows = self.client.query(&self.sql["claim"], values).await?;
        let Some(row) = rows.first() else {
            *after = Cursor::START;
            return Ok(None);
        };
        *after = Cursor(row.get("due_at"), row.get("id"));
        Ok(Some(Claim {
            id: row.get("id"),
            lane: lane_of(row),
            token: row.get("token"),
            command: row.get("command"),
            attempts: row.get::<_, i32>("attempts").unsigned_abs(),
            first_sent: row.get("first_sent"),
            approved_at: row.get("approved_at"),
            lease_expired: row.get("lease_expired"),
            at: row.get("claimed_at"),
            lease: held,
        }))
    }

    /// Writes down what became of a claim; false if the lease ran out and somebody else has it.
    pub(crate) async fn settle(&mut self, claim: &Claim, to: &Settled) -> Result<bool, Failure> {
        let (changed, work) = self.settling(claim, to).await?;
        work.commit().await?;
        Ok(changed > 0)
    }

    /// As above, but for the commit.
    pub(crate) async fn settling(
        &mut self,
        claim: &Claim,
        to: &Settled,
    ) -> Result<(u64, Transaction<'_>), Failure> {
        let work = Work(self.client.transaction().await?, &self.sql);
        let (id, token) = (&claim.id, &claim.token);
        let changed = match to {
            Settled::Done(status, replayed, result) => {
                let (changed, status) =
                    (work.change("done", &[id, token]).await?, i32::from(*status));
                if changed == 0 {
                    let note = format!("it did happen: {status} {result}");
                    work.change("late", &[id, &note]).await?;
                } else {
                    // Here the service writes what follows from it, in the same transaction.
                    let receipt: Values<'_> = &[id, &status, replayed, result];
                    work.change("receipt", receipt).await?;
                    work.promote(claim.lane.as_ref()).await?;
                }
                changed
            }
            Settled::Later(at, first_sent, note) => {
                let values: Values<'_> = &[id, token, at, first_sent, note];
                work.change("later", values).await?
            }
            Settled::Parked(reason, note) => {
                work.change("park", &[id, token, reason, note]).await?
            }
        };
        Ok((changed, work.0))
    }

    /// Of each state: how many commands, the age of the oldest in seconds, the most attempts.
    pub(crate) async fn status(&self) -> Result<Vec<(&'static str, i64, f64, i32)>, Failure> {
        let rows = self.client.query(&self.sql["status"], &[]).await?;
        let state = |row: &Row| STATES[usize::try_from(row.get::<_, i16>(0)).unwrap_or_default()];
        let status = rows
            .iter()
            .map(|row| (state(row), row.get(1), row.get(2), row.get(3)));
        Ok(status.collect())
    }

    /// What waits for a person, why, and the stored command.
    pub(crate) async fn parked(&self) -> Result<Vec<(i64, String, String)>, Failure> {
        let rows = self.client.query(&self.sql["parked"], &[]).await?;
        Ok(rows
            .iter()
            .map(|row| (row.get(0), row.get(1), row.get(2)))
            .collect())
    }

    /// A person says: send it, whatever was before.
    pub(crate) async fn retry(&self, id: i64) -> Result<(), Failure> {
        one(self.change("retry", &[&id]).await?, id)
    }

    /// A person says: it happened, or need not happen.
    pub(crate) async fn drop(&mut self, id: i64) -> Result<(), Failure> {
        let work = Work(self.client.transaction().await?, &self.sql);
        let rows = work.query("drop", &[&id]).await?;
        one(rows.len() as u64, id)?;
        work.promote(lane_of(&rows[0]).as_ref()).await?;
        Ok(work.0.commit().await?)
    }

    /// Deletes what was settled longer ago; receipts stay.
    pub(crate) async fn purge(&self, seconds: f64) -> Result<u64, Failure> {
        let mut deleted = 0;
        loop {
            match self.change("purge", &[&seconds]).await? {
                0 => return Ok(deleted),
                more => deleted += more,
            }
        }
    }

    /// Deletes the schema with all that is in it.
    pub(crate) async fn delete(&self, address: &Address) -> Result<(), Failure> {
        let delete = format!("DROP SCHEMA {} CASCADE", address.schema);
        Ok(self.client.batch_execute(&delete).await?)
    }

    async fn change(&self, name: &str, values: Values<'_>) -> Result<u64, Failure> {
        Ok(self.client.execute(&self.sql[name], values).await?)
    }
}

fn statements() -> impl Iterator<Item = (&'static str, &'static str)> {
    SQL.split("-- name: ")
        .skip(1)
        .filter_map(|text| text.split_once('\n'))
}

/// A transaction; it is rolled back unless it is committed.
struct Work<'a>(Transaction<'a>, &'a HashMap<&'static str, Statement>);

impl Work<'_> {
    async fn query(&self, name: &str, values: Values<'_>) -> Result<Vec<Row>, Failure> {
        Ok(self.0.query(&self.1[name], values).await?)
    }

    /// Lets the next in a lane go on.
    async fn promote(&self, lane: Option<&(String, i64)>) -> Result<(), Failure> {
        if let Some((lane, place)) = lane {
            self.query("lock_head", &[lane]).await?;
            self.change("promote", &[lane, place]).await?;
        }
        Ok(())
    }

    async fn change(&self, name: &str, values: Values<'_>) -> Result<u64, Failure> {
        Ok(self.0.execute(&self.1[name], values).await?)
    }
}

/// Its lane, and its place in it.
fn lane_of(row: &Row) -> Option<(String, i64)> {
    let lane: Option<String> = row.get("lane");
    lane.zip(row.get("place"))
}

fn one(changed: u64, id: i64) -> Result<(), Failure> {
    if changed == 1 {
        return Ok(());
    }
    Err(format!("command {id} is not parked").into())
}
