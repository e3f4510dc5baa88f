//! Members whose documented type allows more than the type that holds them here.

use std::fmt;

use jiff::Timestamp;
use jiff::civil::DateTime;
use serde::de::{Error as _, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

use crate::json::raw::RawJson;

/// What an optional member holds whose type here has bounds that its type in the contract has not. Used by generated
/// code.
#[doc(hidden)]
pub enum Bounded<T> {
    /// An explicit null.
    Null,
    /// A value within the bounds.
    Held(T),
    /// A value of the documented type beyond them, as it came.
    Beyond(RawJson),
}

impl<'de> Deserialize<'de> for Bounded<i64> {
    /// Takes any JSON integer, whatever its size.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Through the text: a number beyond 64 bits would come as a float.
        let raw = RawJson::deserialize(deserializer)?;
        let text = raw.as_str();
        if let Ok(number) = text.parse() {
            return Ok(Self::Held(number));
        }
        let digits = text.strip_prefix('-').unwrap_or(text);
        if raw.is_null() {
            Ok(Self::Null)
        } else if digits.bytes().all(|byte| byte.is_ascii_digit()) {
            Ok(Self::Beyond(raw))
        } else {
            Err(D::Error::invalid_type(Unexpected::Other(text), &"i64"))
        }
    }
}

impl<'de> Deserialize<'de> for Bounded<Timestamp> {
    /// Takes any instant of RFC 3339, however late and however fine.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Instants)
    }
}

struct Instants;

impl Visitor<'_> for Instants {
    type Value = Bounded<Timestamp>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a timestamp string")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Self::Value, E> {
        Ok(Bounded::Null)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
        match text.parse() {
            Ok(instant) => Ok(Bounded::Held(instant)),
            Err(_) if is_instant(text) => Ok(Bounded::Beyond(text.into())),
            Err(error) => Err(E::custom(error)),
        }
    }
}

/// Whether RFC 3339 has such an instant: a date and a time of day, of which the digits after the ninth of a fraction are
/// not read, and an offset.
fn is_instant(text: &str) -> bool {
    let civil = text.strip_suffix(['Z', 'z']).or_else(|| {
        let (civil, offset) = text.split_at_checked(text.len().checked_sub(6)?)?;
        is_offset(offset.as_bytes()).then_some(civil)
    });
    let Some(civil) = civil else { return false };
    let (seconds, fraction) = civil.split_once('.').unwrap_or((civil, "0"));
    !fraction.is_empty()
        && fraction.bytes().all(|byte| byte.is_ascii_digit())
        && seconds.len() == "2026-01-15T09:00:00".len()
        && seconds.parse::<DateTime>().is_ok()
}

fn is_offset(text: &[u8]) -> bool {
    let &[b'+' | b'-', h1, h2, b':', m1, m2] = text else {
        return false;
    };
    [h1, h2, m1, m2].iter().all(u8::is_ascii_digit) && [h1, h2] < *b"24" && [m1, m2] < *b"60"
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use crate::Members;

    #[derive(Clone, Debug, PartialEq)]
    struct Item {
        due: Option<Timestamp>,
        version: Option<i64>,
        extra: Members,
    }

    crate::json_object!(Item {
        due: bounded "dueAt",
        version: bounded "recordVersion",
    });

    fn item(text: &str) -> Item {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn what_the_type_holds_is_in_the_member() {
        let item = item(r#"{"dueAt":"2026-01-15T10:00:00+01:00","recordVersion":-7}"#);
        assert_eq!(item.due, Some("2026-01-15T09:00:00Z".parse().unwrap()));
        assert_eq!(item.version, Some(-7));
        assert!(item.extra.is_empty());
    }

    #[test]
    fn what_it_does_not_hold_is_kept_and_written_back_until_the_member_is_set() {
        for text in [
            r#"{"dueAt":"9999-12-31T23:59:59Z"}"#,
            r#"{"dueAt":"9999-12-31T23:59:59.999+14:00"}"#,
            r#"{"dueAt":"2026-01-15t09:00:00.123456789012z"}"#,
            r#"{"dueAt":null}"#,
            r#"{"recordVersion":9223372036854775808}"#,
            r#"{"recordVersion":-123456789012345678901234567890}"#,
            r#"{"recordVersion":null}"#,
        ] {
            let mut item = item(text);
            assert_eq!((item.due, item.version, item.extra.len()), (None, None, 1));
            assert_eq!(serde_json::to_string(&item).unwrap(), text);

            (item.due, item.version) = (Some(Timestamp::UNIX_EPOCH), Some(1));
            assert_eq!(
                serde_json::to_string(&item).unwrap(),
                r#"{"dueAt":"1970-01-01T00:00:00Z","recordVersion":1}"#
            );
        }
    }

    #[test]
    fn another_type_and_what_is_no_instant_are_errors() {
        for text in [
            r#"{"dueAt":17}"#,
            r#"{"dueAt":"tomorrow"}"#,
            r#"{"dueAt":"2026-01-15T09:00:00"}"#,
            r#"{"dueAt":"9999-12-32T23:59:59Z"}"#,
            r#"{"dueAt":"9999-12-31T23:59:59+24:00"}"#,
            r#"{"dueAt":"9999-12-31T23:59:59.Z"}"#,
            r#"{"dueAt":"9999-12-31Z"}"#,
            r#"{"dueAt":"é00:00"}"#,
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
