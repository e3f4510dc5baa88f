//! Integers that may be larger than their Rust type, or written like a fraction.

use std::fmt;

use serde::de::{Error, Unexpected, Visitor};
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
        if let Some(number) = text.parse().ok().or_else(|| integral(text.parse().ok()?)) {
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

/// A 64-bit integer that may be written as `1.0` or `1e2`, which JSON Schema calls integers too. Used by generated code.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Integral(pub i64);

impl<'de> Deserialize<'de> for Integral {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number;

        impl Visitor<'_> for Number {
            type Value = i64;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("i64")
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<i64, E> {
                Ok(number)
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<i64, E> {
                let large = |_| E::invalid_value(Unexpected::Unsigned(number), &self);
                number.try_into().map_err(large)
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<i64, E> {
                let broken = || E::invalid_type(Unexpected::Float(number), &self);
                integral(number).ok_or_else(broken)
            }
        }

        deserializer.deserialize_i64(Number).map(Self)
    }
}

/// A number without a fraction as an integer, if no digit of it is in doubt.
fn integral(number: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[expect(clippy::cast_possible_truncation, reason = "it is checked first")]
    let whole = || number as i64;
    (number.fract() == 0.0 && number.abs() < EXACT).then(whole)
}

#[cfg(test)]
mod tests {
    use super::Integral;
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
    fn what_is_no_number_is_told_from_what_is_expected() {
        let error = serde_json::from_str::<Integral>("true").unwrap_err();
        assert!(error.to_string().contains("expected i64"), "{error}");
    }

    #[test]
    fn a_large_whole_number_is_itself_or_refused() {
        const EXACT: i64 = 1 << 53;
        for number in (0..2_000).map(|at| EXACT + 999 - at * 4_503_599_627_777) {
            for zeros in 1..8 {
                let text = format!("{number}.{}", "0".repeat(zeros));
                let read = serde_json::from_str::<Integral>(&text).ok();
                let exact = (number < EXACT).then_some(number);
                assert_eq!(read.map(|it| it.0), exact, "{text}");
            }
        }
    }

    #[test]
    fn a_whole_number_is_an_integer_however_it_is_written() {
        for (text, number) in [
            ("1.0", 1),
            ("-1.5e1", -15),
            ("1e2", 100),
            ("-0", 0),
            ("-0.0", 0),
            ("-7", -7),
        ] {
            let item = item(&format!(r#"{{"recordVersion":{text}}}"#));
            assert_eq!(item.version, Some(number), "{text}");
            assert_eq!(serde_json::from_str::<Integral>(text).unwrap().0, number);
        }
        for text in [
            "1.5",
            "9007199254740992.0",
            "9007199254740993.0",
            "1e400",
            "9223372036854775808",
            "true",
            "\"1\"",
        ] {
            assert!(serde_json::from_str::<Integral>(text).is_err(), "{text}");
        }
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
