//! The goals of the project, and whether they are reached.

use super::figure;
use super::parts::Parts;
use super::table::{Cell, Row};
use crate::growth::{Growth, Many};
use crate::measure::table;
use crate::micro::Part;
use crate::observer::Observers;
use crate::process::Transport;
use crate::token::{EXCHANGE, Storm};

/// A goal and its bounds: the one to keep, and perhaps one beyond it.
struct Goal {
    what: &'static str,
    figure: Option<f64>,
    bounds: Vec<Bound>,
}

/// `<=` or `>=`, and what of.
struct Bound(&'static str, f64);

/// A goal in each line: what it is, its figure, and its bounds.
macro_rules! goals {
    ($($what:literal: $figure:expr, $($sign:tt $limit:literal),+;)+) => {
        vec![$(Goal {
            what: $what,
            figure: $figure,
            bounds: vec![$(Bound(stringify!($sign), $limit)),+],
        }),+]
    };
}

impl Bound {
    fn text(&self) -> String {
        format!("{} {}", self.0, self.1)
    }

    fn reached(&self, figure: Option<f64>) -> &'static str {
        match figure {
            None => "not measured",
            Some(figure) if figure <= self.1 && self.0 == "<=" => "yes",
            Some(figure) if figure >= self.1 && self.0 == ">=" => "yes",
            Some(_) => "**no**",
        }
    }
}

/// As Markdown: the goals of now, and those of 0.1.0, which go on holding.
pub fn render(rows: &[Row], parts: &Parts, growth: &Growth, observers: &Observers) -> String {
    let first = calls(rows).into_iter().chain(of_parts(parts)).collect();
    let (now, first) = (listed(now(rows, parts, growth, observers)), listed(first));
    format!("{now}\nThose of 0.1.0, which go on holding:\n\n{first}")
}

fn listed(goals: Vec<Goal>) -> String {
    let rows = goals.into_iter().map(|goal| {
        let digits = if goal.figure.is_some_and(|figure| figure >= 10.0) {
            1
        } else {
            3
        };
        let value = figure(goal.figure, digits);
        let (bound, reached) = (goal.bounds[0].text(), goal.bounds[0].reached(goal.figure));
        let stretch = goal.bounds.get(1).map_or_else(String::new, |stretch| {
            format!("{}: {}", stretch.text(), stretch.reached(goal.figure))
        });
        format!("{} | {bound} | {value} | {reached} | {stretch}", goal.what)
    });
    table("goal | bound | figure | reached | stretch", rows)
}

/// What a client did over HTTP/1.1.
fn cell(rows: &[Row], client: &str, of: fn(&Row) -> Option<Cell>) -> Cell {
    let mut rows = rows.iter().filter(|row| row.transport == Transport::H1);
    let row = rows.find(|row| row.client == client);
    row.and_then(of).unwrap_or_default()
}

fn now(rows: &[Row], parts: &Parts, growth: &Growth, observers: &Observers) -> Vec<Goal> {
    let page = cell(rows, "sdk", |row| row.page);
    let decoded = cell(rows, "sdk-decoded", |row| row.page);
    let command = cell(rows, "sdk", |row| row.command);
    let sliced = cell(rows, "sdk-sliced", |row| row.page);
    let lean_page = cell(rows, "sdk-lean", |row| row.page);
    let lean = cell(rows, "sdk-lean", |row| row.command);
    let (empty, allocated) = observers.added("sdk-observed");
    let [micros, bytes] = growth.installation();
    goals! {
        "page, instructions, records kept open": page.instructions.ratio, <= 0.36;
        "page, instructions, records decoded into owned structs": decoded.instructions.ratio, <= 0.70;
        "page, instructions, records decoded into structs that share the page": sliced.instructions.ratio, <= 0.55;
        "command, instructions": command.instructions.ratio, <= 0.90, <= 0.85;
        "page, instructions, records kept open, lean transport": lean_page.instructions.ratio, <= 0.36, <= 0.33;
        "command, instructions, lean transport": lean.instructions.ratio, <= 0.62, <= 0.58;
        "command, throughput at 64 in flight, lean transport": lean.throughput.ratio, >= 1.40;
        "an empty observer, instructions that it adds to a command": empty, <= 200.0;
        "the same: allocations": allocated, <= 0.0;
        "metrics, instructions that they add to a command": observers.added("sdk-metrics").0, <= 1500.0;
        "a call through the reference server in memory, microseconds": Some(parts.in_memory), <= 100.0;
        "an installation beside 10,000 others: microseconds to make it": micros, <= 20.0;
        "the same: bytes": bytes, <= 2048.0;
        "10,000 installations against 10: memory, making and calls, the worst ratio": growth.worst(Many::Installations), <= 1.05;
        "10,000 live tokens against 10: memory and lookup, the worst ratio": growth.worst(Many::Tokens), <= 1.05;
        "10,000 idle connections against 10: memory and calls, the worst ratio": growth.worst(Many::Connections), <= 1.05;
        "a page in a walk of 10,000 against one in a walk of 10, instructions": growth.worst(Many::Pages), <= 1.05;
    }
}

