//! The search term.

/// A text to be found in others, whatever the case. Without one, every text will do.
#[derive(Clone, Debug)]
pub(super) struct Needle(String);

impl Needle {
    pub(super) fn new(text: Option<&str>) -> Needle {
        Needle(text.unwrap_or_default().to_lowercase())
    }

    pub(super) fn is_in(&self, text: &str) -> bool {
        self.0.is_empty() || text.to_lowercase().contains(&self.0)
    }
}
