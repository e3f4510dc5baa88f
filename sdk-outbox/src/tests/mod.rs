//! Tests of the worker and of both stores, against the reference server.
//!
//! The tests on PostgreSQL run if `OUTBOX_DATABASE` names a database, as under `.ci/postgres`. Each test has its
//! own tables.

mod fleet;
pub(crate) mod kills;
mod stores;
mod trouble;
mod workers;

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use sdk_calendar::Client;
use sdk_calendar::types::EventCommand;
use sdk_core::{IdempotencyKey, PreparedCommand, Suite};
use sdk_reference_server::{Operation, ReferenceServer};
use serde_json::json;
use tokio_postgres::{Config, NoTls, SimpleQueryMessage};

use crate::entry::StoredReceipt;
use crate::postgres::Postgres;
use crate::sqlite::Sqlite;
use crate::store::{Claim, Settlement, Store, Wanted};
use crate::{Entry, Error, Outbox, State, Worker};

/// A lease that doesn't expire during a test.
const LEASE: Duration = Duration::from_secs(60);

pub(crate) trait TestStore: Store {
    type Place: Clone + Send + Sync + 'static;

    const HAS_BODY_TABLE: bool;

    /// Returns the documented statement for other drivers.
    fn documented_statement() -> String;

    /// Returns a program that runs a statement with another driver.
    fn other_driver(place: &Self::Place, statement: &str) -> Command;

    /// Returns the location of an empty database with this name, if this machine can have one.
    fn at(name: &str) -> Option<Self::Place>;

    fn place() -> Option<Self::Place> {
        Self::at(&unique())
    }

    async fn try_open(place: &Self::Place) -> Result<Outbox<Self>, Error>;

    async fn try_enqueue(place: &Self::Place, entry: &Entry<'_>) -> Result<i64, Error>;

    async fn open(place: &Self::Place) -> Outbox<Self> {
        Self::try_open(place).await.unwrap()
    }

    async fn enqueue(place: &Self::Place, entry: &Entry<'_>) -> i64 {
        Self::try_enqueue(place, entry).await.unwrap()
    }

    /// Runs statements with a new connection, and returns all rows as strings.
    async fn try_raw(place: &Self::Place, sql: &str) -> Result<Vec<Vec<String>>, Error>;

    async fn raw(place: &Self::Place, sql: &str) -> Vec<Vec<String>> {
        Self::try_raw(place, sql).await.unwrap()
    }

    /// Removes the files of a test. PostgreSQL's database is temporary.
    fn remove(_place: &Self::Place) {}
}

impl TestStore for Sqlite {
    type Place = PathBuf;

    const HAS_BODY_TABLE: bool = false;

    fn documented_statement() -> String {
        documented(include_str!("../sqlite/mod.rs"))
    }

    fn other_driver(place: &PathBuf, statement: &str) -> Command {
        let program = "import sqlite3, sys; it = sqlite3.connect(sys.argv[1]); it.execute(sys.argv[2]); it.commit()";
        let mut python = Command::new("python3");
        python.arg("-c").arg(program).arg(place).arg(statement);
        python
    }

    fn at(name: &str) -> Option<PathBuf> {
        let folder = std::env::temp_dir().join(format!("sdk-outbox-{name}"));
        std::fs::create_dir_all(&folder).unwrap();
        Some(folder.join("outbox.db"))
    }

    async fn try_open(place: &PathBuf) -> Result<Outbox<Self>, Error> {
        crate::sqlite::Outbox::open(place).await
    }

    async fn try_enqueue(place: &PathBuf, entry: &Entry<'_>) -> Result<i64, Error> {
        crate::sqlite::enqueue(&connection(place), entry)
    }

    async fn try_raw(place: &PathBuf, sql: &str) -> Result<Vec<Vec<String>>, Error> {
        let (connection, mut found) = (connection(place), Vec::new());
        for sql in sql.split(";\n").filter(|it| !it.trim().is_empty()) {
            let mut statement = connection.prepare(sql)?;
            let columns = statement.column_count();
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let text = |at| match row.get_unwrap::<_, rusqlite::types::Value>(at) {
                    rusqlite::types::Value::Null => String::new(),
                    rusqlite::types::Value::Integer(number) => number.to_string(),
                    rusqlite::types::Value::Text(text) => text,
                    other => format!("{other:?}"),
                };
                found.push((0..columns).map(text).collect());
            }
        }
        Ok(found)
    }

