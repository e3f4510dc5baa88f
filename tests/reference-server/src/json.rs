//! Lossless JSON values: the one canonical form. Texts with the same meaning are the same value, and numbers keep every
//! digit, whatever their size: an amount never becomes a floating-point number.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::refusal::Refusal;

/// The deepest nesting that is accepted.
const DEEPEST: usize = 128;

/// The fields of an object; of those with the same name, the last.
pub(crate) type Members = BTreeMap<String, Json>;

/// A value. Its `Display` is what commands are compared by: fields in order and without null ones, plain numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    /// Significant digits and a power of ten: `1.10` is `11e-1`, and so is `1.1`.
    Number(String),
    Text(String),
    Array(Vec<Json>),
    Object(Members),
}

impl Json {
    /// Reads a body.
    pub(crate) fn read(body: &[u8]) -> Result<Json, Refusal> {
        serde_json::from_slice(body)
            .map_err(|error| error.to_string())
            .and_then(|raw: &RawValue| {
                let deep = depth(raw.get()) > DEEPEST;
                let deep = deep.then(|| format!("nested deeper than {DEEPEST}"));
                deep.map_or_else(|| Json::parse(raw), Err)
            })
            .map_err(|problem| Refusal::invalid(format!("the body is not JSON: {problem}")))
    }

    /// Reads level by level, since only a raw value still has the digits of a number.
    fn parse(raw: &RawValue) -> Result<Json, String> {
        fn inner<'t, T: Deserialize<'t>>(text: &'t str) -> Result<T, String> {
            serde_json::from_str(text).map_err(|error| error.to_string())
        }
        let text = raw.get();
        Ok(match text.as_bytes().first() {
            Some(b'{') => {
                let fields: BTreeMap<String, &RawValue> = inner(text)?;
                let fields = fields.into_iter();
                let fields = fields.map(|(name, raw)| Ok((name, Json::parse(raw)?)));
                Json::Object(fields.collect::<Result<_, String>>()?)
            }
            Some(b'[') => {
                let items: Vec<&RawValue> = inner(text)?;
                Json::Array(
                    items
                        .into_iter()
                        .map(Json::parse)
                        .collect::<Result<_, _>>()?,
                )
            }
            Some(b'"') => Json::Text(inner(text)?),
            Some(b't' | b'f') => Json::Bool(text == "true"),
            Some(b'n') => Json::Null,
            _ => Json::Number(canonical(text)?),
        })
    }

    /// A member that is a text, if this is an object that has it.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        match self {
            Json::Object(members) => match members.get(name)? {
                Json::Text(text) => Some(text),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether this is a whole number, of any size.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self, Json::Number(number) if !number.contains("e-"))
    }

    /// A whole number of 64 bits.
    pub(crate) fn as_i64(&self) -> Option<i64> {
        self.whole()
    }

    fn whole<T: FromStr>(&self) -> Option<T> {
        let Json::Number(number) = self else {
            return None;
        };
        let (digits, power) = number.split_once('e')?;
        // No 64-bit number has more zeros, and a huge power of ten must not be written out.
        let zeros = power.parse().ok().filter(|zeros| *zeros < 19)?;
        format!("{digits}{}", "0".repeat(zeros)).parse().ok()
    }

    /// The same with numbers of 64 bits, where whole ones are integers; what is beyond them is the greatest there is.
    pub(crate) fn to_value(&self) -> Value {
        match self {
            Json::Null => Value::Null,
            Json::Bool(value) => (*value).into(),
            Json::Number(number) => {
                let near: f64 = number.parse().unwrap_or_default();
                let near = near.clamp(f64::MIN, f64::MAX);
                // What is no whole number must not become one.
                let rounded = near.fract() == 0.0 && !self.is_whole();
                let near = if rounded { near.next_up() } else { near };
                let signed = self.whole::<i64>().map(Value::from);
                let whole = signed.or_else(|| self.whole::<u64>().map(Value::from));
                whole.unwrap_or_else(|| near.into())
            }
            Json::Text(text) => text.as_str().into(),
            Json::Array(items) => items.iter().map(Json::to_value).collect(),
            Json::Object(members) => members
                .iter()
                .map(|(name, member)| (name.clone(), member.to_value()))
                .collect(),
        }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => f.write_str("null"),
            Json::Bool(value) => write!(f, "{value}"),
            Json::Number(number) => f.write_str(number),
            Json::Text(text) => write!(f, "{}", Value::from(text.as_str())),
            Json::Array(items) => {
                f.write_str("[")?;
                items.iter().try_for_each(|item| write!(f, "{item},"))?;
                f.write_str("]")
            }
            Json::Object(members) => {
                f.write_str("{")?;
                for (name, member) in members.iter().filter(|(_, member)| **member != Json::Null) {
                    write!(f, "{}:{member},", Value::from(name.as_str()))?;
                }
                f.write_str("}")
            }
        }
    }
}

/// How deep a text of JSON is nested. Since each level is read again for the next one, that is known before.
fn depth(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut quoted, mut escaped) = (false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => depth += 1,
            b']' | b'}' if !quoted => depth -= 1,
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// A number in its canonical form.
fn canonical(number: &str) -> Result<String, String> {
    let plain = number.trim_start_matches('-');
    let sign = &number[..number.len() - plain.len()];
    let (mantissa, power) = plain.split_once(['e', 'E']).unwrap_or((plain, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let kept = all.trim_end_matches('0');
    if kept.is_empty() {
        return Ok("0e0".to_owned());
    }
    let power: i64 = power
        .parse()
        .map_err(|_| "a power of ten has more than 64 bits")?;
    let power = i128::from(power) + (all.len() - kept.len()) as i128 - fraction.len() as i128;
    Ok(format!("{sign}{}e{power}", kept.trim_start_matches('0')))
}
