//! What one kind of work costs with one client.

use std::path::PathBuf;

use crate::clients::Failure;
use crate::load::{Done, Job, Plan, Work};
use crate::process::{Bench, Transport};

/// One cell of the table: who does what over which transport.
#[derive(Clone, Debug)]
pub struct Case {
    pub client: &'static str,
    /// The program that has this client.
    pub program: PathBuf,
    pub transport: Transport,
    pub work: Work,
}

impl Case {
    pub fn new(bench: &Bench, client: &'static str, transport: Transport, work: Work) -> Self {
        Self {
            client,
            program: bench.program.clone(),
            transport,
            work,
        }
    }

    fn job(&self, bench: &Bench, operations: Option<u64>, millis: u64, in_flight: usize) -> Job {
        Job {
            client: self.client.to_owned(),
            target: bench.target(self.transport),
            plan: Plan {
                work: self.work,
                limit: 50,
                // Enough for every connection to be there.
                warm: (in_flight as u64 * 2).max(20),
                operations,
                millis,
                in_flight,
            },
        }
    }

    /// Instructions of one operation, by the difference between n and 2n of them.
    pub async fn instructions(&self, bench: &Bench, times: u64) -> Result<f64, Failure> {
        let (once, twice) = (
            self.counted(bench, times).await?,
            self.counted(bench, times * 2).await?,
        );
        Ok((twice.cast_signed() - once.cast_signed()) as f64 / times as f64)
    }

    async fn counted(&self, bench: &Bench, times: u64) -> Result<u64, Failure> {
        bench.counters().await?;
        let job = self.job(bench, Some(times), 0, 1);
        let text = serde_json::to_string(&job)?;
        let (done, counts): (Done, _) = bench.count(&self.program, &["work", &text], None).await?;
        self.check(bench, &job, &done).await?;
        Ok(counts[0])
    }

    /// So many operations, or as many as fit into the time.
    pub async fn run(
        &self,
        bench: &Bench,
        operations: Option<u64>,
        millis: u64,
        in_flight: usize,
    ) -> Result<Done, Failure> {
        bench.counters().await?;
        let job = self.job(bench, operations, millis, in_flight);
        let text = serde_json::to_string(&job)?;
        let done = bench.work(&self.program, &["work", &text]).await?;
        self.check(bench, &job, &done).await?;
        Ok(done)
    }

    /// Whether the work was done: what the server was asked, and what the client knows of the replies.
    async fn check(&self, bench: &Bench, job: &Job, done: &Done) -> Result<(), Failure> {
        let asked = bench.counters().await?;
        let pages = self.work != Work::Command;
        let (of_kind, other) = if pages {
            (asked.pages, asked.commands)
        } else {
            (asked.commands, asked.pages)
        };
        let (items, sum) = if pages {
            (u64::from(job.plan.limit), done.sum_of_page)
        } else {
            (1, crate::payload::COMMAND_VERSION)
        };
        let sound = of_kind == done.all
            && other == 0
            && done.operations > 0
            && done.items == done.all * items
            && done.sum == done.all * sum
            && asked.tokens > 0
            && (asked.unauthorized, asked.unkeyed, asked.malformed) == (0, 0, 0);
        if sound {
            return Ok(());
        }
        Err(format!(
            "{} did other work than {job:?}: {done:?}, {asked:?}",
            self.client
        )
        .into())
    }
}

/// The middle one, or the mean of the two in the middle.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let half = values.len() / 2;
    let upper = *values.get(half)?;
    Some(if values.len() % 2 == 1 {
        upper
    } else {
        f64::midpoint(values[half - 1], upper)
    })
}
