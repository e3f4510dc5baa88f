//! Measures how many commands workers claim, send and settle per second, with few and many waiting commands.
//!
//! ```text
//! bash .ci/postgres cargo bench -p sdk-outbox --features sqlite,postgres
//! ```
//!
//! The transport responds in process, so only the database and the worker take time. Arguments after `--` restrict the
//! measurement: `sqlite` or `postgres`, the numbers of waiting commands, `lanes=0,1000`, `workers=1,4` and `seconds=4`.
//! With `snapshot`, another connection to PostgreSQL keeps an old snapshot open.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sdk_calendar::{Client, types::EventCommand};
use sdk_core::transport::{RequestBody, ResponseBody, Transport, TransportFuture, http};
use sdk_core::{AccessToken, App, IdempotencyKey, Suite, TokenFuture, TokenRequest, TokenSource};
use sdk_outbox::{Outbox, State, Store, Worker, postgres, sqlite};
use tokio::task::JoinSet;
use tokio::{sync::watch, time::sleep};
use tokio_postgres::{Config, NoTls};

type Failure = Box<dyn Error + Send + Sync>;

/// Enough slots for a claim to take a batch.
const IN_FLIGHT: usize = 32;

struct Cell {
    rows: u64,
    lanes: u64,
    workers: usize,
    time: Duration,
    has_snapshot: bool,
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|it| it == name);
    let numbers = |name: &str, usual: &[u64]| -> Result<Vec<u64>, Failure> {
        let given = arguments.iter().find_map(|it| it.strip_prefix(name));
        let given = given.map(|it| it.split(',').map(str::parse).collect());
        Ok(given.transpose()?.unwrap_or_else(|| usual.to_vec()))
    };
    let mut sizes: Vec<u64> = arguments.iter().filter_map(|it| it.parse().ok()).collect();
    if sizes.is_empty() {
        sizes = vec![1_000, 100_000, 1_000_000];
    }
    let seconds = numbers("seconds=", &[4])?[0];
    println!("| store | waiting | lanes | workers | settled per second |\n|---|---|---|---|---|");
    for store in ["sqlite", "postgres"] {
        if !has(store) && (has("sqlite") || has("postgres")) {
            continue;
        }
        for &rows in &sizes {
            for &lanes in &numbers("lanes=", &[0, 1_000])? {
                for &workers in &numbers("workers=", &[1, 4])? {
                    let cell = Cell {
                        rows,
                        lanes,
                        workers: workers.try_into()?,
                        time: Duration::from_secs(seconds),
                        has_snapshot: has("snapshot"),
                    };
                    let rate = cell.measure(store).await?;
                    println!("| {store} | {rows} | {lanes} | {workers} | {rate:.0} |");
                }
            }
        }
    }
    Ok(())
}

impl Cell {
    /// Repeats rounds until the time is over, because a single round with few commands is short.
    async fn measure(&self, store: &str) -> Result<f64, Failure> {
        let (mut settled, mut time) = (0, Duration::ZERO);
        while time < self.time {
            let left = self.time.saturating_sub(time);
            let round = match store {
                "sqlite" => self.sqlite(left).await?,
                _ => self.postgres(left).await?,
            };
            settled += round.0;
            time += round.1;
        }
        Ok(f64::from(u32::try_from(settled)?) / time.as_secs_f64())
    }

    async fn sqlite(&self, left: Duration) -> Result<(u64, Duration), Failure> {
        // A temporary folder may be in memory, so the database is elsewhere.
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("claims.db");
        let delete = || {
            for end in ["", "-wal", "-shm"] {
                let _ = std::fs::remove_file(path.with_extension(format!("db{end}")));
            }
        };
        delete();
        let mut outboxes = Vec::new();
        for _ in 0..self.workers {
            outboxes.push(sqlite::Outbox::open(&path).await?);
        }
        let database = rusqlite::Connection::open(&path)?;
        let (rows, lanes) = (i64::try_from(self.rows)?, i64::try_from(self.lanes)?);
        database.execute(
            "WITH RECURSIVE n (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n + 1 < ?1)
             INSERT INTO sdk_outbox (application, lane, state, due_at, command)
             SELECT 'calendar', CASE WHEN ?2 > 0 THEN 'lane ' || (n % ?2) END, CASE WHEN ?2 = 0 OR n < ?2 THEN 1 ELSE 2 END, n, ?3 FROM n",
            (rows, lanes, command()?),
        )?;
        database.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")?;
        let settled = self.work(outboxes, left).await;
        drop(database);
        delete();
        settled
    }

