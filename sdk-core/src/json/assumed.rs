//! Members whose type is assumed because the contract does not show it. A value of another type does not fail the reply.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

use crate::json::decode_context::{ConstantMismatch, note_constant, note_type};
use crate::json::members::Members;
use crate::json::raw::RawJson;

/// A value of the assumed type, or the JSON of another type. Used by generated code.
#[doc(hidden)]
#[derive(Debug)]
pub struct TypedOrRaw<T>(pub Result<T, RawJson>);

impl<'de, T: DeserializeOwned> Deserialize<'de> for TypedOrRaw<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Only the text keeps all digits of a number of another type.
        let raw = RawJson::deserialize(deserializer)?;
        Ok(Self(serde_json::from_str(raw.as_str()).map_err(|_| raw)))
    }
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
        note_type(object, member);
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
    note_constant(|| ConstantMismatch {
        object,
        member,
        expected,
        found: found.to_owned(),
    });
}

#[cfg(test)]
mod tests {
    use crate::Members;
    use crate::json::decode_context::{Mismatches, TypeMismatch, decode_response};

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
        let (_, seen) = decode_response(&"".into(), || {
            [badge(r#"{"tone":1}"#), badge(r#"{"tone":{}}"#)]
        });
        let expected = TypeMismatch {
            object: "Badge",
            member: "tone",
            count: 2,
        };
        assert_eq!(seen.types, Some(expected));

        // Null and absence are what an optional member may be.
        let (_, seen) = decode_response(&"".into(), || {
            [badge(r#"{"tone":null}"#), badge(r#"{"tone":"calm"}"#)]
        });
        assert_eq!(seen, Mismatches::default());
    }
}