    fn remove(place: &PathBuf) {
        let _ = std::fs::remove_dir_all(place.parent().unwrap());
    }
}

fn connection(place: &PathBuf) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(place).unwrap();
    connection.busy_timeout(Duration::from_secs(5)).unwrap();
    connection
}

impl TestStore for Postgres {
    type Place = Config;

    const HAS_BODY_TABLE: bool = true;

    fn documented_statement() -> String {
        include_str!("../postgres/enqueue.sql").to_owned()
    }

    fn other_driver(place: &Config, statement: &str) -> Command {
        let mut psql = Command::new("psql");
        psql.arg(std::env::var("OUTBOX_DATABASE").unwrap())
            .arg("-qc")
            .arg(statement);
        psql.env("PGOPTIONS", place.get_options().unwrap());
        psql
    }

    fn at(name: &str) -> Option<Config> {
        let Ok(address) = std::env::var("OUTBOX_DATABASE") else {
            println!("skipped on PostgreSQL: OUTBOX_DATABASE is not set");
            return None;
        };
        let mut config: Config = address.parse().unwrap();
        config.options(format!("-c search_path=outbox_{name}"));
        config.application_name(name);
        Some(config)
    }

    async fn try_open(place: &Config) -> Result<Outbox<Self>, Error> {
        let schema = place.get_options().unwrap().rsplit('=').next().unwrap();
        Self::try_raw(place, &format!("CREATE SCHEMA IF NOT EXISTS {schema}")).await?;
        crate::postgres::Outbox::open(place.clone(), NoTls).await
    }

    async fn try_enqueue(place: &Config, entry: &Entry<'_>) -> Result<i64, Error> {
        crate::postgres::enqueue(&client(place).await?, entry).await
    }

