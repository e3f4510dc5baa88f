//! Kills workers and the database, stops a worker past its lease, and counts what the server saw.

use std::collections::{BTreeMap, HashMap};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use fastrand::Rng;
use sdk_calendar::Client;
use sdk_calendar::types::EventCommand;
use sdk_core::{IdempotencyKey, PreparedCommand, Suite};
use sdk_reference_server::{Operation, ReferenceServer, Transport};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::Failure;
use crate::out::{self, put};
use crate::stop::{Stop, shield};
use crate::store::{Address, Claim, Cursor, Settled, Store};

const WORKERS: usize = 3;
const LEASE: Duration = Duration::from_secs(2);
const VANS: u32 = 12;
/// How many commands are placed between two kills, by each of two connections.
const PLACED: u32 = 8;
/// Much longer than what one kill leaves behind takes, unless it is stuck.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is sent: deliveries with a key, and replies, which have none.
const OPERATIONS: [Operation; 2] = [Operation::SubmitEventCommand, Operation::RespondAttendance];

pub(crate) async fn run(
    mut address: Address,
    kills: u32,
    stop: &Stop,
) -> Result<ExitCode, Failure> {
    address.schema = format!("outbox_fleet_{}", std::process::id());
    Store::install(&address).await?;
    let done = fleet(&address, kills, stop).await;
    Store::connect(&address).await?.delete(&address).await?;
    done
}

async fn fleet(address: &Address, kills: u32, stop: &Stop) -> Result<ExitCode, Failure> {
    let server = ReferenceServer::builder()
        .transport(Transport::Hyper)
        .recorded_requests(usize::MAX)
        .start()
        .await;
    let suite = Suite::builder().variables(server.environment()).build()?;
    let calendar = Client::new(&suite)?;
    for (operation, seed) in OPERATIONS.into_iter().zip(1..) {
        // Never both of one request: one without a reply was carried out.
        server.fault(operation).every(20).lose_reply();
        server.fault(operation).skip(10).every(20).status(503);
        server
            .fault(operation)
            .probability(0.3, seed)
            .delay(Duration::from_millis(50));
    }
    interleave(address, &calendar).await?;
    let mut workers = Workers::start(&server, &address.schema)?;
    let mut shops = [
        Store::connect(address).await?,
        Store::connect(address).await?,
    ];
    let (mut rng, mut happened) = (Rng::with_seed(18), BTreeMap::new());
    put!("{WORKERS} workers, leases of {LEASE:?}, {kills} kills.");
    for number in 0..kills {
        if stop.is_heard() || out::is_lost() {
            put!("Stopped; the next run begins anew.");
            return Ok(stop.status());
        }
        let [one, other] = &mut shops;
        let first = number * PLACED;
        let (mut left, mut right) = (rng.fork(), rng.fork());
        let placed = tokio::join!(
            place(one, &calendar, ("a", first), &mut left),
            place(other, &calendar, ("b", first), &mut right)
        );
        if placed.0.and(placed.1).is_err() {
            shops = [
                Store::connect(address).await?,
                Store::connect(address).await?,
            ];
        }
        sleep(Duration::from_millis(rng.u64(20..200))).await;
        let heads = "SELECT lane FROM outbox WHERE state IN (1, 3, 4) AND lane IS NOT NULL
            GROUP BY lane HAVING count(*) > 1";
        if !shops[0].client.query(heads, &[]).await?.is_empty() {
            return Err("a lane has two heads".into());
        }
        let what = workers.strike(number, &shops[0], &mut rng).await?;
        *happened.entry(what).or_insert(0) += 1;
        workers.revive()?;
    }
    for (what, times) in &happened {
        put!("{times:>7}  {what}");
    }
    let mut store = Store::connect(address).await?;
    let parked = timeout(PATIENCE * (30 + kills), come_to_an_end(&mut store, &server)).await??;
    report(&store, &server, &parked).await?;
    Ok(ExitCode::SUCCESS)
}

