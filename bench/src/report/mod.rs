//! One run over everything, and the text that comes of it.

pub mod document;
mod goals;
mod growth;
mod parts;
mod table;

use std::fmt::Write as _;

use crate::clients::Failure;
use crate::growth::Growth;
use crate::observer::Observers;
use crate::process::Bench;

/// How much time to take.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Operations whose instructions are counted.
    pub pages: u64,
    pub commands: u64,
    /// Rounds of timed runs, in each of which every client has its turn, and how long such a turn is.
    pub rounds: usize,
    pub millis: u64,
    /// Calls of the section on growth.
    pub calls: u64,
}

impl Effort {
    pub const FULL: Self = Self {
        pages: 100,
        commands: 500,
        rounds: 9,
        millis: 300,
        calls: 20_000,
    };
    pub const QUICK: Self = Self {
        pages: 25,
        commands: 100,
        rounds: 3,
        millis: 100,
        calls: 4000,
    };
}

/// Measures everything and returns the report.
pub async fn run(effort: Effort) -> Result<String, Failure> {
    let bench = Bench::start().await?;
    let result = all(&bench, effort).await;
    bench.end().await?;
    result
}

async fn all(bench: &Bench, effort: Effort) -> Result<String, Failure> {
    let began = std::time::Instant::now();
    let rows = table::measure(bench, effort).await?;
    let parts = parts::measure(bench, effort).await?;
    let in_flight = growth::measure(bench, effort).await?;
    let growth = Growth::measure(bench).await?;
    let observers = Observers::measure(bench).await?;
    let mut text = document::circumstances(bench).await;
    writeln!(
        text,
        "The run took {:.0} minutes.\n",
        began.elapsed().as_secs_f64() / 60.0
    )?;
    writeln!(
        text,
        "## Goals\n\n{}",
        goals::render(&rows, &parts, &growth, &observers)
    )?;
    writeln!(text, "## One call\n\n{}", table::render(&rows))?;
    writeln!(text, "## Tokens, tracing, walks\n\n{}", parts.render())?;
    writeln!(text, "## Growth\n\n{}", growth::render(&in_flight))?;
    writeln!(text, "{}", growth.render())?;
    writeln!(text, "## Observers\n\n{}", observers.render())?;
    Ok(text)
}

/// What is going on, for whoever waits.
fn progress(what: &str) {
    eprintln!("{what}");
}

/// A figure, or that there is none.
fn figure(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
}
