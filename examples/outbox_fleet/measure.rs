//! How many commands a second can be claimed and settled, with few and many of them waiting.

use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::Failure;
use crate::out::put;
use crate::store::{Address, Cursor, Settled, Store};

/// Each figure is taken over so long, three times: what gets slower with time shows.
const WINDOW: Duration = Duration::from_secs(5);

/// Fills a schema of its own with commands that wait, and has workers claim and settle them without sending.
pub(crate) async fn run(
    mut address: Address,
    (waiting, lanes): (i64, i64),
    workers: usize,
    held: bool,
) -> Result<(), Failure> {
    address.schema = format!("outbox_fleet_{}", std::process::id());
    Store::install(&address).await?;
    let store = Store::connect(&address).await?;
    // What `keep_house` would have made of as many commands.
    let fill = format!(
        "INSERT INTO outbox (lane, place, state, due_at) SELECT CASE WHEN {lanes} > 0 THEN 'lane ' || n % greatest({lanes}, 1) END, n,
             CASE WHEN {lanes} = 0 OR n < {lanes} THEN 1 ELSE 2 END, now() - interval '1 day' + n * interval '1 ms'
         FROM generate_series(0, {waiting} - 1) AS n;
         INSERT INTO outbox_body SELECT id, '{{}}' FROM outbox;
         VACUUM ANALYZE; CHECKPOINT"
    );
    for statement in fill.split(';') {
        store.client.batch_execute(statement).await?;
    }
    let snapshot = Store::connect(&address).await?;
    if held {
        let begin =
            "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM outbox WHERE id = 1";
        snapshot.client.batch_execute(begin).await?;
    }
    let begun = Instant::now();
    let mut tasks = JoinSet::new();
    for _ in 0..workers {
        let store = Store::connect(&address).await?;
        tasks.spawn(work(store, begun));
    }
    let (mut windows, mut ended) = ([0_u32; 3], Duration::ZERO);
    while let Some(worked) = tasks.join_next().await {
        let (settled, end) = worked??;
        ended = ended.max(end);
        for (window, settled) in windows.iter_mut().zip(settled) {
            *window += settled;
        }
    }
    let mut begins = (0..).map(|window| WINDOW * window);
    let rates = windows.map(|settled| {
        let lasted = ended.saturating_sub(begins.next().unwrap_or_default());
        let lasted = lasted.min(WINDOW).as_secs_f64();
        f64::from(settled) / lasted.max(0.001)
    });
    let held = if held { "held open" } else { "none" };
    put!("{waiting} waiting, {lanes} lanes, {workers} workers, old snapshot {held}: {rates:.0?}");
    // Its snapshot would keep the tables.
    drop(snapshot);
    store.delete(&address).await
}

/// Claims and settles until time is up or nothing is left, and says how many in each window.
async fn work(mut store: Store, begun: Instant) -> Result<([u32; 3], Duration), Failure> {
    let (mut windows, mut cursor, mut reset) = ([0; 3], Cursor::START, Instant::now());
    let settled = Settled::Done(201, None, "{}".to_owned());
    loop {
        let window = begun.elapsed().as_millis() / WINDOW.as_millis();
        let Some(count) = windows.get_mut(usize::try_from(window)?) else {
            return Ok((windows, begun.elapsed()));
        };
        if reset.elapsed() > Duration::from_secs(1) {
            (cursor, reset) = (Cursor::START, Instant::now());
        }
        match store.claim(&mut cursor, Duration::from_secs(60)).await? {
            Some(claim) => *count += u32::from(store.settle(&claim, &settled).await?),
            None if windows[0] > 0 && store.status().await?.len() == 1 => {
                return Ok((windows, begun.elapsed()));
            }
            None => {}
        }
    }
}