/// What kills seldom meet: two workers at the same lane, one of them too late.
async fn interleave(address: &Address, calendar: &Client) -> Result<(), Failure> {
    let (mut one, mut other) = (
        Store::connect(address).await?,
        Store::connect(address).await?,
    );
    let done = Settled::Done(201, None, String::from("{}"));
    let order = |number: u32| command(calendar, &format!("first-{number}"), true);
    one.place(Some("lane"), &order(1)?).await?;
    one.keep_house().await?;
    let none = async |store: &Store| -> Result<bool, Failure> {
        Ok(store.claim(&mut { Cursor::START }, LEASE).await?.is_none())
    };
    let claim = async |store: &Store, lease| -> Result<Claim, Failure> {
        let claim = store.claim(&mut { Cursor::START }, lease).await?;
        Ok(claim.ok_or("there is nothing to claim")?)
    };
    let late = claim(&one, LEASE / 2).await?;
    one.keep_house().await?;
    must(none(&other).await?, "a lease that has not run out is kept")?;
    sleep(LEASE).await;
    other.keep_house().await?;
    let now = claim(&other, LEASE).await?;
    must(
        !one.settle(&late, &done).await?,
        "a stale worker settles nothing",
    )?;
    // The next command is stored and admitted while the lane's head is being finished.
    let mut third = Store::connect(address).await?;
    let (_, busy) = other.settling(&now, &done).await?;
    third.place(Some("lane"), &order(2)?).await?;
    third.keep_house().await?;
    busy.commit().await?;
    third.keep_house().await?;
    let next = claim(&third, LEASE).await?;
    must(
        third.settle(&next, &done).await?,
        "a worker in time settles",
    )?;
    must(!third.settle(&next, &done).await?, "a token counts once")?;
    // Whoever stores in a lane waits for who stores there already.
    let first = third.placing(Some("lane"), &order(3)?).await?;
    let waits = timeout(LEASE / 20, one.place(Some("lane"), &order(4)?)).await;
    must(waits.is_err(), "a lane is stored into by one at a time")?;
    first.rollback().await?;
    let clear = "TRUNCATE outbox, outbox_body, outbox_receipt";
    Ok(Store::connect(address)
        .await?
        .client
        .batch_execute(clear)
        .await?)
}

fn must(holds: bool, what: &str) -> Result<(), Failure> {
    if holds {
        Ok(())
    } else {
        Err(format!("broken: {what}").into())
    }
}

/// The worker processes.
struct Workers {
    all: Vec<Child>,
    environment: Vec<(String, String)>,
}

impl Workers {
    fn start(server: &ReferenceServer, schema: &str) -> Result<Self, Failure> {
        let mut environment = server.environment();
        environment.push(("OUTBOX_SCHEMA".to_owned(), schema.to_owned()));
        let mut workers = Self {
            all: Vec::new(),
            environment,
        };
        workers.revive()?;
        Ok(workers)
    }

    /// Starts as many as there shall be.
    fn revive(&mut self) -> Result<(), Failure> {
        self.all
            .retain_mut(|worker| matches!(worker.try_wait(), Ok(None)));
        while self.all.len() < WORKERS {
            let mut worker = Command::new(std::env::current_exe()?);
            shield(&mut worker).args(["worker", &LEASE.as_secs().to_string()]);
            worker
                .envs(self.environment.iter().cloned())
                .stderr(Stdio::null());
            self.all.push(worker.spawn()?);
        }
        Ok(())
    }

    async fn strike(
        &mut self,
        number: u32,
        store: &Store,
        rng: &mut Rng,
    ) -> Result<&'static str, Failure> {
        let victim = rng.usize(..self.all.len());
        match (number % 10, std::env::var("OUTBOX_DATABASE_KILL")) {
            (2, _) => {
                let worker = self.all[victim].id().to_string();
                Command::new("kill").args(["-STOP", &worker]).status()?;
                sleep(LEASE + LEASE / 2).await;
                Command::new("kill").args(["-CONT", &worker]).status()?;
                Ok("worker stopped past its lease, and continued")
            }
            (5, Ok(kill)) => {
                if !Command::new("sh").args(["-c", &kill]).status()?.success() {
                    return Err("the database was not killed and started again".into());
                }
                Ok("database killed (SIGKILL), and started again")
            }
            (3 | 7, _) => {
                let ours = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE application_name = 'outbox_fleet' AND pid <> pg_backend_pid()";
                store.client.batch_execute(ours).await?;
                Ok("all connections to the database ended")
            }
            _ => {
                self.all[victim].kill()?;
                self.all[victim].wait()?;
                Ok("worker killed (SIGKILL)")
            }
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        for worker in &mut self.all {
            let _ = worker.kill().and_then(|()| worker.wait());
        }
    }
}

/// Takes orders of one shop: most of them for a van, which brings them in their order.
async fn place(
    store: &mut Store,
    calendar: &Client,
    (shop, first): (&str, u32),
    rng: &mut Rng,
) -> Result<(), Failure> {
    for number in first..first + PLACED {
        let order = format!("{shop}-{number}");
        let van = format!("van {}", rng.u32(..VANS));
        let command = command(calendar, &order, rng.u8(..3) > 0)?;
        let lane = (rng.u8(..6) > 0).then_some(van.as_str());
        store.place(lane, &command).await?;
    }
    Ok(())
}

