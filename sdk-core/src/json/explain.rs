//! Explains why JSON doesn't match a type: the path, the expected type, and the value found.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_path_to_error::{Path, Segment};

use crate::json::fast::scanner::{members, values};
use crate::text::one_line;

/// The longest value to print, in bytes. An excerpt of a longer value could cut a secret in two, so that redaction no
/// longer recognizes it.
const LONGEST_FOUND: usize = 60;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueDisplay {
    /// Prints short numbers. Strings, objects and arrays may contain personal data and are described by kind and size.
    Quoted,
    /// Describes every value by kind and size, because any of them may be confidential.
    Named,
}

pub(crate) struct DecodeFailure {
    pub(crate) error: serde_json::Error,
    pub(crate) why: String,
}

/// Decodes a value that the [fast decoder](crate::json::fast) left undecoded, or explains why it doesn't match.
pub(crate) fn decode_or_explain<'a, T: Deserialize<'a>>(
    text: &'a str,
    found: ValueDisplay,
) -> Result<T, DecodeFailure> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let why = explain(text, error.path(), error.inner(), found);
        DecodeFailure {
            error: error.into_inner(),
            why,
        }
    })?;
    deserializer.end().map_err(|error| DecodeFailure {
        why: error.to_string(),
        error,
    })?;
    Ok(value)
}

fn explain(text: &str, path: &Path, inner: &serde_json::Error, found: ValueDisplay) -> String {
    if !inner.is_data() {
        // Errors of malformed JSON contain a position. They also have a path if the JSON ends early.
        return if path.iter().len() == 0 {
            inner.to_string()
        } else {
            format!("at `{path}`: {inner}")
        };
    }
    let message = inner.to_string();
    let message = without_position(&message);
    if let Some(field) = message
        .strip_prefix("missing field `")
        .and_then(|rest| rest.strip_suffix('`'))
    {
        let place = field_of(path, field);
        let names = value_at(text, path).map_or_else(String::new, names);
        return format!("at `{place}`: required field is missing{names}");
    }
    let place = if path.iter().len() == 0 {
        String::new()
    } else {
        format!("at `{path}`: ")
    };
    let value = value_at(text, path);
    let value = value.map_or_else(|| "another value".to_owned(), |value| found.show(value));
    match expected(message) {
        Some(expected) => format!("{place}expected {expected}, found {value}"),
        // The message of the caller's own type may quote the value.
        None if found == ValueDisplay::Named => format!("{place}invalid value, found {value}"),
        None => format!("{place}{message}, found {value}"),
    }
}

/// The part of an error message without the value: the expectation, or the entire message if it has none.
pub(super) fn reason(message: &str) -> &str {
    let message = without_position(message);
    expected(message).unwrap_or(message)
}

/// The expectation in an error message, in JSON terms.
fn expected(message: &str) -> Option<&str> {
    let (_, expected) = message.rsplit_once(", expected ")?;
    Some(match expected {
        "i64" => "a 64-bit integer",
        "a sequence" => "an array",
        "a map" => "an object",
        "f64" => "a number",
        other => other,
    })
}

/// Lists the fields of an object that lacks a required field.
fn names(text: &str) -> String {
    let names: Vec<_> = members(text).map(|(name, _)| name).collect();
    if names.is_empty() {
        return "; the object is empty".to_owned();
    }
    format!("; the object has {}", one_line(&names.join(", ")))
}

fn field_of(path: &Path, field: &str) -> String {
    if path.iter().len() == 0 {
        field.to_owned()
    } else {
        format!("{path}.{field}")
    }
}

fn without_position(message: &str) -> &str {
    message
        .rfind(" at line ")
        .map_or(message, |end| &message[..end])
}

fn value_at<'a>(text: &'a str, path: &Path) -> Option<&'a str> {
    let whole: &RawValue = serde_json::from_str(text).ok()?;
    path.iter()
        .try_fold(whole.get(), |value, segment| match segment {
            Segment::Seq { index } => {
                let items: Vec<&RawValue> = serde_json::from_str(value).ok()?;
                items.get(*index).map(|item| item.get())
            }
            Segment::Map { key } => values(value, key).next(),
            Segment::Enum { .. } | Segment::Unknown => None,
        })
}

