//! JSON for tests: parsed, written and compared without the SDK, generated at random, and mutated within a schema.

mod mutation;

pub use mutation::{Field, NUMBERS, Shape, TEXTS, mutate};

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The maximum depth for parsing. Deeper parts are compared as strings.
const DEEPEST: usize = 100;

/// A JSON value. Equality compares the digits of numbers and the order of fields.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Json {
    /// `null`, a Boolean, the digits of a number, or a part that is nested too deeply to parse.
    Plain(String),
    /// A string.
    Text(String),
    /// An array.
    Array(Vec<Json>),
    /// The fields of an object in order, including duplicate names.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Parses JSON. Returns `None` if the input is not JSON, contains a string that is not Unicode, or contains an
    /// exponent beyond 64 bits.
    pub fn read(text: &str) -> Option<Self> {
        let raw: &RawValue = serde_json::from_str(text).ok()?;
        Self::of(raw.get(), 0)
    }

    fn of(text: &str, depth: usize) -> Option<Self> {
        let inner = |raw: &RawValue| Self::of(raw.get(), depth + 1);
        Some(match text.as_bytes()[0] {
            _ if depth > DEEPEST => Self::Plain(text.to_owned()),
            b'"' => Self::Text(serde_json::from_str(text).ok()?),
            b'[' => {
                let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
                Self::Array(items.into_iter().map(inner).collect::<Option<_>>()?)
            }
            b'{' => {
                let mut reader = serde_json::Deserializer::from_str(text);
                let fields = reader.deserialize_map(Fields).ok()?.into_iter();
                let fields = fields.map(|(name, raw)| Some((name, inner(raw)?)));
                Self::Object(fields.collect::<Option<_>>()?)
            }
            b'n' | b't' | b'f' => Self::Plain(text.to_owned()),
            _ => number(text).map(|_| Self::Plain(text.to_owned()))?,
        })
    }

    /// Returns the value as most readers see it: numbers by their value, and the last of duplicate names.
    #[must_use]
    pub fn meaning(&self) -> Self {
        match self {
            Self::Plain(text) => Self::Plain(number(text).unwrap_or_else(|| text.clone())),
            Self::Text(_) => self.clone(),
            Self::Array(items) => Self::Array(items.iter().map(Self::meaning).collect()),
            Self::Object(fields) => {
                let fields = fields.iter().map(|(name, it)| (name.clone(), it.meaning()));
                Self::Object(fields.collect::<BTreeMap<_, _>>().into_iter().collect())
            }
        }
    }

    /// Returns the value with the fields of its objects sorted by name. Duplicate names keep their order.
    #[must_use]
    pub fn sorted(&self) -> Self {
        match self {
            Self::Plain(_) | Self::Text(_) => self.clone(),
            Self::Array(items) => Self::Array(items.iter().map(Self::sorted).collect()),
            Self::Object(fields) => {
                let fields = fields.iter().map(|(name, it)| (name.clone(), it.sorted()));
                let mut fields: Vec<_> = fields.collect();
                fields.sort_by(|(left, _), (right, _)| left.cmp(right));
                Self::Object(fields)
            }
        }
    }

    /// Returns the last field with this name.
    pub fn field(&self, name: &str) -> Option<&Self> {
        let Self::Object(fields) = self else {
            return None;
        };
        let mut named = fields.iter().rev().filter(|(own, _)| own == name);
        named.next().map(|(_, value)| value)
    }

    /// Returns the string, if this is a string.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        match self {
            Self::Plain(text) => f.write_str(text),
            Self::Text(text) => f.write_str(&quoted(text)),
            Self::Array(items) => {
                let items: Vec<String> = items.iter().map(Self::to_string).collect();
                write!(f, "[{}]", items.join(","))
            }
            Self::Object(fields) => {
                let field = |(name, value): &(String, Self)| format!("{}:{value}", quoted(name));
                let fields: Vec<String> = fields.iter().map(field).collect();
                write!(f, "{{{}}}", fields.join(","))
            }
        }
    }
}

/// Returns the digits of a number without leading and trailing zeros, and the exponent of the last digit.
fn number(text: &str) -> Option<String> {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |it| ("-", it));
    let lower = digits.to_ascii_lowercase();
    let (mantissa, power) = lower.split_once('e').unwrap_or((&lower, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole, fraction].concat();
    let power = i128::from(power.parse::<i64>().ok()?) - i128::try_from(fraction.len()).ok()?;
    let kept = digits.trim_end_matches('0');
    let power = power + i128::try_from(digits.len() - kept.len()).ok()?;
    match kept.trim_start_matches('0') {
        _ if !digits.bytes().all(|it| it.is_ascii_digit()) => None,
        "" => Some("0".to_owned()),
        kept => Some(format!("{sign}{kept}e{power}")),
    }
}

/// Reads the fields of an object in order, including duplicates.
struct Fields;

impl<'a> Visitor<'a> for Fields {
    type Value = Vec<(String, &'a RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        std::iter::from_fn(|| map.next_entry().transpose()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Json;

    const TEXT: &str =
        r#"{"b":[1.10,-0,1E+2,123456789012345678901234567890],"a":null,"a":{"\u0022":true}}"#;

    fn read(text: &str) -> Json {
        Json::read(text).expect("it is JSON")
    }

    #[test]
    fn reading_and_writing_preserves_digits_order_and_equal_names() {
        let written = read(TEXT).to_string();
        assert_eq!(written, TEXT.replace("\\u0022", "\\\""));
        assert_ne!(read("1.10"), read("1.1"));
        assert_ne!(read(r#"{"a":1,"b":2}"#), read(r#"{"b":2,"a":1}"#));
        assert_eq!(Json::read("1e99999999999999999999"), None);
        assert_eq!(Json::read(r#"["\ud800"]"#), None);
    }

    #[test]
    fn values_are_compared_by_order_digits_or_meaning() {
        let sorted = read(TEXT).sorted().to_string();
        assert!(sorted.starts_with(r#"{"a":null,"a":{"#), "{sorted}");
        let meaning = |text| read(text).meaning();
        for (one, same) in [
            ("[1.10, -0, 1E+2, 0.5]", "[11e-1,0e7,100,5e-1]"),
            (r#"{"b":1,"a":0,"a":[2.0]}"#, r#"{"a":[2],"b":1}"#),
            ("[null, true]", "[null,true]"),
        ] {
            assert_eq!(meaning(one), meaning(same), "{one}");
        }
        for (one, other) in [("1", "-1"), ("1", "10"), ("1.1", "11"), ("1", "\"1\"")] {
            assert_ne!(meaning(one), meaning(other));
        }
        assert_eq!(read(TEXT).field("a"), Some(&read("{\"\\\"\":true}")));
    }
}
