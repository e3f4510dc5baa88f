//! Puts load on a client: so many operations, so many at a time, and what that took.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::clients::{Client, Failure, Seen, Target, by_pages};
use crate::{allocations, system};

/// What one operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// A page of 50 items.
    Page,
    /// A command of about 290 bytes.
    Command,
    /// One page of a walk by what the client has for walks.
    Walk,
    /// One page of a walk by a loop over pages.
    Loop,
}

/// What a process of its own is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    pub client: String,
    pub target: Target,
    pub plan: Plan,
}

impl Job {
    /// Does it with this kind of client, and says what it took.
    pub async fn run<C: Client>(&self) -> Result<(), Failure> {
        let client = C::new(&self.target).await?;
        let done = run(&client, &self.plan).await?;
        println!("{}", serde_json::to_string(&done)?);
        Ok(())
    }
}

/// How much of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    pub work: Work,
    /// Items of a page.
    pub limit: u32,
    /// Operations before anything is measured.
    pub warm: u64,
    /// Operations that are measured; without them, the time decides.
    pub operations: Option<u64>,
    pub millis: u64,
    pub in_flight: usize,
}

/// What it took.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Done {
    /// Operations that were measured.
    pub operations: u64,
    /// Operations in all.
    pub all: u64,
    pub items: u64,
    pub sum: u64,
    pub sum_of_page: u64,
    pub seconds: f64,
    /// Processor seconds of this process, in user mode and in the kernel.
    pub user: f64,
    pub system: f64,
    pub allocations: u64,
    /// Microseconds of one operation in the middle, while one is in flight.
    pub p50: f64,
    /// The most memory that this process ever held, in KiB.
    pub peak: u64,
}

/// Puts the load on the client.
pub async fn run<C: Client>(client: &C, plan: &Plan) -> Result<Done, Failure> {
    let (mut done, warm) = (
        Done::default(),
        amount(client, plan, Some(plan.warm)).await?,
    );
    let [user, kernel] = system::seconds();
    let began = Instant::now();
    allocations::start();
    let mut measured = amount(client, plan, plan.operations).await?;
    let counted = allocations::stop();
    done.seconds = began.elapsed().as_secs_f64();
    let [user_after, kernel_after] = system::seconds();
    done.user = user_after - user;
    done.system = kernel_after - kernel;
    done.operations = measured.operations;
    done.all = measured.operations + warm.operations;
    done.items = measured.seen.items + warm.seen.items;
    done.sum = measured.seen.sum + warm.seen.sum;
    done.sum_of_page = C::sum_of_page(plan.limit as usize);
    done.allocations = counted.count;
    measured.nanos.sort_unstable();
    let middle = measured.nanos.get(measured.nanos.len() / 2);
    done.p50 = middle.map_or(0.0, |&nanos| f64::from(nanos) / 1e3);
    done.peak = system::status("VmHWM:");
    Ok(done)
}

#[derive(Default)]
struct Tally {
    operations: u64,
    seen: Seen,
    nanos: Vec<u32>,
}

async fn amount<C: Client>(
    client: &C,
    plan: &Plan,
    operations: Option<u64>,
) -> Result<Tally, Failure> {
    if let Work::Walk | Work::Loop = plan.work {
        let pages = operations.unwrap_or(1000);
        if pages == 0 {
            return Ok(Tally::default());
        }
        let cursor = format!("w{pages:012}");
        let seen = match plan.work {
            Work::Walk => client.walk(plan.limit, cursor).await?,
            _ => by_pages(client, plan.limit, cursor).await?,
        };
        return Ok(Tally {
            operations: pages,
            seen,
            nanos: Vec::new(),
        });
    }
    let until = Instant::now() + Duration::from_millis(plan.millis);
    if plan.in_flight <= 1 {
        return one_by_one(client, plan, operations, until).await;
    }
    let left = Arc::new(AtomicI64::new(
        operations.map_or(i64::MAX, |operations| operations.cast_signed()),
    ));
    let tasks: Vec<_> = (0..plan.in_flight)
        .map(|_| {
            let (client, left, limit, work) =
                (client.clone(), Arc::clone(&left), plan.limit, plan.work);
            let timed = operations.is_none();
            tokio::spawn(async move {
                let mut tally = Tally::default();
                while left.fetch_sub(1, Ordering::Relaxed) > 0
                    && !(timed && Instant::now() >= until)
                {
                    tally.seen.add(once(&client, work, limit).await?);
                    tally.operations += 1;
                }
                Ok::<_, Failure>(tally)
            })
        })
        .collect();
    let mut all = Tally::default();
    for task in tasks {
        let tally = task.await??;
        all.operations += tally.operations;
        all.seen.add(tally.seen);
    }
    Ok(all)
}

async fn one_by_one<C: Client>(
    client: &C,
    plan: &Plan,
    operations: Option<u64>,
    until: Instant,
) -> Result<Tally, Failure> {
    let mut tally = Tally::default();
    if operations.is_none() {
        tally.nanos.reserve(1 << 20);
    }
    while operations.map_or_else(
        || Instant::now() < until,
        |operations| tally.operations < operations,
    ) {
        let began = operations.is_none().then(Instant::now);
        let seen = once(client, plan.work, plan.limit).await?;
        if let Some(began) = began {
            let nanos = u32::try_from(began.elapsed().as_nanos());
            tally.nanos.push(nanos.unwrap_or(u32::MAX));
        }
        tally.operations += 1;
        tally.seen.add(seen);
    }
    Ok(tally)
}

async fn once<C: Client>(client: &C, work: Work, limit: u32) -> Result<Seen, Failure> {
    match work {
        Work::Command => client.command().await,
        _ => client.page(limit, None).await,
    }
}