fn calls(rows: &[Row]) -> Vec<Goal> {
    let page = cell(rows, "sdk", |row| row.page);
    let decoded = cell(rows, "sdk-decoded", |row| row.page);
    let command = cell(rows, "sdk", |row| row.command);
    goals! {
        "page, instructions": page.instructions.ratio, <= 0.70, <= 0.63;
        "page, instructions, records decoded into a struct": decoded.instructions.ratio, <= 0.70, <= 0.63;
        "command, instructions": command.instructions.ratio, <= 1.05, <= 0.85;
        "page, throughput at 64 in flight": page.throughput.ratio, >= 1.20;
        "page, throughput at 64, records decoded": decoded.throughput.ratio, >= 1.20;
        "command, throughput at 64 in flight": command.throughput.ratio, >= 0.95, >= 1.15;
        "page, allocations": page.allocations.ratio, <= 0.65;
        "page, allocations, records decoded": decoded.allocations.ratio, <= 0.65;
        "command, allocations": command.allocations.ratio, <= 1.4, <= 1.2;
        "page, peak memory at 64 in flight": page.peak.ratio, <= 1.10;
        "command, peak memory at 64 in flight": command.peak.ratio, <= 1.10;
    }
}

fn of_parts(parts: &Parts) -> Vec<Goal> {
    let exchanges = |kind| parts.storm(kind).map(|seen| seen.exchanges as f64);
    let p99 = |kind| {
        let seen = parts.storm(kind);
        seen.map(|seen| seen.p99 / (EXCHANGE.as_secs_f64() * 1e3))
    };
    let longest = parts.storm(Storm::Soft).map(|seen| seen.longest);
    let instructions = |part| parts.small(part).0;
    goals! {
        "live token as a call takes it, instructions": instructions(Part::TokenAtHand), <= 200.0;
        "live token by `bearer().await`, instructions": instructions(Part::Token), <= 200.0;
        "live token, allocations": parts.small(Part::Token).1, <= 0.0;
        "disabled span, instructions": instructions(Part::Span), <= 30.0;
        "disabled event, instructions": instructions(Part::Event), <= 30.0;
        "exchanges for 10,000 callers at an expired token": exchanges(Storm::Success), <= 1.0;
        "the same, when the exchange fails": exchanges(Storm::Failure), <= 1.0;
        "the same, when half of them are cancelled": exchanges(Storm::Cancelled), <= 1.0;
        "p99 of their wait against the exchange": p99(Storm::Success), <= 1.5;
        "p99 of their wait, when it fails": p99(Storm::Failure), <= 1.5;
        "p99 of their wait, half cancelled": p99(Storm::Cancelled), <= 1.5;
        "soft expiry: exchanges": exchanges(Storm::Soft), <= 1.0;
        "soft expiry: longest wait of 10,000 callers, ms (an exchange takes 100)": longest, <= 10.0;
        "seconds from one renewal of a 300 s token to the next, from one of 3 s": Some(parts.renewed_after * 300.0), >= 200.0;
        "`items()` against a loop over pages, instructions": parts.items_against_loop, <= 1.03;
        "walk of 1,000,000 items: memory that it adds after its first thousand pages, KiB": Some(parts.growth()), <= 256.0;
        "the same: instructions of its last thousand pages against the second thousand": parts.ends.map(|(first, last)| last / first), <= 1.02;
    }
}
