//! The goals of the project, and whether they are reached.

use std::fmt::Write as _;

use super::figure;
use super::parts::Parts;
use super::table::{Cell, Row};
use crate::micro::Part;
use crate::process::Transport;
use crate::token::{EXCHANGE, Storm};

/// A goal, perhaps with one beyond it.
struct Goal {
    what: &'static str,
    figure: Option<f64>,
    bound: Bound,
    stretch: Option<Bound>,
}

#[derive(Clone, Copy)]
enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

impl Bound {
    fn holds(self, figure: f64) -> bool {
        match self {
            Self::AtMost(limit) => figure <= limit,
            Self::AtLeast(limit) => figure >= limit,
        }
    }

    fn text(self) -> String {
        match self {
            Self::AtMost(limit) => format!("<= {limit}"),
            Self::AtLeast(limit) => format!(">= {limit}"),
        }
    }
}

use Bound::{AtLeast, AtMost};

fn goal(what: &'static str, figure: Option<f64>, bound: Bound) -> Goal {
    Goal {
        what,
        figure,
        bound,
        stretch: None,
    }
}

impl Goal {
    fn stretch(self, bound: Bound) -> Self {
        Self {
            stretch: Some(bound),
            ..self
        }
    }
}

/// As Markdown.
pub fn render(rows: &[Row], parts: &Parts) -> String {
    let mut text =
        String::from("| goal | bound | figure | reached | stretch |\n|---|---|---|---|---|\n");
    let of_calls = calls(rows);
    for goal in of_calls.into_iter().chain(of_parts(parts)) {
        let says = |bound: Bound| match goal.figure {
            None => "not measured",
            Some(figure) if bound.holds(figure) => "yes",
            Some(_) => "**no**",
        };
        let stretch = goal.stretch.map_or_else(String::new, |bound| {
            format!("{}: {}", bound.text(), says(bound))
        });
        let digits = if goal.figure.is_some_and(|figure| figure >= 10.0) {
            1
        } else {
            3
        };
        let value = figure(goal.figure, digits);
        let _ = writeln!(
            text,
            "| {} | {} | {value} | {} | {stretch} |",
            goal.what,
            goal.bound.text(),
            says(goal.bound)
        );
    }
    text
}

fn calls(rows: &[Row]) -> Vec<Goal> {
    let row = |client: &str| {
        rows.iter()
            .find(|row| row.transport == Transport::H1 && row.client == client)
    };
    let page = |client| row(client).and_then(|row| row.page.as_ref());
    let command = |client| row(client).and_then(|row| row.command.as_ref());
    let value = |cell: Option<&Cell>, of: fn(&Cell) -> f64| cell.map(of);
    vec![
        goal(
            "page, instructions",
            page("sdk").and_then(|cell| cell.instruction_ratio),
            AtMost(0.70),
        )
        .stretch(AtMost(0.63)),
        goal(
            "page, instructions, records decoded into a struct",
            page("sdk-decoded").and_then(|cell| cell.instruction_ratio),
            AtMost(0.70),
        )
        .stretch(AtMost(0.63)),
        goal(
            "command, instructions",
            command("sdk").and_then(|cell| cell.instruction_ratio),
            AtMost(1.05),
        )
        .stretch(AtMost(0.85)),
        goal(
            "page, throughput at 64 in flight",
            value(page("sdk"), |cell| cell.throughput_ratio),
            AtLeast(1.20),
        ),
        goal(
            "page, throughput at 64, records decoded",
            value(page("sdk-decoded"), |cell| cell.throughput_ratio),
            AtLeast(1.20),
        ),
        goal(
            "command, throughput at 64 in flight",
            value(command("sdk"), |cell| cell.throughput_ratio),
            AtLeast(0.95),
        )
        .stretch(AtLeast(1.15)),
        goal(
            "page, allocations",
            value(page("sdk"), |cell| cell.allocation_ratio),
            AtMost(0.65),
        ),
        goal(
            "page, allocations, records decoded",
            value(page("sdk-decoded"), |cell| cell.allocation_ratio),
            AtMost(0.65),
        ),
        goal(
            "command, allocations",
            value(command("sdk"), |cell| cell.allocation_ratio),
            AtMost(1.4),
        )
        .stretch(AtMost(1.2)),
        goal(
            "page, peak memory at 64 in flight",
            value(page("sdk"), |cell| cell.peak_ratio),
            AtMost(1.10),
        ),
        goal(
            "command, peak memory at 64 in flight",
            value(command("sdk"), |cell| cell.peak_ratio),
            AtMost(1.10),
        ),
    ]
}

fn of_parts(parts: &Parts) -> Vec<Goal> {
    let storm = |kind| parts.storm(kind);
    let exchanges = |kind| storm(kind).map(|seen| seen.exchanges as f64);
    let p99 = |kind| storm(kind).map(|seen| seen.p99 / (EXCHANGE.as_secs_f64() * 1e3));
    vec![
        goal(
            "live token as a call takes it, instructions",
            parts.small(Part::TokenAtHand).0,
            AtMost(200.0),
        ),
        goal(
            "live token by `bearer().await`, instructions",
            parts.small(Part::Token).0,
            AtMost(200.0),
        ),
        goal(
            "live token, allocations",
            parts.small(Part::Token).1,
            AtMost(0.0),
        ),
        goal(
            "disabled span, instructions",
            parts.small(Part::Span).0,
            AtMost(30.0),
        ),
        goal(
            "disabled event, instructions",
            parts.small(Part::Event).0,
            AtMost(30.0),
        ),
        goal(
            "exchanges for 10,000 callers at an expired token",
            exchanges(Storm::Success),
            AtMost(1.0),
        ),
        goal(
            "the same, when the exchange fails",
            exchanges(Storm::Failure),
            AtMost(1.0),
        ),
        goal(
            "the same, when half of them are cancelled",
            exchanges(Storm::Cancelled),
            AtMost(1.0),
        ),
        goal(
            "p99 of their wait against the exchange",
            p99(Storm::Success),
            AtMost(1.5),
        ),
        goal(
            "p99 of their wait, when it fails",
            p99(Storm::Failure),
            AtMost(1.5),
        ),
        goal(
            "p99 of their wait, half cancelled",
            p99(Storm::Cancelled),
            AtMost(1.5),
        ),
        goal(
            "soft expiry: exchanges",
            exchanges(Storm::Soft),
            AtMost(1.0),
        ),
        goal(
            "soft expiry: longest wait of 10,000 callers, ms (an exchange takes 100)",
            storm(Storm::Soft).map(|seen| seen.longest),
            AtMost(10.0),
        ),
        goal(
            "seconds from one renewal of a 300 s token to the next, from one of 3 s",
            Some(parts.renewed_after * 300.0),
            AtLeast(200.0),
        ),
        goal(
            "`items()` against a loop over pages, instructions",
            parts.items_against_loop,
            AtMost(1.03),
        ),
        goal(
            "walk of 1,000,000 items: memory that it adds after its first thousand pages, KiB",
            Some(parts.growth()),
            AtMost(256.0),
        ),
        goal(
            "the same: instructions of its last thousand pages against the second thousand",
            parts.ends.map(|(first, last)| last / first),
            AtMost(1.02),
        ),
    ]
}
