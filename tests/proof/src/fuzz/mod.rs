//! Properties of whatever reads bytes from outside: a function for each, which panics where an input breaks it. The unit test
//! here runs them over the checked-in corpus and its mutations; the package in `fuzz/` lets libFuzzer search.

mod commands;
mod control;
mod cursors;
mod envelopes;
mod forms;
mod patterns;
mod replies;
mod stage;
mod tokens;
mod values;
mod waits;

pub(crate) use commands::digest as command_digest;

/// A property. It panics where the input breaks it.
pub type Target = fn(&[u8]);

/// Every property by its name, which is that of its folder in `fuzz/corpus`.
pub const TARGETS: &[(&str, Target)] = &[
    ("checkpoints", cursors::checkpoint),
    ("commands", commands::run),
    ("control", control::run),
    ("cursors", cursors::run),
    ("envelopes", envelopes::run),
    ("forms", forms::run),
    ("patterns", patterns::run),
    ("replies", replies::run),
    ("tokens", tokens::run),
    ("values", values::run),
    ("waits", waits::run),
];

/// Words that decide something somewhere, from a dictionary of libFuzzer.
///
/// # Panics
/// If one of them is not a JSON string, too.
pub fn words() -> Vec<String> {
    let lines = include_str!("../../../../fuzz/words.dict").lines();
    lines
        .map(|line| serde_json::from_str(line).expect("a word"))
        .collect()
}

/// The first byte, which chooses among variants, and the rest.
fn choice(data: &[u8]) -> (usize, &[u8]) {
    data.split_first()
        .map_or((0, data), |(first, rest)| (usize::from(*first), rest))
}

/// The first line, and the rest.
fn line(data: &[u8]) -> (&[u8], &[u8]) {
    let end = data.iter().position(|byte| *byte == b'\n');
    end.map_or((data, &[]), |end| (&data[..end], &data[end + 1..]))
}

#[cfg(test)]
mod tests;
