//! The patterns of references, such as `ACR-[A-F0-9]{12}`.

/// A piece of a [`Pattern`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Exactly this string.
    Literal(&'static str),
    /// `min` to `max` characters from these ranges.
    Class {
        /// Inclusive character ranges.
        ranges: &'static [(char, char)],
        /// The minimum number of characters.
        min: u32,
        /// The maximum number of characters.
        max: u32,
    },
}

/// A pattern of the contract, compiled by the code generator so that no regular expression engine is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    source: &'static str,
    alternatives: &'static [&'static [Piece]],
}

impl Pattern {
    /// Creates a pattern from its source and its compiled alternatives.
    #[must_use]
    pub const fn new(source: &'static str, alternatives: &'static [&'static [Piece]]) -> Self {
        Self {
            source,
            alternatives,
        }
    }

    /// The pattern as the contract writes it.
    #[must_use]
    pub const fn source(&self) -> &'static str {
        self.source
    }

    /// Whether the entire string matches.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        self.alternatives.iter().any(|pieces| {
            let mut rest = text;
            pieces.iter().all(|piece| match piece.strip(rest) {
                Some(after) => {
                    rest = after;
                    true
                }
                None => false,
            }) && rest.is_empty()
        })
    }
}

impl Piece {
    /// Strips this piece from the start of the string. A class is greedy. The code generator accepts only patterns that
    /// need no backtracking.
    fn strip<'a>(&self, text: &'a str) -> Option<&'a str> {
        match *self {
            Self::Literal(literal) => text.strip_prefix(literal),
            Self::Class { ranges, min, max } => {
                let mut taken = 0;
                let mut end = 0;
                for (at, character) in text.char_indices() {
                    if taken == max
                        || !ranges
                            .iter()
                            .any(|&(low, high)| (low..=high).contains(&character))
                    {
                        break;
                    }
                    taken += 1;
                    end = at + character.len_utf8();
                }
                (taken >= min).then(|| &text[end..])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Pattern, Piece};

    const HEX12: &[Piece] = &[
        Piece::Literal("ACR-"),
        Piece::Class {
            ranges: &[('A', 'F'), ('0', '9')],
            min: 12,
            max: 12,
        },
    ];
    const OWNER: Pattern = Pattern::new(
        "^(none|ACR-[A-F0-9]{12})$",
        &[&[Piece::Literal("none")], HEX12],
    );

    #[test]
    fn patterns_match_entire_strings_only() {
        for good in ["none", "ACR-0123456789AB"] {
            assert!(OWNER.matches(good), "{good}");
        }
        for bad in [
            "",
            "non",
            "nonee",
            "ACR-0123456789A",
            "ACR-0123456789ABC",
            "ACR-0123456789ab",
            "ACR-0123456789A\n",
        ] {
            assert!(!OWNER.matches(bad), "{bad}");
        }
    }

    #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
    struct SampleReference(String);

    impl SampleReference {
        const PATTERN: &'static str = Self::FORM.source();

        const FORM: Pattern = Pattern::new(
            "^ACR-[0-9]{2}$",
            &[&[
                Piece::Literal("ACR-"),
                Piece::Class {
                    ranges: &[('0', '9')],
                    min: 2,
                    max: 2,
                },
            ]],
        );

        fn is_well_formed(&self) -> bool {
            Self::FORM.matches(&self.0)
        }

        fn as_str(&self) -> &str {
            &self.0
        }
    }

    crate::impl_text!(SampleReference: Reference);

    #[test]
    fn references_are_strict_when_parsed_and_lenient_when_decoded() {
        let error = "acr-1".parse::<SampleReference>().unwrap_err();
        assert!(error.to_string().contains("^ACR-[0-9]{2}$"), "{error}");
        let odd: SampleReference = serde_json::from_str("\"odd one\"").unwrap();
        assert!(!odd.is_well_formed() && odd.as_str() == "odd one");
        assert_eq!(serde_json::to_string(&odd).unwrap(), "\"odd one\"");
    }
}
