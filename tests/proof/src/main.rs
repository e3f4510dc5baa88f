//! Runs simulations until an invariant is violated. `CONTRIBUTING.md` lists the commands.

use std::panic::catch_unwind;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use suite_checker::{Event, History, Sent, Violation, check};
use suite_proof::simulation::{Sdk, Simulation, Totals};

const USAGE: &str =
    "usage: suite-proof [--seed N | [--from N] [--simulations N] [--seconds N]] [--sdk NAME]";

/// The number of events to print around a violation.
const SHOWN: usize = 30;

fn main() -> ExitCode {
    let plan = Plan::read(std::env::args().skip(1));
    plan.map_or_else(
        || {
            eprintln!("{USAGE}\nbroken SDKs:");
            for (sdk, invariant) in Sdk::BROKEN {
                eprintln!("{:16} violates: {invariant}", format!("{sdk:?}"));
            }
            ExitCode::from(2)
        },
        |plan| plan.run(),
    )
}

struct Plan {
    from: u64,
    simulations: u64,
    seconds: u64,
    sdk: Sdk,
}

impl Plan {
    fn read(mut arguments: impl Iterator<Item = String>) -> Option<Self> {
        let mut plan = Self {
            from: 1,
            simulations: u64::MAX,
            seconds: u64::MAX,
            sdk: Sdk::Correct,
        };
        while let Some(name) = arguments.next() {
            let value = arguments.next()?;
            if name == "--sdk" {
                let broken = Sdk::BROKEN.iter().map(|(sdk, _)| *sdk);
                let mut all = broken.chain([Sdk::Correct]);
                plan.sdk = all.find(|sdk| format!("{sdk:?}") == value)?;
                continue;
            }
            let value = value.parse().ok()?;
            match name.as_str() {
                "--seed" => (plan.from, plan.simulations) = (value, 1),
                "--from" => plan.from = value,
                "--simulations" => plan.simulations = value,
                "--seconds" => plan.seconds = value,
                _ => return None,
            }
        }
        Some(plan)
    }

    fn run(&self) -> ExitCode {
        let (began, mut totals, mut reported) = (Instant::now(), Totals::default(), 0);
        // The digest of all histories. Runs with equal seeds must have equal digests.
        let mut digest = 0_u64;
        let until = self.from.saturating_add(self.simulations);
        for seed in self.from..until {
            if began.elapsed().as_secs() >= self.seconds {
                break;
            }
            let simulation = Simulation {
                sdk: self.sdk,
                ..Simulation::of(seed)
            };
            let Ok((history, counts)) = catch_unwind(|| simulation.run()) else {
                println!("seed {seed} panics; to run it again: {}", self.again(seed));
                return ExitCode::FAILURE;
            };
            for (name, more) in counts {
                *totals.entry(name).or_default() += more;
            }
            digest = digest.rotate_left(1) ^ history.digest();
            let took = began.elapsed();
            if let Some(broken) = check(&history).first() {
                report(seed, &history, broken);
                println!("to run it again: {}", self.again(seed));
                summary(&totals, took);
                return ExitCode::FAILURE;
            }
            if took.as_secs() / 60 > reported {
                reported = took.as_secs() / 60;
                summary(&totals, took);
            }
        }
        for (name, count) in &totals {
            println!("{count:>12}  {name}");
        }
        println!("digest {digest:016x}");
        summary(&totals, began.elapsed());
        ExitCode::SUCCESS
    }

    /// Returns the command that runs one simulation again.
    fn again(&self, seed: u64) -> String {
        let sdk = self.sdk;
        format!("cargo run --release -p suite-proof -- --seed {seed} --sdk {sdk:?}")
    }
}

fn summary(totals: &Totals, took: Duration) {
    let [simulations, requests] =
        ["simulations", "requests"].map(|it| totals.get(it).unwrap_or(&0));
    #[expect(clippy::cast_precision_loss, reason = "the rate is only printed")]
    let rate = *requests as f64 / took.as_secs_f64();
    println!("{simulations} simulations, {requests} requests in {took:.1?}, {rate:.0} per second");
}

fn report(seed: u64, history: &History, broken: &Violation) {
    println!("seed {seed} violates an invariant: {}", broken.invariant);
    println!("at {} us: {}", broken.at, broken.what);
    let mut ids = named(&broken.what);
    for (_, event) in history.events() {
        if let Event::Departed { request, sent, .. } = event
            && let Sent::Attempt(attempt) = sent
            && ids.contains(&format!("call: {},", attempt.call))
        {
            ids.push(format!("request: {request},"));
        }
    }
    let lines = history.events().iter();
    let lines = lines.map(|(at, event)| (at, format!("{at:>12}  {event:?}")));
    let lines = lines.filter(|(_, line)| {
        let line = line.replace(" }", ",");
        ids.iter().any(|id| line.contains(id))
    });
    let (before, after): (Vec<_>, Vec<_>) = lines.partition(|(at, _)| **at <= broken.at);
    let before = &before[before.len().saturating_sub(SHOWN)..];
    for (_, line) in before.iter().chain(after.iter().take(SHOWN)) {
        println!("{line}");
    }
}

/// Returns the IDs that a message names, such as `call 17`, except suites, which occur in too many events.
fn named(message: &str) -> Vec<String> {
    let words: Vec<_> = message
        .split(|c: char| !c.is_ascii_alphanumeric())
        .collect();
    let pairs = words
        .windows(2)
        .map(|pair| (pair[0], pair[1].parse::<u64>()));
    let ids = pairs.filter_map(|(word, number)| Some(format!("{word}: {},", number.ok()?)));
    ids.filter(|id| !id.starts_with("suite")).collect()
}
