//! Tokens, disabled tracing, lists, and calls in memory.

use super::{Report, median, ratio, shown};
use crate::clients::Failure;
use crate::listing::{Listed, STRETCH};
use crate::micro::{self, PARTS};
use crate::process::{Bench, Task};
use crate::token::{self, CALLERS, EXCHANGE, Storm};

const STORMS: [(Storm, &str); 4] = rows! {
    Storm::Success, "expired";
    Storm::Failure, "expired, the exchange fails";
    Storm::Cancelled, "expired, half of the callers are cancelled";
    Storm::Soft, "due for renewal";
};

/// The number of pages of the long lists. With 50 items each, the lists have a million items.
const PAGES: usize = 20_000;

pub async fn measure(bench: &Bench, effort: u64, report: &mut Report) -> Result<(), Failure> {
    tokens(bench, report).await?;
    small(bench, report).await?;
    lists(bench, effort, report).await?;
    eprintln!("calls in memory");
    report.note("in memory", Some(micro::in_memory().await?));
    Ok(())
}

async fn tokens(bench: &Bench, report: &mut Report) -> Result<(), Failure> {
    let exchange = EXCHANGE.as_millis();
    let mut rows = Vec::new();
    for (storm, title) in STORMS {
        eprintln!("{CALLERS} callers: {title}");
        bench.counters();
        let (served, failed, waits) = token::storm(&bench.origin(), storm).await?;
        // Without the exchange of the expired token.
        let exchanges = bench.counters().tokens - 1;
        report.note(format!("{storm:?}, exchanges"), Some(exchanges as f64));
        report.note(format!("{storm:?}, p99"), Some(waits[1] / exchange as f64));
        report.note(format!("{storm:?}, longest"), Some(waits[2]));
        let waits = waits.map(|wait| format!("{wait:.2}")).join(" | ");
        rows.push(format!(
            "{title} | {exchanges} | {served} | {failed} | {waits}"
        ));
    }
    eprintln!("renewals");
    let share = token::renewals(&bench.origin()).await?;
    report.note("renewal", Some(share * 300.0));
    report.paragraph(&format!(
        "{CALLERS} concurrent callers. An exchange takes {exchange} ms plus the network time."
    ));
    let head = "token | exchanges | served | failed | p50 wait, ms | p99 wait, ms | longest, ms";
    report.table(head, &rows);
    Ok(())
}

async fn small(bench: &Bench, report: &mut Report) -> Result<(), Failure> {
    eprintln!("small parts");
    let costs = micro::costs(bench).await?;
    let mut rows = Vec::new();
    for (title, &(instructions, allocations)) in PARTS.into_iter().zip(&costs[1..]) {
        let instructions = instructions.zip(costs[0].0);
        let instructions = instructions.map(|(own, nothing)| own - nothing);
        report.note(format!("{title}, instructions"), instructions);
        report.note(format!("{title}, allocations"), Some(allocations));
        let instructions = shown(instructions, 0);
        rows.push(format!("{title} | {instructions} | {allocations:.0}"));
    }
    report.table("part | instructions | allocations", &rows);
    Ok(())
}

async fn lists(bench: &Bench, effort: u64, report: &mut Report) -> Result<(), Failure> {
    let task = |pages, limit, by_page| {
        eprintln!("a list of {pages} pages");
        Task::List(bench.origin(), pages, limit, by_page)
    };
    let some = 100 * effort as usize;
    let (_, by_items): (Listed, _) = bench.work(&task(some, 50, false), true).await?;
    let (_, by_page): (Listed, _) = bench.work(&task(some, 50, true), true).await?;
    let against_loop = ratio(by_items.get(1).copied(), by_page.get(1).copied());
    report.note("items against loop", against_loop);
    let (listed, _): (Listed, _) = bench.work(&task(PAGES, 50, false), false).await?;
    let (micros, memory) = (listed.micros, listed.memory);
    let added = memory[memory.len() - 1] - memory[0];
    report.note("list, added memory", Some(added));
    // A single stretch is not significant.
    let (first, rest) = micros.split_at(micros.len() / 4);
    let last = &rest[rest.len() - first.len()..];
    let [first, last] = [first, last].map(|quarter| median(quarter.iter().copied()));
    let slowdown = ratio(last, first);
    let (_, counts): (Listed, _) = bench.work(&task(PAGES, 1, false), true).await?;
    let thousand = |at| Some(counts.get(at)? / STRETCH as f64);
    let [second, last] = [2, PAGES / STRETCH].map(thousand);
    report.note("list, last against second", ratio(last, second));
    let rows = rows! {
        "`items()` against a loop over pages, instructions", shown(against_loop, 4);
        "items of the long list", listed.items.to_string();
        "memory after the first thousand pages, KiB", memory[0].to_string();
        "memory added until the end, KiB", added.to_string();
        "processor time of the last quarter against the first, medians", shown(slowdown, 3);
        "pages of one item: instructions per page in the second thousand", shown(second, 0);
        "pages of one item: instructions per page in the last thousand", shown(last, 0);
    };
    let rows = rows.map(|(title, figure)| format!("{title} | {figure}"));
    report.table("list | figure", &rows);
    Ok(())
}
