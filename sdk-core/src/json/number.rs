use std::str::FromStr;

use serde::de::{Error as _, Unexpected};
use serde::{Deserialize, Deserializer, Serialize};

use crate::error::Error;
use crate::json::raw::RawJson;
use crate::json::texts::text_impls;

/// A JSON number exactly as received: every digit, its sign and its exponent.
///
/// It is written back unchanged, whatever its size, and converts to a Rust number on demand
/// ([the guide](crate::guide::reading#amounts-stay-exact)).
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
    /// The number as it stands on the wire.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The number as an integer; `None` if it has a fraction or an exponent, or does not fit.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        self.as_str().parse().ok()
    }

    /// The nearest floating-point number, which may lose digits; `None` if out of range.
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

/// Whether a JSON value is a number, which its first character tells.
fn is_number(json: &str) -> bool {
    json.starts_with(|first: char| first == '-' || first.is_ascii_digit())
}

text_impls!(Number: BareDebug Display);

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

#[cfg(test)]
mod tests {
    use super::Number;

    #[test]
    fn every_digit_comes_back() {
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
    fn it_turns_into_numbers_that_hold_it() {
        let number = |text: &str| text.parse::<Number>().unwrap();
        assert_eq!(number("-7").as_i64(), Some(-7));
        assert_eq!(number("9223372036854775808").as_i64(), None);
        assert_eq!(number("1e3").as_i64(), None);
        assert_eq!(number("1e400").as_f64(), None);
        assert_eq!(Number::from(7), number("7"));
    }
}
