//! What a run needs of each database: another connection, a history of all changes, and disturbances.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use tokio::time::sleep;
use tokio_postgres::{Client, Config, NoTls, SimpleQueryMessage};

use super::super::{TestStore, connection};
use crate::postgres::Postgres;
use crate::sqlite::Sqlite;
use crate::{Entry, Error, Outbox};

/// What becomes of a worker at its step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// SIGKILL.
    Killed,
    /// SIGSTOP until past its lease, then SIGCONT.
    Stopped,
}
use Fate::{Killed, Stopped};

/// How a command is stored.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// In a transaction that stays open for this time.
    Open(Duration),
    /// Ready, and seen by all workers at the same moment, if the store has several.
    Together,
}

/// The columns of a change of state, as both databases call them. `forgot` says that a claim changed the first sending.
const CHANGE: &str =
    "(id, lane, was, became, forgot) VALUES (new.id, new.lane, old.state, new.state,
    old.state = 1 AND new.state = 3 AND old.first_sent <> new.first_sent)";

/// How many steps there are between two effects of a worker, on each store.
pub(super) const STEPS: usize = 15;

pub(super) trait Arena: TestStore {
    const NAME: &'static str;
    /// How many workers end a run.
    const WORKERS: usize;
    /// The steps, and what becomes of a worker there in the first round.
    const STEPS: [(&'static str, Fate); STEPS];
    /// The first sending in milliseconds since the beginning of 1970.
    const FIRST_SENT: &'static str;

    /// The place for another process.
    fn address(place: &Self::Place) -> String;
    fn at(address: &str) -> Self::Place;

    /// Opens the outbox for the first time, and makes the tables of receipts and changes.
    async fn prepare(place: &Self::Place) -> Result<Outbox<Self>, String>;

    /// Opens the outbox, and records a receipt in a table of the service.
    async fn connect(place: &Self::Place) -> Result<Outbox<Self>, Error>;

    /// Stores a command, and returns when its commit began and ended.
    async fn store(
        place: &Self::Place,
        entry: &Entry<'_>,
        way: Way,
    ) -> Result<[Instant; 2], String>;

    /// Runs a query.
    async fn rows(place: &Self::Place, sql: &str) -> Result<Vec<Vec<String>>, String>;

    /// Removes everything.
    async fn remove(place: &Self::Place);

    /// Ends all connections of this run, or kills the database, in some runs.
    async fn disturb(_place: &Self::Place, _number: usize) -> Result<(), String> {
        Ok(())
    }

    /// Whether other workers surely go on while one stands still at this step. Elsewhere, it may be about to admit commands, which
    /// one process does at a time.
    fn goes_on(step: &str) -> bool;
}

impl Arena for Sqlite {
    const NAME: &'static str = "SQLite";
    const WORKERS: usize = 1;
    const STEPS: [(&'static str, Fate); STEPS] = [
        ("admitted, not committed", Killed),
        ("leases ended, not committed", Killed),
        ("claimed, not committed", Killed),
        ("claimed", Killed),
        ("expired lease claimed", Stopped),
        ("before it is sent", Stopped),
        ("done, not recorded", Stopped),
        ("receipt stored, lane blocked", Killed),
        ("lane continued, not committed", Stopped),
        ("settled, not committed", Killed),
        ("done", Stopped),
        ("later, not recorded", Stopped),
        ("later", Killed),
        ("parked, not recorded", Stopped),
        ("parked", Killed),
    ];
    const FIRST_SENT: &'static str = "first_sent";

    fn address(place: &PathBuf) -> String {
        place.to_str().unwrap().to_owned()
    }

    fn at(address: &str) -> PathBuf {
        address.into()
    }

    async fn prepare(place: &PathBuf) -> Result<Outbox<Self>, String> {
        let outbox = Self::connect(place).await.map_err(text)?;
        let tables = format!(
            "CREATE TABLE receipts (id INTEGER);
             CREATE TABLE changes (seq INTEGER PRIMARY KEY AUTOINCREMENT, id, lane, was, became, forgot);
             CREATE TRIGGER change AFTER UPDATE OF state ON sdk_outbox BEGIN INSERT INTO changes {CHANGE}; END"
        );
        connection(place).execute_batch(&tables).map_err(text)?;
        Ok(outbox)
    }

    async fn connect(place: &PathBuf) -> Result<Outbox<Self>, Error> {
        let outbox = crate::sqlite::Outbox::open(place).await?;
        Ok(outbox.on_receipt(|work, stored, _| {
            work.execute("INSERT INTO receipts VALUES (?1)", [stored.id])
                .map(drop)
        }))
    }

    async fn store(place: &PathBuf, entry: &Entry<'_>, _way: Way) -> Result<[Instant; 2], String> {
        // Waits for a worker that stands still in a transaction.
        loop {
            let begun = Instant::now();
            let connection = connection(place);
            connection.busy_timeout(Duration::from_millis(5)).unwrap();
            if crate::sqlite::enqueue(&connection, entry).is_ok() {
                return Ok([begun, Instant::now()]);
            }
            sleep(Duration::from_millis(10)).await;
        }
    }

    async fn rows(place: &PathBuf, sql: &str) -> Result<Vec<Vec<String>>, String> {
        Ok(Self::raw(place, sql).await)
    }

    async fn remove(place: &PathBuf) {
        std::fs::remove_dir_all(place.parent().unwrap()).unwrap();
    }

    fn goes_on(_step: &str) -> bool {
        // SQLite has one writer at a time.
        false
    }
}

impl Arena for Postgres {
    const NAME: &'static str = "PostgreSQL";
    const WORKERS: usize = 2;
    const STEPS: [(&'static str, Fate); STEPS] = [
        ("leases ended", Killed),
        ("admitted without heads", Stopped),
        ("admitted, not committed", Killed),
        ("claimed", Killed),
        ("expired lease claimed", Stopped),
        ("before it is sent", Stopped),
        ("done, not recorded", Stopped),
        ("receipt stored, lane blocked", Killed),
        ("lane continued, not committed", Stopped),
        ("settled, not committed", Stopped),
        ("done", Killed),
        ("later, not recorded", Stopped),
        ("later", Killed),
        ("parked, not recorded", Stopped),
        ("parked", Killed),
    ];
    const FIRST_SENT: &'static str = "(extract(epoch FROM first_sent) * 1000)::bigint";

    fn address(place: &Config) -> String {
        place.get_options().unwrap().to_owned()
    }

    fn at(address: &str) -> Config {
        let mut config: Config = std::env::var("OUTBOX_DATABASE").unwrap().parse().unwrap();
        config.options(address).application_name(address);
        config
    }

    async fn prepare(place: &Config) -> Result<Outbox<Self>, String> {
        let schema = format!("CREATE SCHEMA IF NOT EXISTS {}", schema(place));
        Self::rows(place, &schema).await?;
        let outbox = Self::connect(place).await.map_err(text)?;
        let tables = format!(
            "DROP TABLE IF EXISTS receipts, changes; DROP FUNCTION IF EXISTS change CASCADE;
             CREATE TABLE receipts (id bigint);
             CREATE TABLE changes (seq bigint GENERATED ALWAYS AS IDENTITY, id bigint, lane text, was int, became int, forgot bool);
             CREATE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO changes {CHANGE}; RETURN NULL; END';
             CREATE TRIGGER change AFTER UPDATE OF state ON sdk_outbox FOR EACH ROW EXECUTE FUNCTION change()"
        );
        Self::rows(place, &tables).await?;
        Ok(outbox)
    }

    async fn connect(place: &Config) -> Result<Outbox<Self>, Error> {
        let outbox = crate::postgres::Outbox::open(place.clone(), NoTls).await?;
        Ok(outbox.on_receipt(|transaction, stored, _| {
            Box::pin(async move {
                let insert = "INSERT INTO receipts VALUES ($1)";
                transaction.execute(insert, &[&stored.id]).await.map(drop)
            })
        }))
    }

    async fn store(place: &Config, entry: &Entry<'_>, way: Way) -> Result<[Instant; 2], String> {
        let mut client = client(place).await?;
        let transaction = client.transaction().await.map_err(text)?;
        if way == Way::Together {
            let alone =
                "SET lock_timeout = '1s'; LOCK TABLE sdk_outbox IN SHARE ROW EXCLUSIVE MODE";
            transaction.batch_execute(alone).await.map_err(text)?;
        }
        let id = crate::postgres::enqueue(&transaction, entry).await;
        let id = id.map_err(text)?;
        match way {
            Way::Open(time) => sleep(time).await,
            Way::Together => {
                let ready = format!("UPDATE sdk_outbox SET state = 1 WHERE id = {id}");
                transaction.batch_execute(&ready).await.map_err(text)?;
                // Every worker waits for the lock by then.
                sleep(Duration::from_millis(80)).await;
            }
        }
        let begun = Instant::now();
        transaction.commit().await.map_err(text)?;
        Ok([begun, Instant::now()])
    }

    async fn rows(place: &Config, sql: &str) -> Result<Vec<Vec<String>>, String> {
        let messages = client(place).await?.simple_query(sql).await.map_err(text)?;
        let rows = messages.iter().filter_map(|it| match it {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        let row = |row: &tokio_postgres::SimpleQueryRow| {
            let columns = (0..row.len()).map(|at| row.get(at).unwrap_or_default().to_owned());
            columns.collect()
        };
        Ok(rows.map(row).collect())
    }

    async fn remove(place: &Config) {
        // Another run may just have killed the database.
        let _ = Self::rows(place, &format!("DROP SCHEMA {} CASCADE", schema(place))).await;
    }

    async fn disturb(place: &Config, number: usize) -> Result<(), String> {
        match std::env::var("OUTBOX_DATABASE_KILL") {
            Ok(kill) if super::is_long() && number % 25 == 7 => {
                let kill = std::process::Command::new("sh")
                    .args(["-c", &kill])
                    .status();
                assert!(kill.unwrap().success(), "the database did not start again");
                Ok(())
            }
            _ if number % 5 == 3 => {
                let ours = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE application_name = current_setting('application_name') AND pid <> pg_backend_pid()";
                Self::rows(place, ours).await.map(drop)
            }
            _ => Ok(()),
        }
    }

    fn goes_on(step: &str) -> bool {
        step.contains("lane ") || step == "settled, not committed"
    }
}

fn schema(place: &Config) -> &str {
    place.get_options().unwrap().rsplit('=').next().unwrap()
}

async fn client(place: &Config) -> Result<Client, String> {
    let (client, connection) = place.connect(NoTls).await.map_err(text)?;
    tokio::spawn(connection);
    Ok(client)
}

fn text(error: impl std::fmt::Debug) -> String {
    format!("{error:?}")
}
