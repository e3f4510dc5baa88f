//! The table: every client, every transport, page and command.

use std::fmt::Write as _;
use std::path::PathBuf;

use super::{Effort, figure, progress};
use crate::clients::Failure;
use crate::load::Work;
use crate::measure::{Case, median};
use crate::process::{Bench, Transport};

/// What all others are compared with.
pub const BASE: &str = "reqwest";

/// Every client, what it is called, and whether it is measured over all transports. Those that are not are reqwest
/// with something on top, which costs there what it costs here.
const CLIENTS: [(&str, &str, bool); 8] = [
    ("hyper", "hyper's pool, tuned types", true),
    (BASE, "**reqwest, handwritten**", true),
    ("reqwest-tuned", "reqwest, hand-tuned", true),
    ("reqwest-middleware", "reqwest-middleware with retry", false),
    ("progenitor", "progenitor as it comes", false),
    ("octocrab", "octocrab", false),
    ("sdk", "**this SDK**", true),
    (
        "sdk-decoded",
        "this SDK, records decoded into a struct",
        false,
    ),
];

/// One client over one transport.
pub struct Row {
    pub client: &'static str,
    name: &'static str,
    pub transport: Transport,
    pub page: Option<Cell>,
    pub command: Option<Cell>,
}

/// What one kind of work cost. Ratios are those to [`BASE`].
#[derive(Clone, Debug, Default)]
pub struct Cell {
    instructions: Option<f64>,
    pub instruction_ratio: Option<f64>,
    allocations: f64,
    pub allocation_ratio: f64,
    /// Operations per second with 64 in flight.
    rate: f64,
    pub throughput_ratio: f64,
    /// KiB at most with 64 in flight.
    peak: f64,
    pub peak_ratio: f64,
    /// Microseconds of an operation, one after the other.
    p50: f64,
    p50_ratio: f64,
}

/// Measures every client over every transport.
pub async fn measure(bench: &Bench, effort: Effort) -> Result<Vec<Row>, Failure> {
    let octocrab = super::document::octocrab(&bench.program).await;
    if let Err(why) = &octocrab {
        progress(&format!("without octocrab: {why}"));
    }
    let mut rows = Vec::new();
    for transport in [
        Transport::H1,
        Transport::H2,
        Transport::H1Tls,
        Transport::H2Tls,
    ] {
        let mut here: Vec<Row> = CLIENTS
            .iter()
            .filter(|&&(client, _, everywhere)| {
                let there = client != "octocrab" || octocrab.is_ok();
                there && (everywhere || transport == Transport::H1)
            })
            .map(|&(client, name, _)| Row {
                client,
                name,
                transport,
                page: None,
                command: None,
            })
            .collect();
        for work in [Work::Page, Work::Command] {
            let cases: Vec<Case> = here
                .iter()
                // A command's result is decoded anyway.
                .filter(|row| work == Work::Page || row.client != "sdk-decoded")
                .map(|row| case(bench, row, work, octocrab.as_ref().ok()))
                .collect();
            let cells = cells(bench, &cases, effort).await?;
            for (case, cell) in cases.iter().zip(cells) {
                let row = here.iter_mut().find(|row| row.client == case.client);
                let row = row.ok_or("every case has a row")?;
                match work {
                    Work::Page => row.page = Some(cell),
                    _ => row.command = Some(cell),
                }
            }
        }
        rows.append(&mut here);
    }
    Ok(rows)
}

fn case(bench: &Bench, row: &Row, work: Work, octocrab: Option<&PathBuf>) -> Case {
    let mut case = Case::new(bench, row.client, row.transport, work);
    if let ("octocrab", Some(program)) = (row.client, octocrab) {
        case.program.clone_from(program);
    }
    case
}

