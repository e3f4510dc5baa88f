//! Tokens, disabled tracing and walks.

use super::{Effort, figure, progress};
use crate::clients::Failure;
use crate::load::Work;
use crate::measure::{Case, median, table};
use crate::micro::Part;
use crate::process::{Bench, Transport};
use crate::token::{EXCHANGE, Seen, Storm};
use crate::walk::{STRETCH, Walked};

/// Callers of a storm.
const CALLERS: &str = "10000";
/// Pages of the long walks, which makes a million items of it.
const PAGES: u64 = 20_000;

/// What was seen.
pub struct Parts {
    pub storms: Vec<(Storm, Seen)>,
    /// How long a token is used until it is renewed, as a share of its lifetime.
    pub renewed_after: f64,
    /// Instructions and allocations of small parts by themselves.
    pub small: Vec<(Part, Option<f64>, f64)>,
    /// Instructions of `items()` against those of a loop over pages.
    pub items_against_loop: Option<f64>,
    /// Microseconds of a call through the reference server in memory.
    pub in_memory: f64,
    pub walked: Walked,
    /// Instructions of one page of a walk over pages of one item, in the first thousand and in the last.
    pub ends: Option<(f64, f64)>,
}

/// Measures them.
pub async fn measure(bench: &Bench, effort: Effort) -> Result<Parts, Failure> {
    let origin = bench.target(Transport::H1).origin;
    let mut storms = Vec::new();
    for storm in Storm::ALL {
        progress(&format!("{CALLERS} callers: {}", storm.title()));
        let name = serde_json::to_string(&storm)?;
        let arguments = ["storm", &name, CALLERS, &origin];
        storms.push((storm, bench.work(&bench.program, &arguments).await?));
    }
    progress("renewals");
    let renewed_after = bench.work(&bench.program, &["renewals", &origin]).await?;
    let mut small = Vec::new();
    for part in Part::ALL {
        progress(part.title());
        let (instructions, allocations) = part.cost(bench, 20_000).await?;
        let (nothing, _) = Part::Nothing.cost(bench, 20_000).await?;
        let instructions = instructions.zip(nothing);
        let instructions = instructions.map(|(all, nothing)| all - nothing);
        small.push((part, instructions, allocations));
    }
    let mut by_page = [None; 2];
    for (work, instructions) in [Work::Walk, Work::Loop].into_iter().zip(&mut by_page) {
        progress(&format!("{work:?} over pages"));
        let case = Case::new(bench, "sdk", Transport::H1, work);
        case.run(bench, Some(50), 0, 1).await?;
        *instructions = case.instructions(bench, effort.pages).await?;
    }
    progress("calls in memory");
    let in_memory = bench.work(&bench.program, &["in-memory", "2000"]).await?;
    progress("the long walk");
    let pages = PAGES.to_string();
    let walked: Walked = bench
        .work(&bench.program, &["march", &pages, "50", &origin])
        .await?;
    if walked.items != PAGES * 50 {
        return Err(format!("the walk saw {} items", walked.items).into());
    }
    let mut ends = None;
    if bench.valgrind {
        progress("the long walk, counted");
        let arguments = ["march", &pages, "1", &origin];
        let (_, counts): (Walked, _) = bench
            .count(&bench.program, &arguments, Some("*stretch_ends*"))
            .await?;
        // The first stretch has the start of the program in it, so that the second one stands for the beginning.
        if let [_, first, .., last] = counts[..(PAGES / STRETCH) as usize] {
            ends = Some((first as f64 / STRETCH as f64, last as f64 / STRETCH as f64));
        }
    }
    Ok(Parts {
        storms,
        renewed_after,
        small,
        items_against_loop: by_page[0].zip(by_page[1]).map(|(walk, pages)| walk / pages),
        in_memory,
        walked,
        ends,
    })
}

impl Parts {
    /// The storm of this kind.
    pub fn storm(&self, kind: Storm) -> Option<&Seen> {
        Some(&self.storms.iter().find(|(storm, _)| *storm == kind)?.1)
    }

    /// Instructions and allocations of a small part.
    pub fn small(&self, kind: Part) -> (Option<f64>, Option<f64>) {
        let small = self.small.iter().find(|(part, ..)| *part == kind);
        small.map_or((None, None), |&(_, instructions, allocations)| {
            (instructions, Some(allocations))
        })
    }

    /// How much memory grew from the first stretch of the long walk to its end, in KiB.
    pub fn growth(&self) -> f64 {
        let memory = &self.walked.memory;
        let (first, last) = (memory.first(), memory.last());
        first
            .zip(last)
            .map_or(0.0, |(&first, &last)| last as f64 - first as f64)
    }

    /// Processor time of the last stretches against that of the first ones. One alone says little: a quarter of them.
    fn time_ratio(&self) -> Option<f64> {
        let micros = &self.walked.micros;
        let part = micros.len() / 4;
        let last = median(micros[micros.len() - part..].to_vec())?;
        Some(last / median(micros[..part].to_vec())?)
    }

    pub fn render(&self) -> String {
        let storms = self.storms.iter().map(|(storm, seen)| {
            format!(
                "{} | {} | {} | {} | {:.2} | {:.2} | {:.2}",
                storm.title(),
                seen.exchanges,
                seen.served,
                seen.failed,
                seen.p50,
                seen.p99,
                seen.longest
            )
        });
        let small = self.small.iter().map(|(part, instructions, allocations)| {
            let instructions = figure(*instructions, 0);
            format!("{} | {instructions} | {allocations:.0}", part.title())
        });
        let memory = self.walked.memory.first().copied().unwrap_or_default();
        let (first, last) = self.ends.unzip();
        let walks = [
            (
                "`items()` against a loop over pages, instructions",
                figure(self.items_against_loop, 4),
            ),
            ("items of the long walk", self.walked.items.to_string()),
            (
                "memory after its first thousand pages, KiB",
                memory.to_string(),
            ),
            (
                "more than that at its end, KiB",
                format!("{:.0}", self.growth()),
            ),
            (
                "processor time of its last quarter against its first, medians",
                figure(self.time_ratio(), 3),
            ),
            (
                "the same walk with pages of one item: instructions per page in the second thousand",
                figure(first, 0),
            ),
            ("and in the last thousand", figure(last, 0)),
        ];
        format!(
            "{CALLERS} callers at once; an exchange takes {} ms, and what the network adds.\n\n{}\n{}\n{}",
            EXCHANGE.as_millis(),
            table(
                "token | exchanges | served | failed | p50 wait, ms | p99 wait, ms | longest, ms",
                storms
            ),
            table("part | instructions | allocations", small),
            table(
                "walk | figure",
                walks.map(|(what, value)| format!("{what} | {value}"))
            ),
        )
    }
}
