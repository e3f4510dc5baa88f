//! Puts load on a client: a number of operations with a fixed number in flight.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;

use crate::clients::{Client, Failure, Target};
#[cfg(feature = "peers")]
use crate::clients::{handwritten, progenitor, raw};
use crate::clients::{sdk::Sdk, tuned::Tuned};
use crate::system::{mark, processor, status};
use crate::{allocations, payload};

/// One operation: a page of 50 items, or a command of about 290 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Work {
    Page,
    Command,
}

/// The end of the load, and whether the instructions of its operations are counted.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum Until {
    Counted(u64),
    Operations(u64),
    Millis(u64),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    pub target: Target,
    pub work: Work,
    pub until: Until,
    pub in_flight: usize,
}

/// The cost of the load. All figures except `all` and `peak` are per operation after the warm-up.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Done {
    /// The number of operations, including the warm-up.
    pub all: u64,
    pub per_second: f64,
    pub processor_micros: f64,
    pub allocations: f64,
    /// The instructions of the process in user mode, if they are counted.
    pub instructions: Option<f64>,
    /// The median in microseconds, if one operation is in flight and time ends the load.
    pub p50: f64,
    /// The peak memory of this process, in KiB.
    pub peak: f64,
}

#[derive(Default)]
struct Tally {
    operations: u64,
    sum: u64,
    nanos: Vec<u32>,
}

impl Job {
    pub async fn run_by_name(&self) -> Result<Done, Failure> {
        match self.target.client.as_str() {
            #[cfg(feature = "peers")]
            "hyper" => self.run::<raw::Raw>().await,
            #[cfg(feature = "peers")]
            "reqwest" => self.run::<handwritten::Handwritten>().await,
            "reqwest-tuned" => self.run::<Tuned>().await,
            #[cfg(feature = "peers")]
            "reqwest-middleware" => self.run::<handwritten::Middleware>().await,
            #[cfg(feature = "peers")]
            "progenitor" => self.run::<progenitor::Progenitor>().await,
            _ => self.run::<Sdk>().await,
        }
    }

    /// Puts the load on a client of this kind, and checks the responses.
    pub async fn run<C: Client>(&self) -> Result<Done, Failure> {
        let client = C::new(&self.target).await?;
        // Enough operations to open every connection.
        let warm = Until::Operations((self.in_flight as u64 * 2).max(20));
        let mut all = self.load(&client, warm).await?;
        let (before, began) = (processor(), Instant::now());
        allocations::start();
        mark();
        let mut measured = self.load(&client, self.until).await?;
        mark();
        let allocations = allocations::stop();
        let (seconds, processor) = (began.elapsed().as_secs_f64(), processor() - before);
        all.operations += measured.operations;
        let one = match self.work {
            Work::Page => client.sum_of_page(),
            Work::Command => payload::COMMAND_VERSION,
        };
        if measured.operations == 0 || all.sum + measured.sum != one * all.operations {
            return Err(format!("expected {} times {one} in total", all.operations).into());
        }
        measured.nanos.sort_unstable();
        let middle = measured.nanos.get(measured.nanos.len() / 2).copied();
        let operations = measured.operations as f64;
        Ok(Done {
            all: all.operations,
            per_second: operations / seconds,
            processor_micros: processor / operations,
            allocations: allocations / operations,
            instructions: None,
            p50: f64::from(middle.unwrap_or_default()) / 1e3,
            peak: status("VmHWM:"),
        })
    }

    async fn load<C: Client>(&self, client: &C, until: Until) -> Result<Tally, Failure> {
        let (most, millis) = match until {
            Until::Counted(most) | Until::Operations(most) => (most, None),
            Until::Millis(millis) => (u64::MAX, Some(Duration::from_millis(millis))),
        };
        let end = millis.map(|millis| Instant::now() + millis);
        if self.in_flight == 1 {
            return self.turn(client, &AtomicU64::new(0), most, end).await;
        }
        let started = Arc::new(AtomicU64::new(0));
        let mut tasks = JoinSet::new();
        for _ in 0..self.in_flight {
            let (job, client, started) = (self.clone(), client.clone(), Arc::clone(&started));
            tasks.spawn(async move { job.turn(&client, &started, most, end).await });
        }
        let mut all = Tally::default();
        while let Some(tally) = tasks.join_next().await {
            let tally = tally??;
            all.operations += tally.operations;
            all.sum += tally.sum;
        }
        Ok(all)
    }

    /// Runs one operation after the other.
    async fn turn<C: Client>(
        &self,
        client: &C,
        started: &AtomicU64,
        most: u64,
        end: Option<Instant>,
    ) -> Result<Tally, Failure> {
        let is_timed = end.is_some() && self.in_flight == 1;
        let mut tally = Tally::default();
        tally.nanos.reserve(if is_timed { 1 << 20 } else { 0 });
        while started.fetch_add(1, Ordering::Relaxed) < most {
            let began = end.map(|_| Instant::now());
            if began > end {
                break;
            }
            tally.sum += match self.work {
                Work::Page => client.page().await?,
                Work::Command => client.command().await?,
            };
            tally.operations += 1;
            if let Some(began) = began.filter(|_| is_timed) {
                tally.nanos.push(began.elapsed().subsec_nanos());
            }
        }
        Ok(tally)
    }
}
