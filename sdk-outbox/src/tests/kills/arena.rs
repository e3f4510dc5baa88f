//! Support for runs on each database: a history of all changes, a table of receipts, and disturbances.

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use fastrand::Rng;
use tokio::time::sleep;
use tokio_postgres::Config;

use super::super::{TestStore, connection};
use super::Tally;
use crate::postgres::Postgres;
use crate::sqlite::Sqlite;
use crate::{Entry, Error, Outbox};

const STEPS: [&str; 13] = [
    "admitted, not committed",
    "expired lease claimed",
    "claimed",
    "before it is sent",
    "receipt stored, lane blocked",
    "lane continued, not committed",
    "settled, not committed",
    "done, not recorded",
    "done",
    "later, not recorded",
    "later",
    "parked, not recorded",
    "parked",
];

/// The commands that are neither done nor dropped.
pub(super) const OPEN: &str = "SELECT id, lane, state FROM sdk_outbox WHERE state < 5";

/// Queries that must return no rows at the end, with the problem that a row shows.
pub(super) const BROKEN: [(&str, &str); 4] = [
    ("a command is stuck", OPEN),
    (
        "receipts and done commands differ",
        "SELECT id, state FROM sdk_outbox WHERE (SELECT count(*) FROM receipts WHERE receipts.id = sdk_outbox.id)
            <> CASE state WHEN 5 THEN 1 ELSE 0 END",
    ),
    (
        "a command that was settled or parked was changed",
        "SELECT id, was, became FROM changes WHERE was * 10 + became NOT IN (1, 2, 21, 13, 31, 34, 35, 41, 46)",
    ),
    (
        "a lane had two heads",
        "SELECT lane, seq FROM (SELECT lane, seq, sum(CASE WHEN became IN (1, 3, 4) THEN 1 ELSE 0 END
            - CASE WHEN was IN (1, 3, 4) THEN 1 ELSE 0 END) OVER (PARTITION BY lane ORDER BY seq) AS heads
            FROM changes WHERE lane IS NOT NULL) AS it WHERE heads > 1",
    ),
];

pub(super) trait Arena: TestStore {
    const NAME: &'static str;
    /// The number of workers that finish a run.
    const WORKERS: usize;
    /// The steps that only this store has.
    const STEPS: [&'static str; 2];
    /// Creates the tables of receipts and changes. A change records a later due time and an expired lease.
    const TABLES: &'static str;
    const REMOVE: &'static str = "";

    fn steps() -> impl Iterator<Item = &'static str> + Clone {
        Self::STEPS.into_iter().chain(STEPS)
    }

    /// Records a receipt in a table of the service.
    fn with_receipts(outbox: Outbox<Self>) -> Outbox<Self>;

    /// Stores a command, without waiting for a worker that is stopped in a transaction.
    async fn store(place: &Self::Place, entry: &Entry<'_>) -> Result<i64, Error> {
        Self::try_enqueue(place, entry).await
    }

    /// Ends all connections of this run, or kills the database, in some runs.
    async fn disturb(_place: &Self::Place, _number: usize, _tally: &Mutex<Tally>) {}
}

impl Arena for Sqlite {
    const NAME: &'static str = "SQLite";
    const WORKERS: usize = 1;
    const STEPS: [&'static str; 2] = ["leases ended, not committed", "claimed, not committed"];
    const TABLES: &'static str = "
        CREATE TABLE receipts (id);
        CREATE TABLE changes (seq INTEGER PRIMARY KEY, id, lane, was, became, later, expired);
        CREATE TRIGGER change AFTER UPDATE OF state ON sdk_outbox BEGIN
            INSERT INTO changes (id, lane, was, became, later, expired) VALUES (new.id, new.lane, old.state, new.state,
                old.state = 3 AND new.state = 1 AND new.due_at <> old.due_at, new.state = 3 AND old.lease_expired); END";

    fn with_receipts(outbox: Outbox<Self>) -> Outbox<Self> {
        outbox.on_receipt(|work, stored, _| {
            let insert = "INSERT INTO receipts VALUES (?1)";
            work.execute(insert, [stored.id]).map(drop)
        })
    }

    async fn store(place: &PathBuf, entry: &Entry<'_>) -> Result<i64, Error> {
        let connection = connection(place);
        connection.busy_timeout(Duration::ZERO).unwrap();
        crate::sqlite::enqueue(&connection, entry)
    }
}

impl Arena for Postgres {
    const NAME: &'static str = "PostgreSQL";
    const WORKERS: usize = 2;
    const STEPS: [&'static str; 2] = ["leases ended", "admitted without heads"];
    const TABLES: &'static str = "
        CREATE TABLE IF NOT EXISTS receipts (id bigint);
        CREATE TABLE IF NOT EXISTS changes (seq bigint GENERATED ALWAYS AS IDENTITY, id bigint, lane text, was int, became int,
            later bool, expired bool);
        CREATE OR REPLACE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN
            INSERT INTO changes (id, lane, was, became, later, expired) VALUES (new.id, new.lane, old.state, new.state,
                old.state = 3 AND new.state = 1 AND new.due_at <> old.due_at, new.state = 3 AND old.lease_expired);
            RETURN NULL; END';
        CREATE OR REPLACE TRIGGER change AFTER UPDATE OF state ON sdk_outbox FOR EACH ROW EXECUTE FUNCTION change()";
    const REMOVE: &'static str =
        "DO 'BEGIN EXECUTE ''DROP SCHEMA '' || current_schema() || '' CASCADE''; END'";

    fn with_receipts(outbox: Outbox<Self>) -> Outbox<Self> {
        outbox.on_receipt(|work, stored, _| {
            Box::pin(async move {
                let insert = "INSERT INTO receipts VALUES ($1)";
                work.execute(insert, &[&stored.id]).await.map(drop)
            })
        })
    }

    async fn disturb(place: &Config, number: usize, tally: &Mutex<Tally>) {
        let moment = Rng::with_seed(number as u64).u64(300..2000);
        sleep(Duration::from_millis(moment)).await;
        // Only long runs kill the database.
        if number % 25 == 17
            && let Ok(kill) = std::env::var("OUTBOX_DATABASE_KILL")
        {
            let mut sh = std::process::Command::new("sh");
            let kill = sh.args(["-c", &kill]).status().unwrap();
            assert!(kill.success(), "the database did not start again");
            tally.lock().unwrap().databases_killed += 1;
        } else if number % 5 == 3 {
            let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE application_name = current_setting('application_name') AND pid <> pg_backend_pid()";
            // If this statement fails, the database is down and has no connections.
            let ended = Self::try_raw(place, end).await.unwrap_or_default();
            tally.lock().unwrap().connections_ended += ended.len();
        }
    }
}
