use std::fmt;
use std::str::FromStr;

use serde::de::{self, Error as _, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::error::Error;
use crate::json::decode_context::is_handed_over_raw;
use crate::json::fast::RAW_JSON;
use crate::json::raw::RawJson;
use crate::json::text::impl_text;

/// A JSON number exactly as received, with every digit, its sign and its exponent.
///
/// A number of any size is written back unchanged. It converts to a Rust number on demand
/// ([the guide](crate::guide::records#exact-amounts)).
///
/// ```
/// use sdk_core::Number;
///
/// let score: Number = "12.50".parse()?;
/// assert_eq!(score.as_f64(), Some(12.5));
/// assert_eq!(score.as_i64(), None);
/// assert_eq!(score.as_str(), "12.50");
/// # Ok::<(), sdk_core::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Number(RawJson);

impl Number {
    /// The number in its JSON notation.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The number as an integer. `None` if it has a fraction or an exponent, or is out of range.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        self.as_str().parse().ok()
    }

    /// The nearest floating-point number, which may lose digits. `None` if out of range.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        self.as_str()
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite())
    }
}

impl From<i64> for Number {
    fn from(number: i64) -> Self {
        Self(number.into())
    }
}

impl FromStr for Number {
    type Err = Error;

    /// Parses a number in JSON notation.
    fn from_str(text: &str) -> Result<Self, Error> {
        let raw: RawJson = text.parse()?;
        if !is_number(raw.as_str()) {
            return Err(Error::value(format!("not a JSON number: {text:?}")));
        }
        Ok(Self(raw))
    }
}

/// The first character decides.
fn is_number(json: &str) -> bool {
    json.starts_with(|first: char| first == '-' || first.is_ascii_digit())
}

impl_text!(Number: BareDebug Display);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = RawJson::deserialize(deserializer)?;
        if is_number(raw.as_str()) {
            return Ok(Self(raw));
        }
        Err(D::Error::invalid_type(
            Unexpected::Other(raw.as_str()),
            &"a number",
        ))
    }
}

/// A 64-bit integer, or the JSON of null or of a larger integer. Used by generated code.
#[doc(hidden)]
#[derive(Debug)]
pub struct Bounded(pub Result<i64, RawJson>);

impl<'de> Deserialize<'de> for Bounded {
    /// Accepts any JSON integer of any size, and also `1.0` or `1e2`, which are integers in JSON Schema.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Only the JSON string preserves a number beyond 64 bits. serde would pass a float.
        deserializer.deserialize_newtype_struct(RAW_JSON, BoundedVisitor)
    }
}

/// Copies the JSON only if the integer is out of range.
struct BoundedVisitor;

impl BoundedVisitor {
    fn read<E: de::Error>(&self, text: &str) -> Result<Bounded, E> {
        if let Some(number) = text.parse().ok().or_else(|| integral(text.parse().ok()?)) {
            return Ok(Bounded(Ok(number)));
        }
        let digits = text.strip_prefix('-').unwrap_or(text);
        if text == "null" || digits.bytes().all(|byte| byte.is_ascii_digit()) {
            Ok(Bounded(Err(RawJson::received(text))))
        } else {
            Err(E::invalid_type(Unexpected::Other(text), self))
        }
    }
}

impl<'de> Visitor<'de> for BoundedVisitor {
    type Value = Bounded;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("i64")
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Bounded, E> {
        // Another deserializer may pass a string, which isn't an integer.
        if !is_handed_over_raw(text) {
            return Err(E::invalid_type(Unexpected::Str(text), &self));
        }
        self.read(text)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, other: D) -> Result<Bounded, D::Error> {
        self.read(RawJson::deserialize(other)?.as_str())
    }
}

/// A 64-bit integer of a required field. Used by generated code.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Integral(pub i64);

impl<'de> Deserialize<'de> for Integral {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let large = |raw: RawJson| D::Error::invalid_type(Unexpected::Other(raw.as_str()), &"i64");
        Bounded::deserialize(deserializer)?
            .0
            .map(Self)
            .map_err(large)
    }
}

/// Converts a number without a fraction into an integer, if the conversion is exact.
fn integral(number: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[expect(clippy::cast_possible_truncation, reason = "it is checked first")]
    let whole = || number as i64;
    (number.fract() == 0.0 && number.abs() < EXACT).then(whole)
}

#[cfg(test)]
mod tests {
    use super::{Integral, Number};
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
    fn every_digit_is_preserved() {
        for text in [
            "0",
            "-0",
            "1.10",
            "1E+2",
            "1e400",
            "123456789012345678901234567890",
        ] {
            let number: Number = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&number).unwrap(), text);
        }
        for text in ["\"1\"", "null", "true", "[1]", "01", "+1", "NaN", "1 2", ""] {
            assert!(serde_json::from_str::<Number>(text).is_err(), "{text}");
            assert!(text.parse::<Number>().is_err(), "{text}");
        }
    }

    #[test]
    fn it_converts_to_rust_numbers_that_can_represent_it() {
        let number = |text: &str| text.parse::<Number>().unwrap();
        assert_eq!(number("-7").as_i64(), Some(-7));
        assert_eq!(number("9223372036854775808").as_i64(), None);
        assert_eq!(number("1e3").as_i64(), None);
        assert_eq!(number("1e400").as_f64(), None);
        assert_eq!(Number::from(7), number("7"));
    }

    #[test]
    fn a_value_in_range_is_in_the_field() {
        let item = item(r#"{"recordVersion":-7}"#);
        assert_eq!(item.version, Some(-7));
        assert!(item.extra.is_empty());
    }

    #[test]
    fn the_error_for_another_type_names_the_expected_type() {
        let error = serde_json::from_str::<Integral>("true").unwrap_err();
        assert!(error.to_string().contains("expected i64"), "{error}");
    }

    #[test]
    fn a_large_integer_with_a_fraction_is_exact_or_rejected() {
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
    fn an_integer_may_have_a_zero_fraction_or_an_exponent() {
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
    fn a_value_out_of_range_is_preserved_until_the_field_is_set() {
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
