//! Whether a call costs what it did: allocations, and instructions where valgrind is there to count them.
//!
//! Instructions are compared as a ratio to reqwest tuned by hand in the same run, because how many a copy takes depends
//! on the machine, and only where the compiler is the one that the baseline was recorded with.

use std::collections::BTreeMap;
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::clients::Failure;
use crate::load::Work;
use crate::measure::Case;
use crate::micro::Part;
use crate::process::{Bench, Transport};

/// How much more an instruction ratio may be.
const TOLERANCE: f64 = 0.02;
/// How many more allocations; they are the same in every run.
const ALLOCATIONS: f64 = 0.5;
const RECORD: &str = "record it with `guard --record` if it is meant";

/// What `baseline.json` has.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Baseline {
    rustc: String,
    allocations: BTreeMap<String, f64>,
    instructions: BTreeMap<String, f64>,
}

/// Measures, and compares with the baseline or replaces it.
pub async fn run(record: bool) -> Result<(), Failure> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/baseline.json");
    let mut bench = Bench::start().await?;
    // Those of a build without optimisation say nothing.
    bench.valgrind &= !cfg!(debug_assertions);
    let result = measure(&bench).await;
    let counted = bench.valgrind;
    bench.end().await?;
    let now = result?;
    if record {
        if !counted {
            return Err("a baseline needs instructions: valgrind, and `--profile guard`".into());
        }
        std::fs::write(path, serde_json::to_string_pretty(&now)? + "\n")?;
        println!("recorded: {now:?}");
        return Ok(());
    }
    let baseline: Baseline = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let mut worse = compare(
        "allocations",
        &baseline.allocations,
        &now.allocations,
        |_| ALLOCATIONS,
    );
    if !counted {
        println!("instructions: not compared, which takes valgrind and `--profile guard`");
    } else if baseline.rustc != now.rustc {
        println!(
            "instructions: not compared, recorded with {} and this is {}",
            baseline.rustc, now.rustc
        );
    } else {
        worse.extend(compare(
            "instructions",
            &baseline.instructions,
            &now.instructions,
            |old| old * TOLERANCE,
        ));
    }
    if worse.is_empty() {
        return Ok(());
    }
    Err(format!(
        "a call costs more than it did; {RECORD}\n{}",
        worse.join("\n")
    )
    .into())
}

/// Prints every figure, and returns those that are worse.
fn compare(
    of: &str,
    baseline: &BTreeMap<String, f64>,
    now: &BTreeMap<String, f64>,
    tolerance: fn(f64) -> f64,
) -> Vec<String> {
    let mut worse = Vec::new();
    for (what, &new) in now {
        let Some(&old) = baseline.get(what) else {
            worse.push(format!("{what}, {of}: not in the baseline"));
            continue;
        };
        let line = format!("{what}, {of}: {new:.3}, recorded {old:.3}");
        if new > old + tolerance(old) {
            worse.push(line);
        } else if new < old - tolerance(old) {
            println!("{line}: better, record it");
        } else {
            println!("{line}");
        }
    }
    worse
}

async fn measure(bench: &Bench) -> Result<Baseline, Failure> {
    let rustc = Command::new("rustc").arg("--version").output()?;
    let mut now = Baseline {
        rustc: String::from_utf8(rustc.stdout)?.trim().to_owned(),
        ..Baseline::default()
    };
    for (name, work, times) in [("page", Work::Page, 100), ("command", Work::Command, 400)] {
        let own = Case::new(bench, "sdk", Transport::H1, work);
        let done = own.run(bench, Some(times), 0, 1).await?;
        let allocations = done.allocations as f64 / done.operations as f64;
        now.allocations.insert(name.to_owned(), round(allocations));
        let tuned = Case::new(bench, "reqwest-tuned", Transport::H1, work);
        let own = own.instructions(bench, times).await?;
        if let Some((own, tuned)) = own.zip(tuned.instructions(bench, times).await?) {
            now.instructions
                .insert(format!("{name} against reqwest"), round(own / tuned));
        }
    }
    let (instructions, allocations) = Part::TokenAtHand.cost(bench, 20_000).await?;
    now.allocations
        .insert("token".to_owned(), round(allocations));
    if let Some(instructions) = instructions {
        now.instructions
            .insert("token".to_owned(), round(instructions));
    }
    Ok(now)
}

fn round(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}
