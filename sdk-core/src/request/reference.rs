//! Typed references: strict when parsed or sent, lenient when received.

/// A piece of a [`Pattern`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Exactly this text.
    Literal(&'static str),
    /// `min` to `max` characters from these ranges.
    Class {
        /// Inclusive character ranges.
        ranges: &'static [(char, char)],
        /// The fewest characters.
        min: u32,
        /// The most characters.
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
    /// A pattern from its source and its compiled alternatives.
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

    /// Whether the whole text matches.
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
    /// The text after this piece. A class is greedy; the generator accepts only patterns that need no backtracking.
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

/// A reference type declared by the macro `reference!`.
pub trait Reference {
    /// The documented form.
    const PATTERN: Pattern;

    /// The reference as on the wire.
    fn text(&self) -> &str;
}

/// An enumeration declared by the macro `open_enum!`.
pub trait OpenEnum {
    /// Whether the contract shows all values.
    const CLOSED: bool;
    /// The documented values.
    const KNOWN: &'static [&'static str];

    /// The value as on the wire, if it is not one of the documented ones.
    fn unknown(&self) -> Option<&str>;
}

/// Declares a reference type: strict when parsed or sent, lenient when received.
#[doc(hidden)]
#[macro_export]
macro_rules! reference {
    ($(#[$meta:meta])* pub struct $name:ident = $pattern:expr;) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(::std::string::String);

        impl $name {
            /// The documented form, as a regular expression.
            pub const PATTERN: &'static str = $pattern.source();

            /// Whether it has the documented form. A received reference is kept even if it does not.
            #[must_use]
            pub fn is_well_formed(&self) -> bool {
                <Self as $crate::codegen::Reference>::PATTERN.matches(&self.0)
            }

            /// The reference as on the wire.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl $crate::codegen::Reference for $name {
            const PATTERN: $crate::codegen::Pattern = $pattern;

            fn text(&self) -> &str {
                &self.0
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = $crate::Error;

            /// Parses strictly; the error names the form.
            fn from_str(text: &str) -> ::std::result::Result<Self, $crate::Error> {
                let parsed = Self(text.to_owned());
                if parsed.is_well_formed() {
                    ::std::result::Result::Ok(parsed)
                } else {
                    ::std::result::Result::Err($crate::codegen::bad_reference(stringify!($name), Self::PATTERN, text))
                }
            }
        }

        impl ::std::convert::From<&str> for $name {
            /// Takes any text, which is checked when it is sent.
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }

        impl ::std::convert::From<::std::string::String> for $name {
            /// Takes any text, which is checked when it is sent.
            fn from(text: ::std::string::String) -> Self {
                Self(text)
            }
        }

        impl ::std::cmp::PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                self.0 == other
            }
        }

        impl ::std::cmp::PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                self.0 == *other
            }
        }

        $crate::text_impls!($name: AsRef Debug Display FromReference FromString Serialize Deserialize);
    };
}

#[cfg(test)]
#[allow(unreachable_pub)] // the macro is for public types
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

    crate::reference! {
        /// A sample.
        pub struct SampleReference = Pattern::new("^ACR-[A-F0-9]{12}$", &[HEX12]);
    }

    #[test]
    fn patterns_match_whole_texts_only() {
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

    #[test]
    fn references_are_strict_when_parsed_and_lenient_when_received() {
        let error = "acr-1".parse::<SampleReference>().unwrap_err();
        assert!(error.to_string().contains("^ACR-[A-F0-9]{12}$"), "{error}");
        let odd: SampleReference = serde_json::from_str("\"odd one\"").unwrap();
        assert!(!odd.is_well_formed() && odd.as_str() == "odd one");
        assert_eq!(serde_json::to_string(&odd).unwrap(), "\"odd one\"");
    }
}