fn command(calendar: &Client, order: &str, keyed: bool) -> Result<PreparedCommand, Failure> {
    if !keyed {
        let reply = calendar.attendance().respond(json!({"title": order}));
        return Ok(reply.prepare()?);
    }
    let delivery = EventCommand::create()
        .collection_reference("deliveries")
        .title(order)
        .starts_at("2026-12-01T09:00:00Z")
        .ends_at("2026-12-01T09:30:00Z")
        .timezone("UTC");
    let call = calendar.events().command(&delivery);
    let key = IdempotencyKey::derive("outbox/delivery", [order]);
    Ok(call.idempotency_key(key).prepare()?)
}

/// What a person did with parked commands, by reason.
type Parked = BTreeMap<(String, &'static str), i64>;

/// Waits until nothing is left to do, and looks after what is left to a person.
async fn come_to_an_end(store: &mut Store, server: &ReferenceServer) -> Result<Parked, Failure> {
    let mut parked = Parked::new();
    loop {
        let parked_now = store.parked().await?;
        // Looked at after it was parked: before, it could still have happened.
        let committed = committed(server)?;
        for (id, why, command) in parked_now {
            let reason = why.split(':').next().unwrap_or_default().to_owned();
            let command: PreparedCommand = serde_json::from_str(&command)?;
            let done = if committed.contains_key(&order_of(command.body())?) {
                store.drop(id).await?;
                "it had happened: dropped"
            } else {
                store.retry(id).await?;
                "it had not: sent"
            };
            *parked.entry((reason, done)).or_insert(0) += 1;
        }
        let ended = |state: &str| ["done", "dropped"].contains(&state);
        if store.status().await?.iter().all(|(state, ..)| ended(state)) {
            return Ok(parked);
        }
        sleep(Duration::from_millis(200)).await;
    }
}

/// The orders that the server carried out, each with the number of the first request that did.
fn committed(server: &ReferenceServer) -> Result<HashMap<String, i64>, Failure> {
    let mut orders = HashMap::new();
    for request in OPERATIONS.map(|it| server.requests_for(it)).concat() {
        // One without a reply was carried out, and its reply lost.
        if request.status.is_none_or(|status| status < 300) {
            let order = order_of(std::str::from_utf8(request.body())?)?;
            orders
                .entry(order)
                .or_insert(i64::try_from(request.number)?);
        }
    }
    Ok(orders)
}

fn order_of(body: &str) -> Result<String, Failure> {
    let body: Value = serde_json::from_str(body)?;
    let order = body["title"].as_str().ok_or("a command without an order")?;
    Ok(order.to_owned())
}

/// Holds what the database says against what the server saw.
async fn report(store: &Store, server: &ReferenceServer, parked: &Parked) -> Result<(), Failure> {
    let (orders, numbers): (Vec<_>, Vec<_>) = committed(server)?.into_iter().unzip();
    let all = "WITH committed AS (SELECT * FROM unnest($1::text[], $2::bigint[]) AS it (title, number)),
        fate AS (
            SELECT lane, number, receipt.id IS NOT NULL AS receipt, replayed,
                lag(number) OVER (PARTITION BY lane ORDER BY id) AS before
            FROM outbox JOIN outbox_body USING (id) LEFT JOIN outbox_receipt AS receipt USING (id)
                LEFT JOIN committed ON title = (command::json ->> 'body')::json ->> 'title'
        )
        SELECT count(*), count(number), count(*) FILTER (WHERE receipt), count(*) FILTER (WHERE replayed),
            count(*) FILTER (WHERE number IS NULL), count(*) FILTER (WHERE lane IS NOT NULL AND before > number) FROM fate";
    let row = store.client.query_one(all, &[&orders, &numbers]).await?;
    let [commands, orders, receipts, replayed, lost, disordered]: [i64; 6] =
        std::array::from_fn(|at| row.get(at));
    let commits: u64 = OPERATIONS.iter().map(|it| server.commits(*it)).sum();
    let doubled = i64::try_from(commits)? - orders;
    put!("{commands:>7}  commands, {commits} commits");
    put!("{receipts:>7}  receipts, {replayed} of them replayed");
    for ((reason, done), times) in parked {
        put!("{times:>7}  parked: {reason}; {done}");
    }
    put!("{doubled:>7}  doubled\n{lost:>7}  lost\n{disordered:>7}  out of order in a lane");
    let dropped = parked
        .iter()
        .filter(|((_, done), _)| done.ends_with("dropped"));
    let dropped: i64 = dropped.map(|(_, times)| times).sum();
    if [doubled, lost, disordered, commands - receipts - dropped] != [0; 4] {
        return Err("commands, commits and receipts do not agree".into());
    }
    Ok(())
}
