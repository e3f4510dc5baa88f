//! Runs worlds until a law is broken.
//!
//! ```text
//! cargo run --release -p suite-proof                       # until it is stopped, or a law is broken
//! cargo run --release -p suite-proof -- --worlds 40        # the worlds of seeds 1 to 40
//! cargo run --release -p suite-proof -- --seconds 3600 --from 1000000
//! cargo run --release -p suite-proof -- --seed 17          # this world once more
//! cargo run --release -p suite-proof -- --sdk NeverRetries # with an SDK that is broken on purpose
//! ```

use std::panic::catch_unwind;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use suite_checker::{Event, History, Sent, Violation, check};
use suite_proof::world::{Sdk, Totals, World};

const USAGE: &str =
    "usage: suite-proof [--seed N | [--from N] [--worlds N] [--seconds N]] [--sdk NAME]";

/// Runs one world once more, before its seed.
const AGAIN: &str = "cargo run --release -p suite-proof -- --seed";

/// How many of the events that concern a broken law are shown.
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

/// Which worlds are run.
struct Plan {
    from: u64,
    worlds: u64,
    seconds: u64,
    sdk: Sdk,
}

impl Plan {
    fn read(mut arguments: impl Iterator<Item = String>) -> Option<Self> {
        let mut plan = Self {
            from: 1,
            worlds: u64::MAX,
            seconds: u64::MAX,
            sdk: Sdk::Correct,
        };
        while let Some(name) = arguments.next() {
            let value = arguments.next()?;
            if name == "--sdk" {
                let mut broken = Sdk::BROKEN.iter().map(|(sdk, _)| *sdk);
                plan.sdk = broken.find(|sdk| format!("{sdk:?}") == value)?;
                continue;
            }
            let value = value.parse().ok()?;
            match name.as_str() {
                "--seed" => (plan.from, plan.worlds) = (value, 1),
                "--from" => plan.from = value,
                "--worlds" => plan.worlds = value,
                "--seconds" => plan.seconds = value,
                _ => return None,
            }
        }
        Some(plan)
    }

    fn run(&self) -> ExitCode {
        let (began, mut totals, mut told) = (Instant::now(), Totals::default(), 0);
        // Of all histories: equal worlds give equal ones.
        let mut digest = 0_u64;
        let until = self.from.saturating_add(self.worlds);
        for seed in self.from..until {
            if began.elapsed().as_secs() >= self.seconds {
                break;
            }
            let world = World {
                sdk: self.sdk,
                ..World::of(seed)
            };
            let Ok((history, world)) = catch_unwind(|| world.run()) else {
                println!("seed {seed} panics; again: {}", self.again(seed));
                return ExitCode::FAILURE;
            };
            for (name, more) in world {
                *totals.entry(name).or_default() += more;
            }
            digest = digest.rotate_left(1) ^ history.digest();
            let took = began.elapsed();
            if let Some(broken) = check(&history).first() {
                report(seed, &history, broken);
                println!("again: {}", self.again(seed));
                summary(&totals, took);
                return ExitCode::FAILURE;
            }
            if took.as_secs() / 60 > told {
                told = took.as_secs() / 60;
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

    /// The command that runs one simulation once more.
    fn again(&self, seed: u64) -> String {
        match self.sdk {
            Sdk::Correct => format!("{AGAIN} {seed}"),
            sdk => format!("{AGAIN} {seed} --sdk {sdk:?}"),
        }
    }
}

/// One line of what was done so far.
fn summary(totals: &Totals, took: Duration) {
    let [worlds, requests] = ["worlds", "requests"].map(|it| totals.get(it).unwrap_or(&0));
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    let rate = *requests as f64 / took.as_secs_f64();
    println!("{worlds} worlds, {requests} requests in {took:.1?}, {rate:.0} a second");
}

fn report(seed: u64, history: &History, broken: &Violation) {
    println!("seed {seed} breaks a law: {}", broken.law);
    println!("at {} us: {}", broken.at, broken.what);
    let mut ids = named(&broken.what);
    for (_, event) in history.events() {
        let Event::Departed { request, sent, .. } = event else {
            continue;
        };
        if let Sent::Attempt { call, .. } = sent
            && ids.contains(&format!("call: {call}"))
        {
            ids.push(format!("request: {request}"));
        }
    }
    let lines = history.events();
    let lines = lines.map(|(at, event)| (at, format!("{at:>12}  {event:?}")));
    let lines = lines.filter(|(_, line)| concerns(line, &ids));
    let (before, after): (Vec<_>, Vec<_>) = lines.partition(|(at, _)| *at <= broken.at);
    let before = &before[before.len().saturating_sub(SHOWN)..];
    for (_, line) in before.iter().chain(after.iter().take(SHOWN)) {
        println!("{line}");
    }
}

/// What a text names, such as `call 17`, in the form in which events show it.
fn named(text: &str) -> Vec<String> {
    let words: Vec<_> = text.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let pairs = words
        .windows(2)
        .filter(|pair| pair[1].parse::<u64>().is_ok() && !pair[0].is_empty());
    let (wide, narrow): (Vec<_>, Vec<_>) = pairs.partition(|pair| pair[0] == "suite");
    let named = if narrow.is_empty() { wide } else { narrow };
    let one = |word: &str| word.trim_end_matches('s').to_owned();
    named
        .iter()
        .map(|pair| format!("{}: {}", one(pair[0]), pair[1]))
        .collect()
}

/// Whether a line shows one of these.
fn concerns(line: &str, ids: &[String]) -> bool {
    let whole = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_digit());
    ids.iter().any(|id| {
        line.match_indices(id.as_str())
            .any(|(at, _)| whole(&line[at + id.len()..]))
    })
}
