//! The table of one call: every client, every transport, page and command.

use super::{Report, median, ratio, shown};
use crate::clients::Failure;
use crate::load::{Until, Work};
use crate::process::{Bench, Case, TRANSPORTS};

/// Every client, its title, and whether it is measured over all transports. The remaining clients add a layer to
/// reqwest with the same cost over any transport, or are the SDK's clients with another decoding.
const CLIENTS: [(&str, &str, bool); 12] = rows! {
    "hyper", "hyper's pool, tuned types", true;
    "reqwest", "**reqwest, handwritten**", true;
    "reqwest-tuned", "reqwest, hand-tuned", true;
    "reqwest-middleware", "reqwest-middleware with retry", false;
    "progenitor", "progenitor, unmodified", false;
    "octocrab", "octocrab", false;
    "sdk", "**this SDK**", true;
    "sdk-decoded", "this SDK, records decoded into a struct", false;
    "sdk-sliced", "this SDK, records decoded into a struct of `Text`", false;
    "sdk-borrowed", "this SDK, raw records, then views", false;
    "sdk-lean", "**this SDK, hyper transport**", true;
    "sdk-lean-decoded", "this SDK, hyper transport, records decoded into a struct", false;
};

/// The index of reqwest, the base of all comparisons.
const BASE: usize = 1;

/// A column: its name, and the unit and digits of reqwest's figures. The columns are instructions and allocations per
/// operation, operations per second and peak KiB with 64 in flight, and microseconds of a single operation.
const COLUMNS: [(&str, f64, usize, &str); 5] = rows! {
    "instructions", 1e3, 1, " k";
    "allocations", 1.0, 0, "";
    "throughput", 1e3, 1, " k/s";
    "peak", 1024.0, 1, " MiB";
    "p50", 1.0, 0, " us";
};

type Turn = [Option<f64>; COLUMNS.len()];

pub async fn measure(bench: &Bench, effort: u64, report: &mut Report) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for transport in TRANSPORTS {
        let clients = CLIENTS.into_iter().filter(|&(client, _, everywhere)| {
            let there = client != "octocrab" || bench.octocrab.is_some();
            there && (everywhere || transport == TRANSPORTS[0])
        });
        let clients: Vec<(&str, &str, bool)> = clients.collect();
        let line = |(_, title, _): &_| format!("{transport}: {title}");
        let mut lines: Vec<String> = clients.iter().map(line).collect();
        for work in [Work::Page, Work::Command] {
            let cases = clients.iter().map(|it| Case(it.0, transport, work));
            let cases: Vec<Case> = cases.collect();
            let rounds = rounds(bench, &cases, effort).await?;
            for (at, line) in lines.iter_mut().enumerate() {
                for (column, (name, unit, digits, suffix)) in COLUMNS.into_iter().enumerate() {
                    let turns = rounds.iter().map(|it| (it[at][column], it[BASE][column]));
                    let figure = median(turns.clone().filter_map(|(own, _)| Some(own? / unit)));
                    let against = median(turns.filter_map(|(own, base)| ratio(own, base)));
                    let precision = if column == 0 { 3 } else { 2 };
                    *line += &match at {
                        BASE => format!(" | 1 ({}{suffix})", shown(figure, digits)),
                        _ => format!(" | {}", shown(against, precision)),
                    };
                    if transport == TRANSPORTS[0] {
                        report.note(format!("{} {work:?}, {name}", cases[at].0), against);
                    }
                }
            }
        }
        rows.append(&mut lines);
    }
    let head = "transport, client | page: instr | allocs | at 64 | peak | p50 | command: instr | allocs | at 64 | peak | p50";
    report.table(head, &rows);
    Ok(())
}

/// All clients take turns, so a disturbance of the machine affects all of them.
async fn rounds(bench: &Bench, cases: &[Case], effort: u64) -> Result<Vec<Vec<Turn>>, Failure> {
    let rounds = 2 * effort as usize + 1;
    let mut turns = vec![vec![Turn::default(); cases.len()]; rounds];
    for (at, &case) in cases.iter().enumerate() {
        eprintln!("{case:?}");
        let times = if case.2 == Work::Page { 25 } else { 125 };
        let cost = bench.load(case, Until::Counted(times * effort), 1).await?;
        for round in &mut turns {
            round[at][0] = cost.instructions;
            round[at][1] = Some(cost.allocations);
        }
    }
    for (number, round) in turns.iter_mut().enumerate() {
        eprintln!("round {} of {rounds}", number + 1);
        for (turn, &case) in round.iter_mut().zip(cases) {
            let many = bench.load(case, Until::Millis(75 * effort), 64).await?;
            let alone = bench.load(case, Until::Millis(40 * effort), 1).await?;
            turn[2..].copy_from_slice(&[many.per_second, many.peak, alone.p50].map(Some));
        }
    }
    Ok(turns)
}