impl ValueDisplay {
    pub(super) fn show(self, text: &str) -> String {
        let kind = match text.as_bytes().first() {
            Some(b'{') => "an object",
            Some(b'[') => "an array",
            Some(b'"') => "a string",
            Some(b'n' | b't' | b'f') => return text.to_owned(),
            _ => "a number",
        };
        if self == Self::Quoted && kind == "a number" && text.len() <= LONGEST_FOUND {
            return text.to_owned();
        }
        format!("{kind} of {} bytes", text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::{ValueDisplay, decode_or_explain};
    use crate::{Members, Record, Timestamp};

    #[derive(Clone, Debug, PartialEq)]
    struct Queue {
        items: Vec<Item>,
        extra: Members,
    }

    #[derive(Clone, Debug, PartialEq)]
    struct Item {
        due: Option<Timestamp>,
        version: i64,
        owner: Option<Record>,
        extra: Members,
    }

    crate::json_object!(Queue { items: required "items" });
    crate::json_object!(Item {
        due: optional "dueAt",
        version: required "recordVersion",
        owner: optional "owner",
    });

    fn why(text: &str) -> String {
        decode_or_explain::<Queue>(text, ValueDisplay::Quoted)
            .err()
            .unwrap()
            .why
    }

    #[test]
    fn an_explanation_has_path_expectation_and_value() {
        for (text, expected) in [
            (
                r#"{"items":[{"recordVersion":1},{"recordVersion":1,"dueAt":17}]}"#,
                "at `items[1].dueAt`: expected an RFC 3339 date-time, found 17",
            ),
            (
                r#"{"items":[{"recordVersion":123456789012345678901234567890}]}"#,
                "at `items[0].recordVersion`: expected a 64-bit integer, found 123456789012345678901234567890",
            ),
            (
                r#"{"items":[{"recordVersion":null}]}"#,
                "at `items[0].recordVersion`: expected a 64-bit integer, found null",
            ),
            (
                r#"{"items":[{"owner":{}}]}"#,
                "at `items[0].recordVersion`: required field is missing; the object has owner",
            ),
            (
                r#"{"list":[],"next":1}"#,
                "at `items`: required field is missing; the object has list, next",
            ),
            (
                "{}",
                "at `items`: required field is missing; the object is empty",
            ),
            (
                r#"{"items":{"a": 1}}"#,
                "at `items`: expected an array, found an object of 8 bytes",
            ),
            (
                "[]",
                "expected an object (Queue), found an array of 2 bytes",
            ),
            (
                r#"{"items":[}"#,
                "at `items[0]`: expected value at line 1 column 11",
            ),
            (
                "{\"items\":[]} x",
                "trailing characters at line 1 column 14",
            ),
        ] {
            assert_eq!(why(text), expected);
        }
    }

    #[test]
    fn a_long_value_is_described_by_kind_and_size() {
        for (value, found) in [
            (
                format!("\"{}\"", "x".repeat(1_000)),
                "a string of 1002 bytes",
            ),
            (
                format!("{{\"a\":{}}}", "1".repeat(94)),
                "an object of 100 bytes",
            ),
            ("1".repeat(61), "a number of 61 bytes"),
        ] {
            let line = why(&format!("{{\"items\":{value}}}"));
            assert_eq!(
                line,
                format!("at `items`: expected an array, found {found}")
            );
        }
    }

    #[test]
    fn named_values_show_literals_but_no_numbers() {
        for (found, shown) in [("null", "null"), ("17", "a number of 2 bytes")] {
            assert_eq!(ValueDisplay::Named.show(found), shown);
        }
    }

    #[test]
    fn an_invalid_timestamp_is_explained() {
        assert_eq!(
            why(r#"{"items":[{"recordVersion":1,"dueAt":"tomorrow"}]}"#),
            "at `items[0].dueAt`: expected an RFC 3339 date-time, found a string of 10 bytes"
        );
    }
}
