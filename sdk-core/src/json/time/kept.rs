//! What `Timestamp` and `Date` share: each keeps its text.

use crate::error::Error;
use crate::text::one_line;

/// The error of a conversion to a type that cannot represent the text.
pub(super) fn beyond(text: &str, other: &str) -> Error {
    let text = one_line(&format!("{text:?}"));
    Error::value(format!("cannot convert {text} to {other}"))
}

/// Implements a type that keeps the text of a time: strict when parsed or sent, lenient when received, like a reference.
macro_rules! kept_text {
    ($name:ident, rule: $rule:literal, expected: $expected:literal, given: $given:path, received: $received:path) => {
        impl $name {
            /// The text as on the wire.
            #[must_use]
            pub fn as_str(&self) -> &str {
                self.0.as_str()
            }

            /// Whether it follows RFC 3339 strictly. A parsed value does; one that was received or made with `from` may not,
            /// and is then refused when it is sent.
            #[must_use]
            pub fn is_well_formed(&self) -> bool {
                $given(self.0.as_bytes())
            }
        }

        impl $crate::json::time::rfc3339::Rfc3339 for $name {
            const RULE: &'static str = $rule;

            fn text(&self) -> &str {
                self.as_str()
            }

            fn is_well_formed(&self) -> bool {
                self.is_well_formed()
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::Error;

            /// Parses strictly; the error names the rule and the text.
            fn from_str(text: &str) -> Result<Self, $crate::Error> {
                let parsed = Self::from(text);
                if parsed.is_well_formed() {
                    return Ok(parsed);
                }
                let text = format!("{text:?}");
                Err($crate::Error::invalid(stringify!($name), $rule, &text))
            }
        }

        impl From<&str> for $name {
            /// Takes any text, which is checked when it is sent.
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl From<String> for $name {
            /// Takes any text, which is checked when it is sent.
            fn from(text: String) -> Self {
                Self(text.as_str().into())
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.key() == other.key()
            }
        }

        impl Eq for $name {}

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                Some(self.cmp(other))
            }
        }

        impl Ord for $name {
            fn cmp(&self, other: &Self) -> std::cmp::Ordering {
                self.key().cmp(&other.key())
            }
        }

        impl std::hash::Hash for $name {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                self.key().hash(state);
            }
        }

        $crate::text_impls!($name: AsRef Debug FromReference Serialize);

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Received;

                impl serde::de::Visitor<'_> for Received {
                    type Value = $name;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str($expected)
                    }

                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$name, E> {
                        if $received(text.as_bytes()) {
                            return Ok($name::from(text));
                        }
                        Err(E::invalid_value(serde::de::Unexpected::Str(text), &self))
                    }
                }

                deserializer.deserialize_str(Received)
            }
        }
    };
}

pub(super) use kept_text;

/// Converts a value like a reference to it.
macro_rules! try_from_value {
    ($from:ident => $to:ty) => {
        impl TryFrom<$from> for $to {
            type Error = $crate::Error;

            fn try_from(value: $from) -> Result<Self, $crate::Error> {
                Self::try_from(&value)
            }
        }
    };
}

pub(super) use try_from_value;
