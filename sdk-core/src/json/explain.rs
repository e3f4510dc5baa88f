//! Says of JSON that did not fit a type: where, what was expected, and what stood there.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_path_to_error::{Path, Segment};

use crate::json::fields::Fields;
use crate::text::one_line;

/// The longest value that is shown, in bytes. A longer one is only named: a part of it says little, and could be half
/// of something that must not be shown.
const LONGEST_FOUND: usize = 60;

/// What is said of a value that does not fit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// The value, if it is short: whoever asks looks for confidential text in what comes out.
    Quoted,
    /// Its kind: nobody knows what is confidential.
    Named,
}

/// Decodes once more to find the path.
pub(crate) fn explain<'a, T: Deserialize<'a>>(
    text: &'a str,
    first: &serde_json::Error,
    found: Found,
) -> String {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let Err(error) = serde_path_to_error::deserialize::<_, T>(&mut deserializer) else {
        return first.to_string();
    };
    let (path, inner) = (error.path(), error.inner());
    if !inner.is_data() {
        // What is no JSON has a position, and a path only if it is cut off.
        return if path.iter().next().is_none() {
            first.to_string()
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
        let came = value_at(text, path).map_or_else(String::new, names);
        return format!("at `{place}`: a required member is missing{came}");
    }
    let place = if path.iter().next().is_none() {
        "as a whole".to_owned()
    } else {
        format!("at `{path}`")
    };
    let came = value_at(text, path);
    let came = came.map_or_else(|| "another value".to_owned(), |value| found.show(value));
    match message.rsplit_once(", expected ") {
        Some((_, expected)) => format!("{place}: expected {}, found {came}", plain(expected)),
        // The message of a type of the caller's may quote.
        None if found == Found::Named => format!("{place}: it does not fit, found {came}"),
        None => format!("{place}: {message}, found {came}"),
    }
}

/// What serde calls a type, in words.
fn plain(expected: &str) -> &str {
    match expected {
        "i64" => "an integer of 64 bits",
        "f64" => "a number",
        other => other,
    }
}

/// The names of the members that came where another one is missing.
fn names(text: &str) -> String {
    match serde_json::from_str::<Fields<'_>>(text) {
        Ok(Fields(members)) if members.is_empty() => "; there are none".to_owned(),
        Ok(Fields(members)) => {
            let names: Vec<&str> = members.iter().map(|(name, _)| &**name).collect();
            format!("; those that came are {}", one_line(&names.join(", ")))
        }
        Err(_) => String::new(),
    }
}

fn member_of(path: &Path, member: &str) -> String {
    if path.iter().next().is_none() {
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
    let mut value: &RawValue = serde_json::from_str(text).ok()?;
    for segment in path {
        value = match segment {
            Segment::Seq { index } => {
                let items: Vec<&RawValue> = serde_json::from_str(value.get()).ok()?;
                items.get(*index).copied()?
            }
            Segment::Map { key } => {
                let Fields(members) = serde_json::from_str(value.get()).ok()?;
                members.into_iter().find(|(name, _)| name == key)?.1
            }
            Segment::Enum { .. } | Segment::Unknown => return None,
        };
    }
    Some(value.get())
}

impl Found {
    fn show(self, text: &str) -> String {
        let kind = match text.as_bytes().first() {
            Some(b'{') => "an object",
            Some(b'[') => "an array",
            Some(b'"') => "a string",
            Some(b'n' | b't' | b'f') => return text.to_owned(),
            _ => "a number",
        };
        if self == Self::Quoted && text.len() <= LONGEST_FOUND {
            return one_line(text);
        }
        format!("{kind} of {} bytes", text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::{Found, explain};
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

    fn said(text: &str) -> String {
        explain::<Queue>(
            text,
            &serde_json::from_str::<Queue>(text).unwrap_err(),
            Found::Quoted,
        )
    }

    #[test]
    fn path_expectation_and_finding_are_named() {
        for (text, expected) in [
            (
                r#"{"items":[{"recordVersion":1},{"recordVersion":1,"dueAt":17}]}"#,
                "at `items[1].dueAt`: expected a date-time of RFC 3339, found 17",
            ),
            (
                r#"{"items":[{"recordVersion":123456789012345678901234567890}]}"#,
                "at `items[0].recordVersion`: expected an integer of 64 bits, found 123456789012345678901234567890",
            ),
            (
                r#"{"items":[{"recordVersion":null}]}"#,
                "at `items[0].recordVersion`: expected an integer of 64 bits, found null",
            ),
            (
                r#"{"items":[{"owner":{}}]}"#,
                "at `items[0].recordVersion`: a required member is missing; those that came are owner",
            ),
            (
                r#"{"list":[],"next":1}"#,
                "at `items`: a required member is missing; those that came are list, next",
            ),
            (
                "{}",
                "at `items`: a required member is missing; there are none",
            ),
            (
                r#"{"items":{"a": 1}}"#,
                r#"at `items`: expected a sequence, found {"a": 1}"#,
            ),
            ("[]", "as a whole: expected an object (Queue), found []"),
            (
                r#"{"items":[}"#,
                "at `items[0]`: expected value at line 1 column 11",
            ),
            (
                "{\"items\":[]} x",
                "trailing characters at line 1 column 14",
            ),
        ] {
            assert_eq!(said(text), expected);
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
            let line = said(&format!("{{\"items\":{value}}}"));
            assert_eq!(
                line,
                format!("at `items`: expected a sequence, found {found}")
            );
        }
    }

    #[test]
    fn an_instant_that_is_none_is_shown() {
        assert_eq!(
            said(r#"{"items":[{"recordVersion":1,"dueAt":"tomorrow"}]}"#),
            "at `items[0].dueAt`: expected a date-time of RFC 3339, found \"tomorrow\""
        );
    }
}
