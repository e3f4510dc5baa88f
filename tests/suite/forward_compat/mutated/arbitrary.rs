//! Values at random, the same ones for the same seed.

use super::json::Json;

/// Numbers that a floating-point number or an integer of 64 bits does not hold, and some that are easily changed.
const NUMBERS: [&str; 9] = [
    "0",
    "-0",
    "1.10",
    "1E+2",
    "1e400",
    "18446744073709551616",
    "-9223372036854775809",
    "123456789012345678901234567890",
    "0.1000000000000000055511151231257827",
];

const TEXTS: [&str; 8] = [
    "",
    "from_the_future",
    "12",
    "null",
    "PER-not a reference",
    "\"quoted\" \\ \u{0}\n\u{7f}",
    "Ünïcödé ☃ 🦀 \u{202e}",
    "a text that is longer than any value that a member of this kind has had so far, by a wide margin, and then some",
];

const NAMES: [&str; 7] = [
    "fromTheFuture",
    "fromTheFuture",
    "extra",
    "",
    "Title",
    "with \"quotes\"",
    "nächste",
];

/// What a seed chooses.
pub(super) struct Random(fastrand::Rng);

impl Random {
    pub(super) fn seeded(seed: u64) -> Random {
        Random(fastrand::Rng::with_seed(seed))
    }

    /// A number below the bound.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0.usize(..bound)
    }

    /// True so many times out of a hundred.
    pub(super) fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    pub(super) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        self.0.shuffle(items);
    }

    pub(super) fn text(&mut self) -> Json {
        Json::Text(self.one_of(&TEXTS).to_owned())
    }

    pub(super) fn number(&mut self) -> Json {
        Json::Number(self.one_of(&NUMBERS).to_owned())
    }

    /// A member that no contract knows.
    pub(super) fn member(&mut self) -> (String, Json) {
        (self.one_of(&NAMES).to_owned(), self.value())
    }

    /// Any value, not too deep.
    pub(super) fn value(&mut self) -> Json {
        match self.below(8) {
            0 => Json::Null,
            1 => Json::Bool(self.percent(50)),
            2 | 3 => self.number(),
            4 | 5 => self.text(),
            6 => Json::Array((0..self.below(3)).map(|_| self.value()).collect()),
            _ => Json::Object((0..self.below(3)).map(|_| self.member()).collect()),
        }
    }
}