    async fn try_raw(place: &Config, sql: &str) -> Result<Vec<Vec<String>>, Error> {
        let messages = client(place).await?.simple_query(sql).await?;
        let rows = messages.iter().filter_map(|it| match it {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        let text = |row: &tokio_postgres::SimpleQueryRow| {
            (0..row.len())
                .map(|at| row.get(at).unwrap_or_default().to_owned())
                .collect()
        };
        Ok(rows.map(text).collect())
    }
}

/// Returns the first SQL block in a module's documentation.
fn documented(module: &str) -> String {
    let block = module
        .split("```sql")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    block
        .lines()
        .map(|line| line.trim_start_matches("//!"))
        .collect()
}

async fn client(place: &Config) -> Result<tokio_postgres::Client, Error> {
    let (client, connection) = place.connect(NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

fn unique() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!(
        "{}_{}",
        std::process::id(),
        NEXT.fetch_add(1, Ordering::Relaxed)
    )
}

struct Remains<S: TestStore>(S::Place);

impl<S: TestStore> Drop for Remains<S> {
    fn drop(&mut self) {
        S::remove(&self.0);
    }
}

/// An outbox, and a server and a client to send its commands.
pub(crate) struct Lab<S: TestStore> {
    pub(crate) place: S::Place,
    pub(crate) outbox: Outbox<S>,
    pub(crate) server: ReferenceServer,
    pub(crate) calendar: Client,
    _remains: Remains<S>,
}

impl<S: TestStore> Lab<S> {
    async fn open() -> Option<Self> {
        let place = S::place()?;
        let server = ReferenceServer::in_memory();
        Some(Self {
            outbox: S::open(&place).await,
            _remains: Remains(place.clone()),
            place,
            calendar: calendar(&server, None),
            server,
        })
    }

    /// Stores a command with a key, and returns its ID.
    async fn place(&self, title: &str, lane: Option<&str>) -> i64 {
        let command = keyed(&self.calendar, title);
        let entry = Entry::new(&command).reference(title);
        let entry = lane.map_or(entry, |lane| entry.lane(lane));
        S::enqueue(&self.place, &entry).await
    }

    /// Admits all new commands, and claims at most this many.
    async fn claim(&self, free: usize) -> Vec<Claim> {
        while self.outbox.store.maintain().await.unwrap() {}
        claim(&self.outbox, free, LEASE).await
    }

    fn worker(&self) -> Worker<S> {
        Worker::new(self.outbox.clone()).sender(self.calendar.clone())
    }

    async fn work_off(&self, worker: Worker<S>) {
        let idle = idle(&self.outbox, Duration::from_millis(100));
        worker.run(idle).await.unwrap();
    }

    async fn parked(&self) -> (String, String) {
        let mut parked = self.outbox.list(State::Parked).await.unwrap();
        assert_eq!(parked.len(), 1, "{parked:?}");
        let parked = parked.remove(0);
        (parked.reason.unwrap(), parked.note.unwrap())
    }

    async fn raw(&self, sql: &str) -> Vec<Vec<String>> {
        S::raw(&self.place, sql).await
    }

    async fn count(&self, state: State) -> u64 {
        self.outbox.status().await.unwrap().count(state)
    }

    fn committed(&self) -> Vec<String> {
        committed(&self.server)
    }
}

/// Waits until no unsent command is left, and checks at this interval.
async fn idle<S: Store>(outbox: &Outbox<S>, every: Duration) {
    // The limit only stops a test that is stuck.
    for _ in 0..1000 {
        let status = outbox.status().await.unwrap();
        if status.oldest.is_none() {
            return;
        }
        tokio::time::sleep(every).await;
    }
    panic!("stuck: {:?}", outbox.status().await);
}

async fn both(sqlite: impl AsyncFnOnce(Lab<Sqlite>), postgres: impl AsyncFnOnce(Lab<Postgres>)) {
    sqlite(Lab::open().await.unwrap()).await;
    if let Some(lab) = Lab::open().await {
        postgres(lab).await;
    }
}

/// Claims at most this many commands of the Calendar.
async fn claim<S: Store>(outbox: &Outbox<S>, free: usize, lease: Duration) -> Vec<Claim> {
    let wanted = Wanted {
        application: "calendar",
        installation: String::new(),
        free,
        index: 0,
    };
    outbox.store.claim(&[wanted], lease).await.unwrap()
}

fn done(claim: &Claim) -> Settlement {
    let receipt = StoredReceipt {
        http_status: 201,
        replayed: None,
        body: "{}".to_owned(),
    };
    Settlement::done(claim, receipt)
}

fn calendar(server: &ReferenceServer, installation: Option<&str>) -> Client {
    let suite = Suite::builder()
        .transport(server.service())
        .variables(server.environment());
    let suite = match installation {
        Some(label) => suite.label(label),
        None => suite,
    };
    Client::new(&suite.build().unwrap()).unwrap()
}

fn keyed(calendar: &Client, title: &str) -> PreparedCommand {
    let delivery = EventCommand::create()
        .collection_reference("deliveries")
        .title(title)
        .starts_at("2026-12-01T09:00:00Z")
        .ends_at("2026-12-01T09:30:00Z")
        .timezone("UTC");
    let call = calendar.events().command(&delivery);
    let key = IdempotencyKey::derive("outbox/delivery", [title]);
    call.idempotency_key(key).prepare().unwrap()
}

/// Returns a command without a key, which is not replayable.
fn unkeyed(calendar: &Client, title: &str) -> PreparedCommand {
    let response = calendar.attendance().respond(json!({"title": title}));
    response.prepare().unwrap()
}

/// Returns the titles that a server committed, in order. Replays don't count.
fn committed(server: &ReferenceServer) -> Vec<String> {
    let mut requests = server.requests_for(Operation::SubmitEventCommand);
    requests.extend(server.requests_for(Operation::RespondAttendance));
    requests.sort_by_key(|it| it.number);
    let mut titles: Vec<String> = Vec::new();
    // A request whose response was lost has no status.
    for request in requests
        .iter()
        .filter(|it| it.status.is_none_or(|it| it < 300))
    {
        let body: serde_json::Value = serde_json::from_slice(request.body()).unwrap();
        let title = body["title"].as_str().unwrap().to_owned();
        let is_keyed = request.path.ends_with("event-commands");
        if !is_keyed || !titles.contains(&title) {
            titles.push(title);
        }
    }
    titles
}
