//! The goals of the project, and whether they are met.

use super::{Report, shown};

/// A goal: its title, the name of its figure, and its bound, optionally with a stretch bound.
type Goal = (&'static str, &'static str, &'static str);

const NOW: [Goal; 17] = rows! {
    "page, instructions, raw records", "sdk Page, instructions", "<= 0.36";
    "page, instructions, records decoded into owned structs", "sdk-decoded Page, instructions", "<= 0.7";
    "page, instructions, records decoded into structs that share the page", "sdk-sliced Page, instructions", "<= 0.55";
    "command, instructions", "sdk Command, instructions", "<= 0.9, <= 0.85";
    "page, instructions, raw records, hyper transport", "sdk-lean Page, instructions", "<= 0.36, <= 0.33";
    "command, instructions, hyper transport", "sdk-lean Command, instructions", "<= 0.62, <= 0.58";
    "command, throughput at 64 in flight, hyper transport", "sdk-lean Command, throughput", ">= 1.4";
    "instructions that an empty observer adds to a command", "sdk-observed Command, added instructions", "<= 200";
    "allocations that an empty observer adds to a command", "sdk-observed Command, added allocations", "<= 0";
    "instructions that metrics add to a command", "sdk-metrics Command, added instructions", "<= 1500";
    "a call through the reference server in memory, microseconds", "in memory", "<= 100";
    "microseconds to create one of 10,000 installations", "an installation: microseconds to create it", "<= 20";
    "bytes of one of 10,000 idle installations", "an idle installation: bytes", "<= 2048";
    "10,000 installations against 10: worst ratio of memory, creation and calls", "Installations, growth", "<= 1.05";
    "10,000 live tokens against 10: worst ratio of memory and lookup", "Tokens, growth", "<= 1.05";
    "10,000 idle connections against 10: worst ratio of memory and calls", "Connections, growth", "<= 1.05";
    "instructions per page of a list of 10,000 pages against a list of 10", "Pages, growth", "<= 1.05";
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
    "live token in a call, instructions", "live token, in a call, instructions", "<= 200";
    "live token from `bearer().await`, instructions", "live token, `bearer().await`, instructions", "<= 200";
    "live token, allocations", "live token, `bearer().await`, allocations", "<= 0";
    "disabled span, instructions", "disabled span with nine fields, instructions", "<= 30";
    "disabled event, instructions", "disabled event, instructions", "<= 30";
    "exchanges for 10,000 callers with an expired token", "Success, exchanges", "<= 1";
    "exchanges if the exchange fails", "Failure, exchanges", "<= 1";
    "exchanges if half of the callers are cancelled", "Cancelled, exchanges", "<= 1";
    "p99 of the callers' wait against the exchange", "Success, p99", "<= 1.5";
    "p99 of the callers' wait if the exchange fails", "Failure, p99", "<= 1.5";
    "p99 of the callers' wait if half are cancelled", "Cancelled, p99", "<= 1.5";
    "soft expiry: exchanges", "Soft, exchanges", "<= 1";
    "soft expiry: longest wait of 10,000 callers, ms (an exchange takes 100)", "Soft, longest", "<= 10";
    "seconds between renewals of a 300 s token, extrapolated from a 3 s token", "renewal", ">= 200";
    "`items()` against a loop over pages, instructions", "items against loop", "<= 1.03";
    "list of 1,000,000 items: KiB added after the first thousand pages", "list, added memory", "<= 256";
    "list of 1,000,000 items: instructions of the last thousand pages against the second thousand", "list, last against second", "<= 1.02";
};

pub fn render(report: &mut Report) {
    report.paragraph("## Goals");
    list(report, &NOW);
    report.paragraph("The goals of 0.1.0, which still apply:");
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
