//! Fuzz targets for everything that reads external input. Each target is a function that panics if an input violates
//! its property. The unit test here runs them on the checked-in corpus and its mutations. The package in `fuzz/` runs
//! them under libFuzzer.

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

/// A property, which panics if the input violates it.
pub type Target = fn(&[u8]);

/// All properties. Their names are the names of their folders in `fuzz/corpus`.
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

/// Returns the words of the libFuzzer dictionary, which have a meaning in some input format.
///
/// # Panics
/// If a word of the dictionary is not also a JSON string.
pub fn words() -> Vec<String> {
    let lines = include_str!("../../../../fuzz/words.dict").lines();
    lines
        .map(|line| serde_json::from_str(line).expect("a word"))
        .collect()
}

/// Splits the input into the first byte, which selects a variant, and the rest.
fn choice(data: &[u8]) -> (usize, &[u8]) {
    data.split_first()
        .map_or((0, data), |(first, rest)| (usize::from(*first), rest))
}

fn line(data: &[u8]) -> (&[u8], &[u8]) {
    let end = data.iter().position(|byte| *byte == b'\n');
    end.map_or((data, &[]), |end| (&data[..end], &data[end + 1..]))
}

#[cfg(test)]
mod tests;
