//! What an observer adds to a call: nothing, an empty one, metrics.

use std::fmt::Write as _;

use crate::clients::Failure;
use crate::load::Work;
use crate::measure::Case;
use crate::process::{Bench, Transport};

/// Clients with their titles, and the most instructions that each may add to the first.
const CLIENTS: [(&str, &str, f64); 3] = [
    ("sdk", "no observer", 0.0),
    ("sdk-observed", "an empty observer", 200.0),
    ("sdk-metrics", "`sdk-opentelemetry`", 1_500.0),
];

/// Measures, and returns the table.
pub async fn run() -> Result<String, Failure> {
    let mut bench = Bench::start().await?;
    bench.valgrind &= !cfg!(debug_assertions);
    let table = measure(&bench).await;
    bench.end().await?;
    table
}

async fn measure(bench: &Bench) -> Result<String, Failure> {
    let mut table = String::from(
        "| a call with | page: instructions | added | allocations | command: instructions | added | allocations |\n\
         |---|---|---|---|---|---|---|\n",
    );
    let works = [(Work::Page, 200), (Work::Command, 800)];
    let mut plain = [None; 2];
    for (client, title, most) in CLIENTS {
        write!(table, "| {title} ")?;
        for ((work, times), plain) in works.into_iter().zip(&mut plain) {
            let case = Case::new(bench, client, Transport::H1, work);
            let done = case.run(bench, Some(times), 0, 1).await?;
            let allocations = done.allocations as f64 / done.operations as f64;
            match case.instructions(bench, times).await? {
                None => write!(table, "| – | – ")?,
                Some(count) => {
                    let added = count - *plain.get_or_insert(count);
                    let sign = if added > most { " (too much)" } else { "" };
                    write!(table, "| {count:.0} | {added:+.0}{sign} ")?;
                }
            }
            write!(table, "| {allocations:.2} ")?;
        }
        table.push_str("|\n");
    }
    Ok(table)
}
