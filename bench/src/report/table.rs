//! The table: every client, every transport, page and command.

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
const CLIENTS: [(&str, &str, bool); 12] = [
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
    (
        "sdk-sliced",
        "this SDK, records decoded into a struct of `Text`",
        false,
    ),
    (
        "sdk-borrowed",
        "this SDK, records, and then views of them",
        false,
    ),
    ("sdk-lean", "**this SDK, lean transport**", true),
    (
        "sdk-lean-decoded",
        "the same, records decoded into a struct",
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

/// What one kind of work cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cell {
    pub instructions: Figure,
    pub allocations: Figure,
    /// Operations per second with 64 in flight.
    pub throughput: Figure,
    /// KiB at most with 64 in flight.
    pub peak: Figure,
    /// Microseconds of an operation, one after the other.
    pub p50: Figure,
}

/// A figure, and its ratio to that of [`BASE`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Figure {
    value: Option<f64>,
    pub ratio: Option<f64>,
}

/// Measures every client over every transport.
pub async fn measure(bench: &Bench, effort: Effort) -> Result<Vec<Row>, Failure> {
    let octocrab = super::document::octocrab(&bench.program).await;
    if let Err(why) = &octocrab {
        progress(&format!("without octocrab: {why}"));
    }
    let mut rows = Vec::new();
    for transport in Transport::ALL {
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
                .filter(|row| work == Work::Page || !row.client.ends_with("-decoded"))
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
    let mut counts = Vec::with_capacity(cases.len());
    for case in cases {
        let transport = case.transport.name();
        progress(&format!("{transport}: {:?} by {}", case.work, case.client));
        let times = if case.work == Work::Page {
            effort.pages
        } else {
            effort.commands
        };
        let counted = case.run(bench, Some(500), 0, 1).await?;
        let allocations = counted.allocations as f64 / counted.operations as f64;
        counts.push((case.instructions(bench, times).await?, allocations));
    }
    let rounds = timed(bench, cases, effort).await?;
    let base = cases.iter().position(|case| case.client == BASE);
    let base = base.ok_or("no base")?;
    let of_rounds = |of: &dyn Fn(&[Turn]) -> f64| median(rounds.iter().map(|it| of(it)).collect());
    let cell = |own: usize| {
        let once = |of: &dyn Fn(usize) -> Option<f64>| Figure {
            value: of(own),
            ratio: of(own).zip(of(base)).map(|(own, base)| own / base),
        };
        let timed = |of: fn(&Turn) -> f64| Figure {
            value: of_rounds(&|round| of(&round[own])),
            ratio: of_rounds(&|round| of(&round[own]) / of(&round[base])),
        };
        Cell {
            instructions: once(&|at| counts[at].0),
            allocations: once(&|at| Some(counts[at].1)),
            throughput: timed(|turn| turn.rate),
            peak: once(&|at| of_rounds(&|round| round[at].peak)),
            p50: timed(|turn| turn.p50),
        }
    };
    Ok((0..cases.len()).map(cell).collect())
}

/// What a client did in its turn of a round.
struct Turn {
    rate: f64,
    peak: f64,
    p50: f64,
}

/// All clients take turns, so that what disturbs the machine disturbs all of them; a ratio is that of one round.
async fn timed(bench: &Bench, cases: &[Case], effort: Effort) -> Result<Vec<Vec<Turn>>, Failure> {
    let mut rounds = Vec::new();
    for round in 0..effort.rounds {
        progress(&format!("round {} of {}", round + 1, effort.rounds));
        let mut turns = Vec::new();
        for case in cases {
            let many = case.run(bench, None, effort.millis, 64).await?;
            turns.push(Turn {
                rate: many.operations as f64 / many.seconds,
                peak: many.peak as f64,
                p50: case.run(bench, None, effort.millis / 2, 1).await?.p50,
            });
        }
        rounds.push(turns);
    }
    Ok(rounds)
}

/// As Markdown: ratios, and for the base what they are ratios of.
pub fn render(rows: &[Row]) -> String {
    let rows = rows.iter().map(|row| {
        let [page, command] = [&row.page, &row.command].map(|cell| columns(row, cell.as_ref()));
        let transport = row.transport.name();
        format!("{transport}: {} | {page} | {command}", row.name)
    });
    crate::measure::table(
        "transport, client | page: instr | allocs | at 64 | peak | p50 | command: instr | allocs | at 64 | peak | p50",
        rows,
    )
}

fn columns(row: &Row, cell: Option<&Cell>) -> String {
    let Some(cell) = cell else {
        return "as above | | | |".to_owned();
    };
    if row.client == BASE {
        let value = |of: Figure, unit: f64, digits| figure(of.value.map(|it| it / unit), digits);
        return format!(
            "1 ({} k) | 1 ({}) | 1 ({} k/s) | 1 ({} MiB) | 1 ({} us)",
            value(cell.instructions, 1e3, 1),
            value(cell.allocations, 1.0, 0),
            value(cell.throughput, 1e3, 1),
            value(cell.peak, 1024.0, 1),
            value(cell.p50, 1.0, 0),
        );
    }
    let others = [cell.allocations, cell.throughput, cell.peak, cell.p50];
    let others = others.map(|other| figure(other.ratio, 2)).join(" | ");
    format!("{} | {others}", figure(cell.instructions.ratio, 3))
}
