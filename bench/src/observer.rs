//! What an observer adds to a call: nothing, an empty one, metrics.

use crate::clients::Failure;
use crate::load::Work;
use crate::measure::{Case, table};
use crate::process::{Bench, Transport};

/// Clients with their titles.
const CLIENTS: [(&str, &str); 3] = [
    ("sdk", "no observer"),
    ("sdk-observed", "an empty observer"),
    ("sdk-metrics", "`sdk-opentelemetry`"),
];

/// A page and a command, each with its instructions and its allocations.
type Cost = [(Option<f64>, f64); 2];

/// What was measured, in the order of the clients.
pub struct Observers(Vec<Cost>);

impl Observers {
    /// Measures all of them.
    pub async fn measure(bench: &Bench) -> Result<Self, Failure> {
        let mut all = Vec::new();
        for (client, title) in CLIENTS {
            eprintln!("{title}");
            let mut cost = [(None, 0.0); 2];
            let works = [(Work::Page, 200), (Work::Command, 800)];
            for ((work, times), cost) in works.into_iter().zip(&mut cost) {
                let case = Case::new(bench, client, Transport::H1, work);
                let done = case.run(bench, Some(times), 0, 1).await?;
                let allocations = done.allocations as f64 / done.operations as f64;
                *cost = (case.instructions(bench, times).await?, allocations);
            }
            all.push(cost);
        }
        Ok(Self(all))
    }

    /// Instructions and allocations that a client adds to a command. To a page it adds the same, but a page of the same client
    /// differs by hundreds from run to run.
    pub fn added(&self, client: &str) -> (Option<f64>, Option<f64>) {
        let at = CLIENTS.iter().position(|(name, _)| *name == client);
        let [none, own] = [Some(0), at].map(|at| Some(self.0.get(at?)?[1]));
        let pair = own.zip(none);
        let instructions = pair.and_then(|(own, none)| Some(own.0? - none.0?));
        (instructions, pair.map(|(own, none)| own.1 - none.1))
    }

    /// As Markdown.
    pub fn render(&self) -> String {
        let rows = CLIENTS.iter().zip(&self.0).map(|((_, title), cost)| {
            let cells = cost
                .iter()
                .zip(&self.0[0])
                .map(|((count, allocations), none)| {
                    let count = match count.zip(none.0) {
                        Some((count, none)) => format!("{count:.0} | {:+.0}", count - none),
                        None => "- | -".to_owned(),
                    };
                    format!("{count} | {allocations:.2}")
                });
            format!("{title} | {}", cells.collect::<Vec<_>>().join(" | "))
        });
        table(
            "a call with | page: instructions | added | allocations | command: instructions | added | allocations",
            rows,
        )
    }
}
