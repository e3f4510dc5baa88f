//! Lossless JSON values in one canonical form: JSON documents with the same meaning have equal values. Numbers keep
//! every digit at any size, so an amount never becomes a floating-point number.

use std::collections::BTreeMap;
use std::str::FromStr;

use serde_json::Value;
use serde_json::value::RawValue;

/// The maximum nesting depth.
const DEEPEST: usize = 128;

/// The fields of an object. If a name occurs more than once, the last field wins.
pub(crate) type Members = BTreeMap<String, Json>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    /// Significant digits and a power of ten: both `1.10` and `1.1` are `11e-1`.
    Number(String),
    Text(String),
    Array(Vec<Json>),
    Object(Members),
}

impl Json {
    pub(crate) fn read(body: &[u8]) -> Result<Json, String> {
        serde_json::from_slice::<&RawValue>(body)
            .map_err(|error| error.to_string())
            .and_then(|raw| Left(raw.get()).value(DEEPEST))
            .map_err(|problem| format!("not JSON: {problem}"))
    }

    /// Whether this is a whole number of any size.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self, Json::Number(number) if !number.contains("e-"))
    }

    /// Returns a whole number that fits into 64 bits.
    fn whole<T: FromStr>(&self) -> Option<T> {
        let Json::Number(number) = self else {
            return None;
        };
        let (digits, power) = number.split_once('e')?;
        // No 64-bit number has more zeros, and a huge power of ten must not be expanded.
        let zeros = power.parse().ok().filter(|zeros| *zeros < 19)?;
        format!("{digits}{}", "0".repeat(zeros)).parse().ok()
    }

    /// Converts to a value with 64-bit numbers. Whole numbers become integers; numbers out of range become the
    /// greatest finite double.
    pub(crate) fn into_value(self) -> Value {
        match self {
            Json::Null => Value::Null,
            Json::Bool(value) => value.into(),
            Json::Number(ref number) => {
                let near: f64 = number.parse().unwrap_or_default();
                let near = near.clamp(f64::MIN, f64::MAX);
                // A fraction must not round to a whole number.
                let rounded = near.fract() == 0.0 && !self.is_whole();
                let near = if rounded { near.next_up() } else { near };
                let signed = self.whole::<i64>().map(Value::from);
                let whole = signed.or_else(|| self.whole::<u64>().map(Value::from));
                whole.unwrap_or_else(|| near.into())
            }
            Json::Text(text) => text.into(),
            Json::Array(items) => items.into_iter().map(Json::into_value).collect(),
            Json::Object(members) => {
                let members = members.into_iter();
                members
                    .map(|(name, member)| (name, member.into_value()))
                    .collect()
            }
        }
    }

    /// Returns the canonical form for comparing commands: sorted fields without null fields, and normalized numbers.
    pub(crate) fn canonical(&self) -> String {
        let mut text = Vec::new();
        self.write(&mut text);
        String::from_utf8(text).expect("JSON is UTF-8")
    }

    fn write(&self, to: &mut Vec<u8>) {
        let quote = |text: &str, to: &mut Vec<u8>| {
            serde_json::to_writer(to, text).expect("writing to a vector can't fail");
        };
        match self {
            Json::Null => to.extend(b"null"),
            Json::Bool(value) => to.extend(value.to_string().bytes()),
            Json::Number(number) => to.extend(number.bytes()),
            Json::Text(text) => quote(text, to),
            Json::Array(items) => {
                to.push(b'[');
                for item in items {
                    item.write(to);
                    to.push(b',');
                }
                to.push(b']');
            }
            Json::Object(members) => {
                to.push(b'{');
                for (name, member) in members.iter().filter(|(_, member)| **member != Json::Null) {
                    quote(name, to);
                    to.push(b':');
                    member.write(to);
                    to.push(b',');
                }
                to.push(b'}');
            }
        }
    }
}

/// The unparsed rest of valid JSON, so commas and colons can be skipped.
struct Left<'t>(&'t str);

impl<'t> Left<'t> {
    /// Returns the first byte of the next value, or the bracket that closes the enclosing value.
    fn next(&mut self) -> Option<u8> {
        let blank = [' ', '\t', '\n', '\r', ',', ':'];
        self.0 = self.0.trim_start_matches(blank);
        self.0.bytes().next()
    }

    fn take(&mut self, length: usize) -> &'t str {
        let (taken, left) = self.0.split_at(length);
        self.0 = left;
        taken
    }

    fn value(&mut self, depth: usize) -> Result<Json, String> {
        let next = self.next();
        if next == Some(b'"') {
            return self.text().map(Json::Text);
        }
        if let Some(b'[' | b'{') = next {
            let depth = depth.checked_sub(1);
            let depth = depth.ok_or_else(|| format!("nested deeper than {DEEPEST}"))?;
            self.take(1);
            let (mut items, mut members) = (Vec::new(), Members::new());
            while !matches!(self.next(), Some(b']' | b'}')) {
                if next == Some(b'[') {
                    items.push(self.value(depth)?);
                } else {
                    members.insert(self.text()?, self.value(depth)?);
                }
            }
            return Ok(match self.take(1) {
                "]" => Json::Array(items),
                _ => Json::Object(members),
            });
        }
        let end = self.0.find([',', ']', '}', ' ', '\t', '\n', '\r']);
        Ok(match self.take(end.unwrap_or(self.0.len())) {
            "null" => Json::Null,
            "true" => Json::Bool(true),
            "false" => Json::Bool(false),
            number => Json::Number(canonical(number)?),
        })
    }

    fn text(&mut self) -> Result<String, String> {
        let mut escaped = false;
        let end = self.0.bytes().skip(1).position(|byte| {
            let ends = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        });
        let quoted = self.take(end.map_or(self.0.len(), |end| end + 2));
        serde_json::from_str(quoted).map_err(|error| error.to_string())
    }
}

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
