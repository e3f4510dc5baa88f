//! Integers that may be larger than their Rust type.

use serde::de::{Error as _, Unexpected};
use serde::{Deserialize, Deserializer};

use crate::json::raw::RawJson;

/// A 64-bit integer, or the JSON of null or of a larger integer. Used by generated code.
#[doc(hidden)]
#[derive(Debug)]
pub struct Bounded(pub Result<i64, RawJson>);

impl<'de> Deserialize<'de> for Bounded {
    /// Takes any JSON integer, whatever its size.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Only the text keeps a number beyond 64 bits; serde would hand out a float.
        let raw = RawJson::deserialize(deserializer)?;
        let text = raw.as_str();
        if let Ok(number) = text.parse() {
            return Ok(Self(Ok(number)));
        }
        let digits = text.strip_prefix('-').unwrap_or(text);
        if raw.is_null() || digits.bytes().all(|byte| byte.is_ascii_digit()) {
            Ok(Self(Err(raw)))
        } else {
            Err(D::Error::invalid_type(Unexpected::Other(text), &"i64"))
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Members;

    #[derive(Clone, Debug, PartialEq)]
    struct Item {
        version: Option<i64>,
        extra: Members,
    }

    crate::json_object!(Item {
        version: bounded "recordVersion",
    });

    fn item(text: &str) -> Item {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn what_the_type_holds_is_in_the_member() {
        let item = item(r#"{"recordVersion":-7}"#);
        assert_eq!(item.version, Some(-7));
        assert!(item.extra.is_empty());
    }

    #[test]
    fn what_it_does_not_hold_is_kept_and_written_back_until_the_member_is_set() {
        for text in [
            r#"{"recordVersion":9223372036854775808}"#,
            r#"{"recordVersion":-123456789012345678901234567890}"#,
            r#"{"recordVersion":null}"#,
        ] {
            let mut item = item(text);
            assert_eq!((item.version, item.extra.len()), (None, 1));
            assert_eq!(serde_json::to_string(&item).unwrap(), text);

            item.version = Some(1);
            assert_eq!(
                serde_json::to_string(&item).unwrap(),
                r#"{"recordVersion":1}"#
            );
        }
    }

    #[test]
    fn another_type_is_an_error() {
        for text in [
            r#"{"recordVersion":"7"}"#,
            r#"{"recordVersion":1.5}"#,
            r#"{"recordVersion":1e400}"#,
            r#"{"recordVersion":{}}"#,
            r#"{"recordVersion":true}"#,
        ] {
            assert!(serde_json::from_str::<Item>(text).is_err(), "{text}");
        }
    }
}
