//! Runs measurements and writes their figures as Markdown.

/// Defines a table of constants with one line per row.
macro_rules! rows {
    ($($($cell:expr),+;)+) => { [$(($($cell),+)),+] };
}

#[cfg(feature = "peers")]
mod calls;
#[cfg(feature = "peers")]
mod document;
#[cfg(feature = "peers")]
mod goals;
mod growth;
#[cfg(feature = "peers")]
mod in_flight;
mod observers;
#[cfg(feature = "peers")]
mod parts;

use std::collections::BTreeMap;

use crate::clients::Failure;
use crate::process::Bench;

/// A report that grows section by section, and the figures that goals use, by name.
#[derive(Default)]
struct Report {
    text: String,
    figures: BTreeMap<String, f64>,
}

impl Report {
    fn paragraph(&mut self, text: &str) {
        self.text += &format!("{text}\n\n");
    }

    /// Adds a table. ` | ` separates the cells of a row.
    fn table(&mut self, head: &str, rows: &[String]) {
        let columns = "---|".repeat(head.split(" | ").count());
        let rows = rows.join(" |\n| ");
        self.paragraph(&format!("| {head} |\n|{columns}\n| {rows} |"));
    }

    fn note(&mut self, name: impl Into<String>, figure: Option<f64>) {
        let figure = figure.map(|figure| (name.into(), figure));
        self.figures.extend(figure);
    }
}

/// Formats a figure, or a dash for a missing figure.
fn shown(figure: Option<f64>, digits: usize) -> String {
    figure.map_or_else(|| "-".to_owned(), |figure| format!("{figure:.digits$}"))
}

pub fn ratio(of: Option<f64>, to: Option<f64>) -> Option<f64> {
    Some(of? / to?)
}

/// Prints a table that can be measured separately, in any build.
pub async fn alone(name: &str) -> Result<(), Failure> {
    let bench = Bench::start().await?;
    let mut report = Report::default();
    match name {
        "growth" => growth::measure(&bench, &mut report).await?,
        _ => observers::measure(&bench, &mut report).await?,
    }
    println!("{}", report.text);
    Ok(())
}

/// Measures everything, prints the report, and optionally writes it into the document.
#[cfg(feature = "peers")]
pub async fn run(quick: bool, write: bool) -> Result<(), Failure> {
    let began = std::time::Instant::now();
    let octocrab = document::octocrab().await;
    let octocrab = octocrab.inspect_err(|why| eprintln!("without octocrab: {why}"));
    let mut bench = Bench::start().await?;
    bench.octocrab = octocrab.ok();
    // Multiplies operations, milliseconds and rounds.
    let effort = if quick { 1 } else { 4 };
    let mut report = Report::default();
    report.paragraph("## One call");
    calls::measure(&bench, effort, &mut report).await?;
    report.paragraph("## Tokens, tracing, lists");
    parts::measure(&bench, effort, &mut report).await?;
    report.paragraph("## Growth");
    in_flight::measure(&bench, effort, &mut report).await?;
    growth::measure(&bench, &mut report).await?;
    report.paragraph("## Observers");
    observers::measure(&bench, &mut report).await?;
    let sections = std::mem::take(&mut report.text);
    report.paragraph(&document::circumstances(&bench, began.elapsed()).await);
    goals::render(&mut report);
    let text = report.text + &sections;
    println!("{text}");
    if write {
        document::write(&text)?;
    }
    Ok(())
}

#[cfg(feature = "peers")]
fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_unstable_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    Some(f64::midpoint(values[last / 2], values[last.div_ceil(2)]))
}
