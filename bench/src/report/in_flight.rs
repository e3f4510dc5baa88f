//! The cost of a command with an increasing number in flight.

use super::Report;
use crate::clients::Failure;
use crate::load::{Until, Work};
use crate::process::{Bench, Case, TRANSPORTS};

const CLIENTS: [(&str, &str); 3] = [
    ("reqwest", "reqwest, handwritten"),
    ("sdk", "this SDK, 1 token"),
    ("sdk-hundred", "this SDK, 100 tokens"),
];

pub async fn measure(bench: &Bench, effort: u64, report: &mut Report) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for transport in &TRANSPORTS[..2] {
        for (client, title) in CLIENTS {
            let (mut row, mut alone) = (format!("{transport}: {title}"), None);
            for in_flight in [1, 64, 1024, 10_000] {
                eprintln!("{transport}: {in_flight} in flight by {client}");
                let until = Until::Operations((5000 * effort).max(2 * in_flight));
                let case = Case(client, transport, Work::Command);
                row += &match bench.load(case, until, in_flight as usize).await {
                    Ok(done) => {
                        let each = alone.map(|alone| (done.peak - alone) / in_flight as f64);
                        let each = each.map(|each| format!(", {each:.1} KiB"));
                        alone = alone.or(Some(done.peak));
                        format!(
                            " | {:.1} us{}",
                            done.processor_micros,
                            each.unwrap_or_default()
                        )
                    }
                    Err(error) => {
                        eprintln!("not measured: {error}");
                        " | -".to_owned()
                    }
                };
            }
            rows.push(row);
        }
    }
    report.paragraph("Processor time of a command in microseconds, and the KiB that each command in flight adds to the peak of a single command.");
    report.table("transport, client | 1 | 64 | 1,024 | 10,000", &rows);
    Ok(())
}
