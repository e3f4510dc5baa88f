//! Typed references: strict when parsed or sent, lenient when received.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserializer, Visitor};

/// A piece of a [`Pattern`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Exactly this text.
    Literal(&'static str),
    /// Between `min` and `max` characters out of these ranges.
    Class {
        /// Inclusive character ranges.
        ranges: &'static [(char, char)],
        /// The fewest characters.
        min: u32,
        /// The most characters.
        max: u32,
    },
}

/// A pattern of the contract, compiled by the code generator so that no regular expression runs at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    source: &'static str,
    alternatives: &'static [&'static [Piece]],
}

impl Pattern {
    /// A pattern from its source text and its compiled alternatives.
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

    /// Whether the whole text has the form.
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
    /// The text after this piece. A class takes all it can, which the generator knows to suffice.
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

    /// The reference as it stands on the wire.
    fn text(&self) -> &str;
}

/// An enumeration declared by the macro `open_enum!`.
pub trait OpenEnum {
    /// Whether the contract shows the whole set.
    const CLOSED: bool;
    /// The documented values.
    const KNOWN: &'static [&'static str];

    /// The value as it stands on the wire.
    fn text(&self) -> &str;

    /// Whether it is one of the documented values.
    fn is_known(&self) -> bool;
}

/// Decodes a JSON string into a type that is made from text without ever failing.
#[doc(hidden)]
pub fn text<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: for<'a> From<&'a str> + From<String>,
    D: Deserializer<'de>,
{
    struct Text<T>(PhantomData<T>);

    impl<T: for<'a> From<&'a str> + From<String>> Visitor<'_> for Text<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string")
        }

        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
            Ok(T::from(text))
        }

        fn visit_string<E: serde::de::Error>(self, text: String) -> Result<T, E> {
            Ok(T::from(text))
        }
    }

    deserializer.deserialize_str(Text(PhantomData))
}

/// Declares a reference type: parsing is strict, receiving lenient, and what is sent is checked again.
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

            /// Whether it has the documented form. A received reference may not, and is kept all the same.
            #[must_use]
            pub fn is_well_formed(&self) -> bool {
                <Self as $crate::codegen::Reference>::PATTERN.matches(&self.0)
            }

            /// The reference as it stands on the wire.
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

            /// Parses strictly: text of another form is an error that names the form.
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
            /// Takes the text as it is; its form is checked when it is sent.
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }

        impl ::std::convert::From<&::std::string::String> for $name {
            fn from(text: &::std::string::String) -> Self {
                Self::from(text.as_str())
            }
        }

        impl ::std::convert::From<::std::string::String> for $name {
            /// Takes the text as it is; its form is checked when it is sent.
            fn from(text: ::std::string::String) -> Self {
                Self(text)
            }
        }

        impl ::std::convert::From<&$name> for $name {
            fn from(reference: &$name) -> Self {
                reference.clone()
            }
        }

        impl ::std::convert::AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl ::std::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.debug_tuple(stringify!($name)).field(&self.0).finish()
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

        impl $crate::codegen::serde::Serialize for $name {
            fn serialize<S: $crate::codegen::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::std::result::Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> $crate::codegen::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::codegen::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::std::result::Result<Self, D::Error> {
                $crate::codegen::text(deserializer)
            }
        }
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
