//! What a call costs with more and more of them in flight.

use super::{Effort, progress};
use crate::clients::Failure;
use crate::load::Work;
use crate::measure::{Case, table};
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
    for &transport in &Transport::ALL[..2] {
        for (client, name) in CLIENTS {
            let mut figures = Vec::new();
            for in_flight in IN_FLIGHT {
                progress(&format!(
                    "{}: {in_flight} in flight by {client}",
                    transport.name()
                ));
                let case = Case::new(bench, client, transport, Work::Command);
                let operations = effort.calls.max(in_flight as u64 * 2);
                let done = case.run(bench, Some(operations), 0, in_flight).await;
                let done = done.inspect_err(|error| progress(&format!("not measured: {error}")));
                figures.push(done.ok().map(|done| {
                    let micros = (done.user + done.system) * 1e6 / done.operations as f64;
                    (micros, done.peak as f64)
                }));
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
    let rows = rows.iter().map(|row| {
        let alone = row.figures[0].map(|(_, peak)| peak);
        let figures = row.figures.iter().zip(IN_FLIGHT);
        let cells = figures.map(|(figures, in_flight)| match (figures, alone) {
            (None, _) => "-".to_owned(),
            (Some((micros, peak)), Some(alone)) if in_flight > 1 => {
                let each = (peak - alone) / in_flight as f64;
                format!("{micros:.1} us, {each:.1} KiB")
            }
            (Some((micros, _)), _) => format!("{micros:.1} us"),
        });
        let cells: Vec<String> = cells.collect();
        let transport = row.transport.name();
        format!("{transport}: {} | {}", row.name, cells.join(" | "))
    });
    format!(
        "Processor time of a command in microseconds, and KiB that each one in flight adds to the peak of one alone.\n\n{}",
        table("transport, client | 1 | 64 | 1,024 | 10,000", rows)
    )
}
