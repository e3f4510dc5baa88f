//! Compares the cost of a call with the recorded cost: allocations, and instructions if valgrind can count them.
//!
//! Instructions are compared as a ratio to hand-tuned reqwest in the same run, because the cost of a copy depends on
//! the machine. They are compared only if the same compiler recorded the baseline.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::clients::Failure;
use crate::load::{Until, Work};
use crate::micro;
use crate::process::{Bench, Case, TRANSPORTS, version};
use crate::report::ratio;

const BASELINE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/baseline.json");

type Figures = BTreeMap<String, f64>;

#[derive(Debug, Default, Serialize, Deserialize)]
struct Baseline {
    rustc: String,
    allocations: Figures,
    instructions: Figures,
}

/// Measures, and compares with the baseline or replaces it.
pub async fn run(record: bool) -> Result<(), Failure> {
    let bench = Bench::start().await?;
    let now = measure(&bench).await?;
    if record {
        if !bench.valgrind {
            return Err("a baseline needs instructions: valgrind, and `--profile guard`".into());
        }
        println!("recorded: {now:?}");
        let text = serde_json::to_string_pretty(&now)? + "\n";
        return Ok(std::fs::write(BASELINE, text)?);
    }
    let old: Baseline = serde_json::from_str(&std::fs::read_to_string(BASELINE)?)?;
    // Allocations are equal in every run.
    let mut worse = compare("allocations", &old.allocations, &now.allocations, |_| 0.5);
    if !bench.valgrind {
        println!("instructions: not compared, which takes valgrind and `--profile guard`");
    } else if old.rustc != now.rustc {
        let (old, now) = (old.rustc, now.rustc);
        println!("instructions: not compared, recorded with {old} and this is {now}");
    } else {
        worse += &compare(
            "instructions",
            &old.instructions,
            &now.instructions,
            |old| old * 0.02,
        );
    }
    if worse.is_empty() {
        return Ok(());
    }
    let advice = "if this is intended, record it with `guard --record`";
    Err(format!("a call costs more than it did; {advice}{worse}").into())
}

/// Prints every figure and returns the figures that are worse.
fn compare(of: &str, old: &Figures, now: &Figures, tolerance: fn(f64) -> f64) -> String {
    let mut worse = String::new();
    for (what, &new) in now {
        // A figure without a recorded value counts as worse.
        let old = old.get(what).copied().unwrap_or(-1.0);
        let line = format!("{what}, {of}: {new:.3}, recorded {old:.3}");
        if new > old + tolerance(old) {
            worse += &format!("\n{line}");
        } else if new < old - tolerance(old) {
            println!("{line}: better, record it");
        } else {
            println!("{line}");
        }
    }
    worse
}

async fn measure(bench: &Bench) -> Result<Baseline, Failure> {
    let mut now = Baseline {
        rustc: version("rustc").await.ok_or("there is no rustc")?,
        ..Baseline::default()
    };
    let round = |figure: f64| (figure * 1e3).round() / 1e3;
    let mut note = |name: &str, allocations: f64, of: &str, instructions: Option<f64>| {
        now.allocations.insert(name.to_owned(), round(allocations));
        let instructions = instructions.map(|figure| (of.to_owned(), round(figure)));
        now.instructions.extend(instructions);
    };
    for (name, work, times) in [("page", Work::Page, 100), ("command", Work::Command, 400)] {
        let case = |client| Case(client, TRANSPORTS[0], work);
        let until = Until::Counted(times);
        let own = bench.load(case("sdk"), until, 1).await?;
        let tuned = bench.load(case("reqwest-tuned"), until, 1).await?;
        let against = ratio(own.instructions, tuned.instructions);
        note(
            name,
            own.allocations,
            &format!("{name} against reqwest"),
            against,
        );
    }
    // The token lookup of a call, including the loop around it.
    let (instructions, allocations) = micro::costs(bench).await?[1];
    note("token", allocations, "token", instructions);
    Ok(now)
}
