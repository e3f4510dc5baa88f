//! The search term.

/// A text to be found in others, whatever the case.
#[derive(Clone, Debug)]
pub(super) struct Needle(String);

impl Needle {
    pub(super) fn new(text: &str) -> Needle {
        Needle(text.to_lowercase())
    }

    pub(super) fn is_in(&self, text: &str) -> bool {
        text.to_lowercase().contains(&self.0)
    }
}

/// Whether a row passes a search that may be absent.
pub(super) fn passes(needle: Option<&Needle>, texts: &[&str]) -> bool {
    needle.is_none_or(|needle| texts.iter().any(|text| needle.is_in(text)))
}
