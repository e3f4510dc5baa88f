//! What one kind of work costs with one client.

use std::path::PathBuf;

use crate::clients::{Failure, Target};
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
            target: Target {
                lean: self.client.starts_with("sdk-lean"),
                ..bench.target(self.transport)
            },
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

    /// Instructions of one operation, by the difference between n and 2n of them; none if nobody counts them.
    pub async fn instructions(&self, bench: &Bench, times: u64) -> Result<Option<f64>, Failure> {
        if !bench.valgrind {
            return Ok(None);
        }
        let job = |times| self.job(bench, Some(times), 0, 1);
        let (_, once) = self.work(bench, job(times), true).await?;
        let (_, twice) = self.work(bench, job(times * 2), true).await?;
        let more = twice.cast_signed() - once.cast_signed();
        Ok(Some(more as f64 / times as f64))
    }

    /// So many operations, or as many as fit into the time.
    pub async fn run(
        &self,
        bench: &Bench,
        operations: Option<u64>,
        millis: u64,
        in_flight: usize,
    ) -> Result<Done, Failure> {
        let job = self.job(bench, operations, millis, in_flight);
        Ok(self.work(bench, job, false).await?.0)
    }

    /// Has a worker do it, perhaps with the instructions of all of it.
    async fn work(&self, bench: &Bench, job: Job, counted: bool) -> Result<(Done, u64), Failure> {
        bench.counters().await?;
        let text = serde_json::to_string(&job)?;
        let arguments = ["work", text.as_str()];
        let (done, count) = if counted {
            let (done, counts) = bench.count(&self.program, &arguments, None).await?;
            (done, counts[0])
        } else {
            (bench.work(&self.program, &arguments).await?, 0)
        };
        self.check(bench, &job, &done).await?;
        Ok((done, count))
    }

    /// Whether the work was done: what the server was asked, and what the client knows of the replies.
    async fn check(&self, bench: &Bench, job: &Job, done: &Done) -> Result<(), Failure> {
        let asked = bench.counters().await?;
        let (of_kind, other, items, sum) = if self.work == Work::Command {
            let version = crate::payload::COMMAND_VERSION;
            (asked.commands, asked.pages, 1, version)
        } else {
            let limit = u64::from(job.plan.limit);
            (asked.pages, asked.commands, limit, done.sum_of_page)
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

/// A table in Markdown, its cells separated by ` | `.
pub fn table(head: &str, rows: impl IntoIterator<Item = String>) -> String {
    let columns = head.split(" | ").count();
    let mut table = format!("| {head} |\n|{}\n", "---|".repeat(columns));
    for row in rows {
        table += &format!("| {row} |\n");
    }
    table
}
