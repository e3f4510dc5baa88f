//! Members whose type is assumed because the contract does not show it. A value of another type does not fail the reply.

use std::cell::Cell;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

use crate::json::members::Members;
use crate::json::raw::RawJson;

/// A value of the assumed type, or the JSON of another type. Used by generated code.
#[doc(hidden)]
#[derive(Debug)]
pub struct Assumed<T>(pub Result<T, RawJson>);

impl<'de, T: DeserializeOwned> Deserialize<'de> for Assumed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Only the text keeps all digits of a number of another type.
        let raw = RawJson::deserialize(deserializer)?;
        Ok(Self(serde_json::from_str(raw.as_str()).map_err(|_| raw)))
    }
}

/// Members of an unexpected type in one decoded reply: the first one, and how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TypeMismatch {
    pub(crate) object: &'static str,
    pub(crate) member: &'static str,
    pub(crate) count: u32,
}

/// A constant with an unexpected value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConstantMismatch {
    pub(crate) object: &'static str,
    pub(crate) member: &'static str,
    pub(crate) expected: &'static str,
    pub(crate) found: String,
}

/// What did not match in one decoded reply.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Mismatches {
    pub(crate) types: Option<TypeMismatch>,
    pub(crate) constant: Option<ConstantMismatch>,
}

thread_local! {
    // Deserializers carry no context, and one reply may have hundreds of these members.
    static TYPE: Cell<Option<TypeMismatch>> = const { Cell::new(None) };
    static CONSTANT: Cell<Option<ConstantMismatch>> = const { Cell::new(None) };
}

/// Returns the value of a member. A value of another type goes to `extra` and, unless it is null, counts as a mismatch. Used
/// by generated code.
#[doc(hidden)]
pub fn typed<T>(
    value: Result<T, RawJson>,
    object: &'static str,
    member: &'static str,
    extra: &mut Members,
) -> Option<T> {
    let other = match value {
        Ok(value) => return Some(value),
        Err(other) => other,
    };
    if !other.is_null() {
        let first = TypeMismatch {
            object,
            member,
            count: 0,
        };
        TYPE.with(|seen| {
            let mut mismatch = seen.get().unwrap_or(first);
            mismatch.count = mismatch.count.saturating_add(1);
            seen.set(Some(mismatch));
        });
    }
    extra.push_received(member, other);
    None
}

/// Notes the first constant with an unexpected value. Used by generated code.
#[doc(hidden)]
pub fn constant(object: &'static str, member: &'static str, expected: &'static str, found: &str) {
    if found == expected {
        return;
    }
    CONSTANT.with(|seen| {
        seen.set(seen.take().or_else(|| {
            Some(ConstantMismatch {
                object,
                member,
                expected,
                found: found.to_owned(),
            })
        }));
    });
}

/// Decodes a value and returns the mismatches, which no type can report.
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
