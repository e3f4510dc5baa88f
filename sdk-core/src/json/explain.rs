//! Explains why JSON did not fit a type: where, what was expected, and what was found.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_path_to_error::{Path, Segment};

use crate::json::fast::scanner::{members, values};
use crate::text::one_line;

/// The longest value that is shown, in bytes. Of a longer one only the kind and size are shown: an excerpt says little and
/// could cut a secret in half, so that nobody recognises it.
const LONGEST_FOUND: usize = 60;

/// How a value that does not fit is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueDisplay {
    /// A short number as it is. Strings, objects and arrays may hold personal data: by kind and size.
    Quoted,
    /// By kind and size, because nobody knows what is confidential.
    Named,
}

/// Why JSON does not fit a type: the error, and what it means.
pub(crate) struct DecodeFailure {
    pub(crate) error: serde_json::Error,
    pub(crate) why: String,
}

/// Decodes what the [fast decoder](crate::json::fast) leaves, or explains why it does not fit.
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
        // Malformed JSON has a position; it has a path too if it ends early.
        return if path.iter().len() == 0 {
            inner.to_string()
        } else {
            format!("at `{path}`: {inner}")
        };
    }
    let message = inner.to_string();
    let message = without_position(&message);
    if let Some(member) = message
        .strip_prefix("missing field `")
        .and_then(|rest| rest.strip_suffix('`'))
    {
        let place = member_of(path, member);
        let names = value_at(text, path).map_or_else(String::new, names);
        return format!("at `{place}`: required member is missing{names}");
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
        // The caller's own type may quote the value in its message.
        None if found == ValueDisplay::Named => format!("{place}invalid value, found {value}"),
        None => format!("{place}{message}, found {value}"),
    }
}

/// What the message of an error says without the value: what was expected, or all of it if it expects nothing.
pub(super) fn reason(message: &str) -> &str {
    let message = without_position(message);
    expected(message).unwrap_or(message)
}

/// What the message of an error expected, in the words of JSON.
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

/// The fields of an object that lacks a required one.
fn names(text: &str) -> String {
    let names: Vec<_> = members(text).map(|(name, _)| name).collect();
    if names.is_empty() {
        return "; the object is empty".to_owned();
    }
    format!("; the object has {}", one_line(&names.join(", ")))
}

fn member_of(path: &Path, member: &str) -> String {
    if path.iter().len() == 0 {
        member.to_owned()
    } else {
        format!("{path}.{member}")
    }
}

fn without_position(message: &str) -> &str {
    message
        .rfind(" at line ")
        .map_or(message, |end| &message[..end])
}

/// The text of the value at a path.
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
    fn path_expectation_and_finding_are_named() {
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
                "at `items[0].recordVersion`: required member is missing; the object has owner",
            ),
            (
                r#"{"list":[],"next":1}"#,
                "at `items`: required member is missing; the object has list, next",
            ),
            (
                "{}",
                "at `items`: required member is missing; the object is empty",
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
    fn a_long_value_is_named_and_not_shown() {
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
    fn a_literal_is_shown_where_no_number_is() {
        for (found, shown) in [("null", "null"), ("17", "a number of 2 bytes")] {
            assert_eq!(ValueDisplay::Named.show(found), shown);
        }
    }

    #[test]
    fn an_instant_that_is_none_is_shown() {
        assert_eq!(
            why(r#"{"items":[{"recordVersion":1,"dueAt":"tomorrow"}]}"#),
            "at `items[0].dueAt`: expected an RFC 3339 date-time, found a string of 10 bytes"
        );
    }
}
