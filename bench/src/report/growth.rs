//! The cost of one installation, token, connection or page among an increasing number.

use super::{Report, ratio, shown};
use crate::clients::Failure;
use crate::growth::Many::{self, Connections, Installations, Pages, Tokens};
use crate::growth::{self, Seen, USES};
use crate::process::{Bench, Task};

/// The figures of one item among `count` items.
struct Cost {
    micros: f64,
    bytes: f64,
    bytes_of_all: f64,
    /// The instructions to create the item and to use it.
    making: Option<f64>,
    using: Option<f64>,
}

/// A row: its title, whether its figure must not grow, and the figure.
type Row = (Many, &'static str, bool, fn(&Cost) -> Option<f64>);

const ROWS: [Row; 10] = rows! {
    Installations, "an installation: microseconds to create it", false, |it| Some(it.micros);
    Installations, "an idle installation: bytes", true, |it| Some(it.bytes);
    Installations, "an installation: instructions to create it", true, |it| it.making;
    Installations, "a call of each installation in turn, in memory: instructions", true, |it| it.using;
    Tokens, "a live token of 770 characters: bytes, with its entry", true, |it| Some(it.bytes);
    Tokens, "the lookup of each token in turn: instructions", true, |it| it.using;
    Connections, "an idle HTTP/1.1 connection: bytes", true, |it| Some(it.bytes);
    Connections, "a page of one item with this many idle connections: instructions", true, |it| it.using;
    Pages, "a page of one item in a list of this many pages: instructions", true, |it| it.making;
    Pages, "the end of such a list: bytes", false, |it| Some(it.bytes_of_all);
};

pub async fn measure(bench: &Bench, report: &mut Report) -> Result<(), Failure> {
    let mut lines = Vec::new();
    for many in [Installations, Tokens, Connections, Pages] {
        let mut costs = Vec::new();
        for size in [10, 100, 1_000, 10_000] {
            eprintln!("{size} {many:?}");
            let task = Task::Grow(many, size, bench.origin());
            let (seen, _): (Seen, _) = bench.work(&task, false).await?;
            let (_, counts): (Seen, _) = bench.work(&task, true).await?;
            // Reading a list sets more marks than the final mark.
            let making = counts.get(1..if many == Pages { counts.len() } else { 2 });
            let made = seen.made as f64;
            costs.push(Cost {
                micros: seen.micros / made,
                bytes: seen.held / made,
                bytes_of_all: seen.held,
                making: making.map(|counts| counts.iter().sum::<f64>() / made),
                using: counts.get(3).map(|count| count / USES as f64),
            });
        }
        let mut worst = None;
        for (_, title, judged, figure) in ROWS.iter().filter(|row| row.0 == many) {
            let figures: Vec<_> = costs.iter().map(figure).collect();
            let growth = ratio(figures[3], figures[0]);
            if *judged && growth > worst {
                worst = growth;
            }
            report.note(*title, figures[3]);
            let figures: Vec<_> = figures.into_iter().map(|it| shown(it, 0)).collect();
            let figures = figures.join(" | ");
            lines.push(format!("{title} | {figures} | {}", shown(growth, 3)));
        }
        report.note(format!("{many:?}, growth"), worst);
    }
    let head = "number of items | 10 | 100 | 1,000 | 10,000 | last against first";
    report.table(head, &lines);
    if let Some(bytes) = growth::suite() {
        report.paragraph(&format!(
            "An idle suite with its own connections and a CRM client holds {bytes} bytes."
        ));
    }
    Ok(())
}
