//! What a type that keeps the text of a time has.

use crate::error::Error;
use crate::text::one_line;

/// The error of a text that another type cannot hold.
pub(super) fn beyond(text: &str, other: &str) -> Error {
    let text = one_line(&format!("{text:?}"));
    Error::value(format!("{other} cannot hold {text}"))
}

/// What a type that keeps the text of a time has: strict when parsed or sent, lenient when received, like a reference.
macro_rules! kept_text {
    ($name:ident, rule: $rule:literal, expected: $expected:literal, given: $given:path, received: $received:path) => {
        impl $name {
            /// The text as it came or was given, which is what stands on the wire.
            #[must_use]
            pub fn as_str(&self) -> &str {
                self.0.as_str()
            }

            /// Whether it is what RFC 3339 describes, to the letter. One that was parsed is; one that was received or made
            /// with `from` may not be, and is refused when it is sent.
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

            /// Parses strictly: another text is an error that names the rule and the text.
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
            /// Takes the text as it is; it is checked when it is sent.
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl From<String> for $name {
            /// Takes the text as it is; it is checked when it is sent.
            fn from(text: String) -> Self {
                Self(text.as_str().into())
            }
        }

        impl From<&$name> for $name {
            fn from(value: &$name) -> Self {
                value.clone()
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                self.as_str()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_tuple(stringify!($name))
                    .field(&self.as_str())
                    .finish()
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

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
