//! The goals of the project, and whether they are met.

use super::{Report, shown};

/// A goal: its title, the name of its figure, and its bound, optionally with a stretch bound.
type Goal = (&'static str, &'static str, &'static str);

const NOW: [Goal; 17] = rows! {
    "page, instructions, records kept open", "sdk Page, instructions", "<= 0.36";
    "page, instructions, records decoded into owned structs", "sdk-decoded Page, instructions", "<= 0.7";
    "page, instructions, records decoded into structs that share the page", "sdk-sliced Page, instructions", "<= 0.55";
    "command, instructions", "sdk Command, instructions", "<= 0.9, <= 0.85";
    "page, instructions, records kept open, lean transport", "sdk-lean Page, instructions", "<= 0.36, <= 0.33";
    "command, instructions, lean transport", "sdk-lean Command, instructions", "<= 0.62, <= 0.58";
    "command, throughput at 64 in flight, lean transport", "sdk-lean Command, throughput", ">= 1.4";
    "an empty observer, instructions that it adds to a command", "sdk-observed Command, added instructions", "<= 200";
    "the same: allocations", "sdk-observed Command, added allocations", "<= 0";
    "metrics, instructions that they add to a command", "sdk-metrics Command, added instructions", "<= 1500";
    "a call through the reference server in memory, microseconds", "in memory", "<= 100";
    "an installation beside 10,000 others: microseconds to make it", "an installation: microseconds to make it", "<= 20";
    "the same: bytes", "an installation: bytes, while it is idle", "<= 2048";
    "10,000 installations against 10: memory, making and calls, the worst ratio", "Installations, growth", "<= 1.05";
    "10,000 live tokens against 10: memory and lookup, the worst ratio", "Tokens, growth", "<= 1.05";
    "10,000 idle connections against 10: memory and calls, the worst ratio", "Connections, growth", "<= 1.05";
    "a page in a walk of 10,000 against one in a walk of 10, instructions", "Pages, growth", "<= 1.05";
};

/// The goals of 0.1.0, which still apply.
const FIRST: [Goal; 28] = rows! {
    "page, instructions", "sdk Page, instructions", "<= 0.7, <= 0.63";
    "page, instructions, records decoded into a struct", "sdk-decoded Page, instructions", "<= 0.7, <= 0.63";
    "command, instructions", "sdk Command, instructions", "<= 1.05, <= 0.85";
    "page, throughput at 64 in flight", "sdk Page, throughput", ">= 1.2";
    "page, throughput at 64, records decoded", "sdk-decoded Page, throughput", ">= 1.2";
    "command, throughput at 64 in flight", "sdk Command, throughput", ">= 0.95, >= 1.15";
    "page, allocations", "sdk Page, allocations", "<= 0.65";
    "page, allocations, records decoded", "sdk-decoded Page, allocations", "<= 0.65";
    "command, allocations", "sdk Command, allocations", "<= 1.4, <= 1.2";
    "page, peak memory at 64 in flight", "sdk Page, peak", "<= 1.1";
    "command, peak memory at 64 in flight", "sdk Command, peak", "<= 1.1";
    "live token as a call takes it, instructions", "live token, as a call takes it, instructions", "<= 200";
    "live token by `bearer().await`, instructions", "live token, `bearer().await`, instructions", "<= 200";
    "live token, allocations", "live token, `bearer().await`, allocations", "<= 0";
    "disabled span, instructions", "disabled span with nine fields, instructions", "<= 30";
    "disabled event, instructions", "disabled event, instructions", "<= 30";
    "exchanges for 10,000 callers at an expired token", "Success, exchanges", "<= 1";
    "the same, when the exchange fails", "Failure, exchanges", "<= 1";
    "the same, when half of them are cancelled", "Cancelled, exchanges", "<= 1";
    "p99 of their wait against the exchange", "Success, p99", "<= 1.5";
    "p99 of their wait, when it fails", "Failure, p99", "<= 1.5";
    "p99 of their wait, half cancelled", "Cancelled, p99", "<= 1.5";
    "soft expiry: exchanges", "Soft, exchanges", "<= 1";
    "soft expiry: longest wait of 10,000 callers, ms (an exchange takes 100)", "Soft, longest", "<= 10";
    "seconds from one renewal of a 300 s token to the next, from one of 3 s", "renewal", ">= 200";
    "`items()` against a loop over pages, instructions", "items against loop", "<= 1.03";
    "walk of 1,000,000 items: memory that it adds after its first thousand pages, KiB", "walk, added memory", "<= 256";
    "the same: instructions of its last thousand pages against the second thousand", "walk, last against second", "<= 1.02";
};

pub fn render(report: &mut Report) {
    report.paragraph("## Goals");
    list(report, &NOW);
    report.paragraph("Those of 0.1.0, which go on holding:");
    list(report, &FIRST);
}

fn list(report: &mut Report, goals: &[Goal]) {
    let rows = goals.iter().map(|(title, name, bounds)| {
        let figure = report.figures.get(*name).copied();
        let digits = if figure >= Some(10.0) { 1 } else { 3 };
        let shown = shown(figure, digits);
        let (bound, stretch) = bounds.split_once(", ").unwrap_or((bounds, ""));
        let stretch = match stretch {
            "" => String::new(),
            _ => format!("{stretch}: {}", reached(figure, stretch)),
        };
        let reached = reached(figure, bound);
        format!("{title} | {bound} | {shown} | {reached} | {stretch}")
    });
    let rows: Vec<String> = rows.collect();
    report.table("goal | bound | figure | reached | stretch", &rows);
}

fn reached(figure: Option<f64>, bound: &str) -> &'static str {
    let limit = bound[2..].trim().parse().unwrap_or(f64::NAN);
    match figure {
        None => "not measured",
        Some(figure) if figure <= limit && bound.starts_with("<=") => "yes",
        Some(figure) if figure >= limit && bound.starts_with(">=") => "yes",
        Some(_) => "**no**",
    }
}
