//! The cost that an observer adds to a call.

use super::{Report, shown};
use crate::clients::Failure;
use crate::load::{Until, Work};
use crate::process::{Bench, Case, TRANSPORTS};

const CLIENTS: [(&str, &str); 3] = [
    ("sdk", "no observer"),
    ("sdk-observed", "an empty observer"),
    ("sdk-metrics", "`sdk-opentelemetry`"),
];

pub async fn measure(bench: &Bench, report: &mut Report) -> Result<(), Failure> {
    let mut rows = CLIENTS.map(|(_, title)| title.to_owned());
    for (work, times) in [(Work::Page, 200), (Work::Command, 800)] {
        let mut without = None;
        for ((client, title), row) in CLIENTS.into_iter().zip(&mut rows) {
            eprintln!("{work:?} with {title}");
            let case = Case(client, TRANSPORTS[0], work);
            let cost = bench.load(case, Until::Counted(times), 1).await?;
            let none = *without.get_or_insert(cost);
            let instructions = cost.instructions.zip(none.instructions);
            let instructions = instructions.map(|(own, none)| own - none);
            let allocations = cost.allocations - none.allocations;
            report.note(
                format!("{client} {work:?}, added instructions"),
                instructions,
            );
            report.note(
                format!("{client} {work:?}, added allocations"),
                Some(allocations),
            );
            let sign = if instructions >= Some(0.0) { "+" } else { "" };
            let (count, added) = (shown(cost.instructions, 0), shown(instructions, 0));
            *row += &format!(" | {count} | {sign}{added} | {:.2}", cost.allocations);
        }
    }
    let head = "a call with | page: instructions | added | allocations | command: instructions | added | allocations";
    report.table(head, &rows);
    Ok(())
}
