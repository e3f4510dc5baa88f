//! The search term. A search may look at a million rows, so plain ASCII texts are matched without allocating.

use std::cell::RefCell;

/// A text to be found in others, whatever the case.
#[derive(Clone, Debug)]
pub(super) struct Needle {
    lower: String,
    /// A reused buffer for texts that are composed before they are searched.
    scratch: RefCell<String>,
}

impl Needle {
    pub(super) fn new(text: &str) -> Needle {
        Needle {
            lower: text.to_lowercase(),
            scratch: RefCell::default(),
        }
    }

    pub(super) fn is_in(&self, text: &str) -> bool {
        if !text.is_ascii() {
            return text.to_lowercase().contains(&self.lower);
        }
        let (text, needle) = (text.as_bytes(), self.lower.as_bytes());
        let Some((first, rest)) = needle.split_first() else {
            return true;
        };
        let Some(last) = text.len().checked_sub(needle.len()) else {
            return false;
        };
        (0..=last).any(|at| {
            text[at].to_ascii_lowercase() == *first
                && text[at + 1..at + needle.len()].eq_ignore_ascii_case(rest)
        })
    }

    /// Whether it is in the text that `write` composes.
    pub(super) fn is_in_written(&self, write: impl FnOnce(&mut String)) -> bool {
        let mut scratch = self.scratch.borrow_mut();
        scratch.clear();
        write(&mut scratch);
        self.is_in(&scratch)
    }
}

/// Whether a row passes a search that may be absent.
pub(super) fn passes(needle: Option<&Needle>, texts: &[&str]) -> bool {
    needle.is_none_or(|needle| texts.iter().any(|text| needle.is_in(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_needle_is_found_whatever_the_case() {
        for (needle, text, found) in [
            ("AN", "Hana", true),
            ("na", "Hana", true),
            ("hana", "Hana", true),
            ("hanab", "Hana", false),
            ("ÍA", "Lucía García", true),
            ("zoë", "ZOË", true),
            ("x", "", false),
        ] {
            assert_eq!(Needle::new(needle).is_in(text), found, "{needle} in {text}");
        }
    }
}
