//! Text that is stored inline while it is short.

/// The longest inline text, in bytes: an instant in UTC with nanoseconds.
const SHORT: usize = 30;

#[derive(Clone)]
pub(super) enum Text {
    Short { length: u8, bytes: [u8; SHORT] },
    Long(Box<str>),
}

impl Text {
    pub(super) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Short { length, bytes } => &bytes[..usize::from(*length)],
            Self::Long(text) => text.as_bytes(),
        }
    }

    pub(super) fn as_str(&self) -> &str {
        match self {
            // The bytes come from a `str`.
            Self::Short { .. } => std::str::from_utf8(self.as_bytes()).unwrap_or_default(),
            Self::Long(text) => text,
        }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        let mut bytes = [0; SHORT];
        match (bytes.get_mut(..text.len()), u8::try_from(text.len())) {
            (Some(place), Ok(length)) => {
                place.copy_from_slice(text.as_bytes());
                Self::Short { length, bytes }
            }
            _ => Self::Long(text.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{SHORT, Text};

    #[test]
    fn any_text_comes_back_and_a_short_one_takes_no_allocation() {
        for length in 0..=2 * SHORT {
            let text = "é".repeat(length / 2) + &"x".repeat(length % 2);
            let kept = Text::from(&*text);
            assert_eq!((kept.as_str(), kept.as_bytes()), (&*text, text.as_bytes()));
            assert_eq!(matches!(kept, Text::Long(_)), length > SHORT);
        }
        assert_eq!(size_of::<Option<Text>>(), 32);
    }
}