    async fn postgres(&self, left: Duration) -> Result<(u64, Duration), Failure> {
        let address = std::env::var("OUTBOX_DATABASE")
            .map_err(|_| "OUTBOX_DATABASE has no address: run this under `.ci/postgres`")?;
        let mut config: Config = address.parse()?;
        config.options("-c search_path=sdk_outbox_claims");
        let database = connect(&config).await?;
        let fresh =
            "DROP SCHEMA IF EXISTS sdk_outbox_claims CASCADE; CREATE SCHEMA sdk_outbox_claims";
        database.batch_execute(fresh).await?;
        let mut outboxes = Vec::new();
        for _ in 0..self.workers {
            outboxes.push(postgres::Outbox::open(config.clone(), NoTls).await?);
        }
        let (rows, lanes) = (i64::try_from(self.rows)?, i64::try_from(self.lanes)?);
        database
            .execute(
                "INSERT INTO sdk_outbox (application, lane, state, due_at)
                 SELECT 'calendar', CASE WHEN $2::bigint > 0 THEN 'lane ' || (n % $2) END, CASE WHEN $2 = 0 OR n < $2 THEN 1 ELSE 2 END,
                     now() - interval '1 day' + n * interval '1 ms'
                 FROM generate_series(0, $1::bigint - 1) AS n",
                &[&rows, &lanes],
            )
            .await?;
        let bodies = "INSERT INTO sdk_outbox_body SELECT id, $1 FROM sdk_outbox";
        database.execute(bodies, &[&command()?]).await?;
        database.batch_execute("VACUUM ANALYZE sdk_outbox").await?;
        database.batch_execute("CHECKPOINT").await?;
        let snapshot = connect(&config).await?;
        if self.has_snapshot {
            let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM sdk_outbox WHERE id = 1";
            snapshot.batch_execute(begin).await?;
        }
        self.work(outboxes, left).await
    }

    /// Runs a worker on each outbox until the time is over or all commands are settled.
    async fn work<S: Store>(
        &self,
        outboxes: Vec<Outbox<S>>,
        left: Duration,
    ) -> Result<(u64, Duration), Failure> {
        let answers = Answers::default();
        let calendar = client(&answers)?;
        let (stop, stopped) = watch::channel(false);
        let begun = Instant::now();
        let mut workers = JoinSet::new();
        for outbox in &outboxes {
            let worker = Worker::new(outbox.clone()).sender(calendar.clone());
            let mut stopped = stopped.clone();
            let stopped = async move { drop(stopped.wait_for(|it| *it).await) };
            workers.spawn(worker.per_installation(IN_FLIGHT).run(stopped));
        }
        while begun.elapsed() < left && answers.0.load(Ordering::Relaxed) < self.rows {
            sleep(Duration::from_millis(2)).await;
        }
        stop.send_replace(true);
        while let Some(ended) = workers.join_next().await {
            ended??;
        }
        let time = begun.elapsed();
        let status = outboxes[0].status().await?;
        let settled = status.count(State::Done);
        if settled != answers.0.load(Ordering::Relaxed) {
            return Err(format!("not every response was recorded: {status:?}").into());
        }
        Ok((settled, time))
    }
}

async fn connect(config: &Config) -> Result<tokio_postgres::Client, Failure> {
    let (client, connection) = config.connect(NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

fn command() -> Result<String, Failure> {
    let event = EventCommand::create()
        .collection_reference("deliveries")
        .title("Delivery")
        .starts_at("2026-02-02T09:00:00Z")
        .ends_at("2026-02-02T10:00:00Z")
        .timezone("UTC");
    let calendar = client(&Answers::default())?;
    let key = IdempotencyKey::derive("claims", ["1"]);
    let prepared = calendar
        .events()
        .command(&event)
        .idempotency_key(key)
        .prepare()?;
    Ok(serde_json::to_string(&prepared)?)
}

fn client(answers: &Answers) -> Result<Client, sdk_core::Error> {
    let suite = Suite::builder()
        .application_url(App::Calendar, "https://calendar.suite.test")
        .token_source(answers.clone())
        .transport(answers.clone())
        .build()?;
    Client::new(&suite)
}

/// A transport that responds to every command immediately, and counts the commands.
#[derive(Clone, Default)]
struct Answers(Arc<AtomicU64>);

impl Transport for Answers {
    fn send(&self, _request: http::Request<RequestBody>) -> TransportFuture {
        self.0.fetch_add(1, Ordering::Relaxed);
        let receipt = r#"{"schemaVersion": "suite-calendar-command-result.v1", "operation": "event.create",
            "outcome": "succeeded", "publicReference": "EVT-1", "recordVersion": 1, "replayed": false}"#;
        let mut response = http::Response::new(ResponseBody::from(receipt));
        *response.status_mut() = http::StatusCode::CREATED;
        let json = http::HeaderValue::from_static("application/json");
        response.headers_mut().insert("content-type", json);
        Box::pin(async { Ok(response) })
    }
}

impl TokenSource for Answers {
    fn token<'a>(&'a self, _request: &'a TokenRequest) -> TokenFuture<'a> {
        Box::pin(async { Ok(AccessToken::new("token").with_lifetime(Duration::from_secs(3600))) })
    }
}
