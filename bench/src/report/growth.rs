//! What a call costs with more and more of them in flight.

use std::fmt::Write as _;

use super::{Effort, progress};
use crate::clients::Failure;
use crate::load::Work;
use crate::measure::Case;
use crate::process::{Bench, Transport};

const CLIENTS: [(&str, &str); 3] = [
    ("reqwest", "reqwest, handwritten"),
    ("sdk", "this SDK, 1 token"),
    ("sdk-hundred", "this SDK, 100 tokens"),
];
const IN_FLIGHT: [usize; 4] = [1, 64, 1024, 10_000];

/// One client over one transport.
pub struct Row {
    name: &'static str,
    transport: Transport,
    /// Processor microseconds of a call and KiB at most, by calls in flight.
    figures: Vec<Option<(f64, f64)>>,
}

pub async fn measure(bench: &Bench, effort: Effort) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for transport in [Transport::H1, Transport::H2] {
        for (client, name) in CLIENTS {
            let mut figures = Vec::new();
            for in_flight in IN_FLIGHT {
                progress(&format!(
                    "{}: {in_flight} in flight by {client}",
                    transport.name()
                ));
                let case = Case::new(bench, client, transport, Work::Command);
                let operations = effort.calls.max(in_flight as u64 * 2);
                figures.push(
                    match case.run(bench, Some(operations), 0, in_flight).await {
                        Ok(done) => {
                            let seconds = done.user + done.system;
                            Some((seconds * 1e6 / done.operations as f64, done.peak as f64))
                        }
                        Err(error) => {
                            progress(&format!("not measured: {error}"));
                            None
                        }
                    },
                );
            }
            rows.push(Row {
                name,
                transport,
                figures,
            });
        }
    }
    Ok(rows)
}

pub fn render(rows: &[Row]) -> String {
    let mut text = String::from(
        "Processor time of a command in microseconds, and KiB that each one in flight adds to the peak of one alone.\n\n\
         | transport, client | 1 | 64 | 1,024 | 10,000 |\n|---|---|---|---|---|\n",
    );
    for row in rows {
        let _ = write!(text, "| {}: {} |", row.transport.name(), row.name);
        let alone = row.figures.first().copied().flatten().map(|(_, peak)| peak);
        for (figures, in_flight) in row.figures.iter().zip(IN_FLIGHT) {
            let Some((micros, peak)) = *figures else {
                text.push_str(" - |");
                continue;
            };
            let _ = write!(text, " {micros:.1} us");
            if let (Some(alone), 2..) = (alone, in_flight) {
                let _ = write!(text, ", {:.1} KiB", (peak - alone) / in_flight as f64);
            }
            text.push_str(" |");
        }
        text.push('\n');
    }
    text
}