async fn cells(bench: &Bench, cases: &[Case], effort: Effort) -> Result<Vec<Cell>, Failure> {
    let mut cells = Vec::with_capacity(cases.len());
    for case in cases {
        progress(&format!(
            "{}: {:?} by {}",
            case.transport.name(),
            case.work,
            case.client
        ));
        let times = if case.work == Work::Page {
            effort.pages
        } else {
            effort.commands
        };
        let counted = case.run(bench, Some(500), 0, 1).await?;
        cells.push(Cell {
            instructions: if bench.valgrind {
                Some(case.instructions(bench, times).await?)
            } else {
                None
            },
            allocations: counted.allocations as f64 / counted.operations as f64,
            ..Cell::default()
        });
    }
    let base = cases
        .iter()
        .position(|case| case.client == BASE)
        .ok_or("no base")?;
    timed(bench, cases, effort, base, &mut cells).await?;
    let reference = cells[base].clone();
    for cell in &mut cells {
        cell.instruction_ratio = cell
            .instructions
            .zip(reference.instructions)
            .map(|(own, base)| own / base);
        cell.allocation_ratio = cell.allocations / reference.allocations;
        cell.peak_ratio = cell.peak / reference.peak;
    }
    Ok(cells)
}

/// All clients take turns, so that what disturbs the machine disturbs all of them; a ratio is that of one round.
async fn timed(
    bench: &Bench,
    cases: &[Case],
    effort: Effort,
    base: usize,
    cells: &mut [Cell],
) -> Result<(), Failure> {
    let (mut rates, mut peaks, mut p50s) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..effort.rounds {
        progress(&format!("round {} of {}", round + 1, effort.rounds));
        let (mut rate, mut peak, mut p50) = (Vec::new(), Vec::new(), Vec::new());
        for case in cases {
            let many = case.run(bench, None, effort.millis, 64).await?;
            rate.push(many.operations as f64 / many.seconds);
            peak.push(many.peak as f64);
            p50.push(case.run(bench, None, effort.millis / 2, 1).await?.p50);
        }
        rates.push(rate);
        peaks.push(peak);
        p50s.push(p50);
    }
    let own = |rounds: &[Vec<f64>], index: usize| {
        median(rounds.iter().map(|round| round[index]).collect()).unwrap_or_default()
    };
    let ratio = |rounds: &[Vec<f64>], index: usize| {
        median(
            rounds
                .iter()
                .map(|round| round[index] / round[base])
                .collect(),
        )
        .unwrap_or_default()
    };
    for (index, cell) in cells.iter_mut().enumerate() {
        cell.rate = own(&rates, index);
        cell.throughput_ratio = ratio(&rates, index);
        cell.peak = own(&peaks, index);
        cell.p50 = own(&p50s, index);
        cell.p50_ratio = ratio(&p50s, index);
    }
    Ok(())
}

/// As Markdown: ratios, and for the base what they are ratios of.
pub fn render(rows: &[Row]) -> String {
    let mut text = String::from(concat!(
        "| transport, client | page: instr | allocs | at 64 | peak | p50 | command: instr | allocs | at 64 | peak | p50 |\n",
        "|---|---|---|---|---|---|---|---|---|---|---|\n",
    ));
    for row in rows {
        let (page, command) = (
            columns(row, row.page.as_ref()),
            columns(row, row.command.as_ref()),
        );
        let _ = writeln!(
            text,
            "| {}: {} | {page} | {command} |",
            row.transport.name(),
            row.name
        );
    }
    text
}

fn columns(row: &Row, cell: Option<&Cell>) -> String {
    let Some(cell) = cell else {
        return "as above | | | |".to_owned();
    };
    if row.client == BASE {
        return format!(
            "1 ({} k) | 1 ({:.0}) | 1 ({:.1} k/s) | 1 ({:.1} MiB) | 1 ({:.0} us)",
            figure(cell.instructions.map(|count| count / 1e3), 1),
            cell.allocations,
            cell.rate / 1e3,
            cell.peak / 1024.0,
            cell.p50,
        );
    }
    format!(
        "{} | {:.2} | {:.2} | {:.2} | {:.2}",
        figure(cell.instruction_ratio, 3),
        cell.allocation_ratio,
        cell.throughput_ratio,
        cell.peak_ratio,
        cell.p50_ratio,
    )
}
