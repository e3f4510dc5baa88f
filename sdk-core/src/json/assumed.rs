//! Members whose type the contract does not show: one is assumed, and another one does not fail the reply.

use std::cell::Cell;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

use crate::json::raw::RawJson;

/// What a member of an assumed type holds. Used by generated code.
#[doc(hidden)]
#[derive(Debug)]
pub enum Assumed<T> {
    /// A value of the type.
    Typed(T),
    /// What came instead.
    Other(RawJson),
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Assumed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Through the text, because nothing else keeps all digits of a number that stands in its place.
        let raw = RawJson::deserialize(deserializer)?;
        Ok(match serde_json::from_str(raw.as_str()) {
            Ok(value) => Self::Typed(value),
            Err(_) => Self::Other(raw),
        })
    }
}

/// The members of another type than assumed in what was decoded, of which the first is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TypeMismatch {
    pub(crate) object: &'static str,
    pub(crate) member: &'static str,
    pub(crate) count: u32,
}

/// A constant that came with another value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConstantMismatch {
    pub(crate) object: &'static str,
    pub(crate) member: &'static str,
    pub(crate) expected: &'static str,
    pub(crate) found: String,
}

/// What one decoding met.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Mismatches {
    pub(crate) types: Option<TypeMismatch>,
    /// The first of them.
    pub(crate) constant: Option<ConstantMismatch>,
}

thread_local! {
    // Deserializers take no context along, and one reply may have hundreds of these members.
    static TYPE: Cell<Option<TypeMismatch>> = const { Cell::new(None) };
    static CONSTANT: Cell<Option<ConstantMismatch>> = const { Cell::new(None) };
}

/// Takes note of a member of another type. Used by generated code.
#[doc(hidden)]
pub fn mismatch(object: &'static str, member: &'static str) {
    TYPE.with(|seen| {
        let first = seen.get().unwrap_or(TypeMismatch {
            object,
            member,
            count: 0,
        });
        seen.set(Some(TypeMismatch {
            count: first.count.saturating_add(1),
            ..first
        }));
    });
}

/// Takes note of a constant, if it has another value. Used by generated code.
#[doc(hidden)]
pub fn constant(object: &'static str, member: &'static str, expected: &'static str, found: &str) {
    if found == expected {
        return;
    }
    CONSTANT.with(|seen| {
        let first = seen.take().unwrap_or_else(|| ConstantMismatch {
            object,
            member,
            expected,
            found: found.to_owned(),
        });
        seen.set(Some(first));
    });
}

/// Decodes, and says what it met that no type can tell.
pub(crate) fn noting_mismatches<T>(decode: impl FnOnce() -> T) -> (T, Mismatches) {
    TYPE.set(None);
    CONSTANT.set(None);
    let value = decode();
    let seen = Mismatches {
        types: TYPE.take(),
        constant: CONSTANT.take(),
    };
    (value, seen)
}

#[cfg(test)]
mod tests {
    use super::{Mismatches, TypeMismatch, noting_mismatches};
    use crate::Members;

    #[derive(Clone, Debug, PartialEq)]
    struct Badge {
        tone: Option<String>,
        order: Option<i64>,
        extra: Members,
    }

    crate::json_object!(Badge {
        tone: assumed "tone",
        order: optional "order",
    });

    fn badge(text: &str) -> Badge {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn another_type_is_kept_and_written_back_until_the_member_is_set() {
        for other in [
            "123456789012345678901234567890",
            "{\"b\":1.10}",
            "null",
            "[]",
        ] {
            let text = format!("{{\"order\":1,\"tone\":{other}}}");
            let mut badge = badge(&text);
            assert_eq!(badge.tone, None);
            assert_eq!(badge.extra.get("tone").unwrap().as_str(), other);
            assert_eq!(serde_json::to_string(&badge).unwrap(), text);

            badge.tone = Some("calm".to_owned());
            assert_eq!(
                serde_json::to_string(&badge).unwrap(),
                r#"{"tone":"calm","order":1}"#
            );
        }
        assert_eq!(
            badge(r#"{"tone":"\u0063alm"}"#).tone.as_deref(),
            Some("calm")
        );
    }

    #[test]
    fn each_decoding_is_counted_by_itself() {
        let (_, seen) = noting_mismatches(|| [badge(r#"{"tone":1}"#), badge(r#"{"tone":{}}"#)]);
        let expected = TypeMismatch {
            object: "Badge",
            member: "tone",
            count: 2,
        };
        assert_eq!(seen.types, Some(expected));

        // Null and absence are what an optional member may be.
        let (_, seen) =
            noting_mismatches(|| [badge(r#"{"tone":null}"#), badge(r#"{"tone":"calm"}"#)]);
        assert_eq!(seen, Mismatches::default());
    }
}
