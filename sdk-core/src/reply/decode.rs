use std::error::Error;

use bytes::Bytes;
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::json::assumed::{ConstantMismatch, noting_mismatches};
use crate::json::explain::{Found, explain};
use crate::json::raw::RawJson;
use crate::json::record::Record;
use crate::reply::page::Page;

/// A type that a reply decodes into.
pub trait FromReply: DeserializeOwned + Send + 'static {
    /// The `schemaVersion` that the reply says it has, where its type knows one.
    fn schema_version(&self) -> Option<&str> {
        None
    }

    /// What stands for a reply without a body, where the contract shows none.
    fn absent() -> Option<Self> {
        None
    }

    /// What the reply lacks of what its documented schema has, beyond what its type sees to.
    fn lacks(&self) -> Option<String> {
        None
    }
}

impl FromReply for RawJson {
    fn absent() -> Option<Self> {
        Some(Self::null())
    }
}

impl FromReply for Record {}

impl<T: DeserializeOwned + Send + 'static> FromReply for Page<T> {
    fn schema_version(&self) -> Option<&str> {
        self.schema_version.as_deref()
    }

    fn lacks(&self) -> Option<String> {
        self.without_items()
    }
}

/// Makes a piece of a reply fit to be shown.
pub(crate) type Shown<'a> = &'a dyn Fn(&str) -> String;

/// What a reply is held to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// The `schemaVersion` that the contract shows for it.
    pub(crate) schema_version: Option<&'static str>,
    /// Whether another version, or another constant, is a warning instead of an error.
    pub(crate) lenient: bool,
    pub(crate) max_elements: usize,
}

/// Why a 2xx reply could not be taken.
#[derive(Debug)]
pub(crate) enum Unreadable {
    /// It breaks off: the same request may well succeed.
    Truncated(Box<dyn Error + Send + Sync>),
    /// It is no JSON, or JSON of another shape.
    Malformed(String),
    /// It has more elements than allowed.
    TooMany(usize),
    /// It has another `schemaVersion`.
    Schema {
        expected: &'static str,
        /// What stands in its place, if anything does.
        found: Option<String>,
        detail: Option<String>,
    },
}

/// Decodes a reply in one pass over its text; only a failure costs another one, to explain it. What it says of pieces of
/// the reply, in errors and in events, goes through `shown`.
pub(crate) fn decode<T: FromReply>(
    body: &Bytes,
    terms: Terms,
    shown: Shown<'_>,
) -> Result<T, Unreadable> {
    let expected = terms.schema_version;
    if body.is_empty()
        && expected.is_none()
        && let Some(absent) = T::absent()
    {
        return Ok(absent);
    }
    let text = std::str::from_utf8(body).map_err(|error| match error.error_len() {
        // It may end within a character.
        None => Unreadable::Truncated(error.into()),
        Some(_) => Unreadable::Malformed(format!("not UTF-8 text: {error}")),
    })?;
    if has_more_elements(text, terms.max_elements) {
        return Err(Unreadable::TooMany(terms.max_elements));
    }
    let (decoded, seen) = noting_mismatches(|| serde_json::from_str::<T>(text));
    let value = decoded.map_err(|error| unreadable::<T>(text, expected, error, shown))?;
    if let Some(first) = seen.types {
        tracing::warn!(
            object = first.object,
            member = first.member,
            count = first.count,
            "members of another type than assumed, or beyond what their type holds, are kept among the unknown ones"
        );
    }
    if let Some(expected) = expected
        && value.schema_version() != Some(expected)
    {
        // Types that know no version are read once more for it.
        same_version(expected, stated_version(text), terms.lenient, shown)?;
    }
    if let Some(mismatch) = seen.constant {
        other_constant(&mismatch, terms.lenient, shown)?;
    }
    match value.lacks().filter(|_| expected.is_some()) {
        Some(lack) => Err(Unreadable::Malformed(lack)),
        None => Ok(value),
    }
}

/// Whether a JSON text has more elements and members than allowed. Only a text that is long enough is looked at.
fn has_more_elements(text: &str, most: usize) -> bool {
    // None of them takes less than a digit and a comma.
    if text.len() / 2 <= most {
        return false;
    }
    // A comma for each but the first of a container, and one for the first, if there is any.
    let mut count = 0;
    let (mut in_string, mut escaped, mut opened) = (false, false, false);
    for byte in text.bytes() {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        if byte.is_ascii_whitespace() {
            continue;
        }
        let is_first = std::mem::take(&mut opened) && !matches!(byte, b']' | b'}');
        count += usize::from(is_first || byte == b',');
        match byte {
            b'"' => in_string = true,
            b'[' | b'{' => opened = true,
            _ => {}
        }
    }
    count > most
}

/// What stands in a reply where its version should.
enum Stated {
    Text(String),
    /// Null, or another type.
    Odd(String),
    Nothing,
}

impl Stated {
    /// Holds it to the expected version. What stands there instead, if anything does, is the error.
    fn check(self, expected: &str, shown: Shown<'_>) -> Result<(), Option<String>> {
        match self {
            Self::Text(text) if text == expected => Ok(()),
            Self::Text(text) | Self::Odd(text) => Err(Some(shown(&text))),
            Self::Nothing => Err(None),
        }
    }
}

/// The one member that says more than any path.
fn stated_version(text: &str) -> Stated {
    let member = text
        .parse::<Record>()
        .ok()
        .and_then(|record| record.raw_member("schemaVersion"));
    match member {
        None => Stated::Nothing,
        Some(raw) => match raw.decode_silently() {
            Some(version) => Stated::Text(version),
            None => Stated::Odd(raw.as_str().to_owned()),
        },
    }
}

fn same_version(
    expected: &'static str,
    found: Stated,
    lenient: bool,
    shown: Shown<'_>,
) -> Result<(), Unreadable> {
    let Err(found) = found.check(expected, shown) else {
        return Ok(());
    };
    if lenient {
        tracing::warn!(expected, found, "reply of another schema version");
        return Ok(());
    }
    Err(Unreadable::Schema {
        expected,
        found,
        detail: None,
    })
}

/// A constant says what a reply is: with another value it is not what its type makes of it.
fn other_constant(
    mismatch: &ConstantMismatch,
    lenient: bool,
    shown: Shown<'_>,
) -> Result<(), Unreadable> {
    let ConstantMismatch {
        object,
        member,
        expected,
        found,
    } = mismatch;
    let found = shown(found);
    if lenient {
        tracing::warn!(
            object,
            member,
            expected,
            found,
            "a constant has another value"
        );
        return Ok(());
    }
    Err(Unreadable::Malformed(format!(
        "at `{member}`: expected the constant {expected}, found {found}"
    )))
}

fn unreadable<T: FromReply>(
    text: &str,
    expected: Option<&'static str>,
    error: serde_json::Error,
    shown: Shown<'_>,
) -> Unreadable {
    if text.trim().is_empty() {
        return Unreadable::Malformed("the body is empty".to_owned());
    }
    if error.is_eof() {
        return Unreadable::Truncated(error.into());
    }
    let detail = explain::<T>(text, &error, Found::Quoted);
    let is_object = text.trim_ascii_start().starts_with('{');
    // What is no JSON has no version; what is wrong may come after the member of another type.
    let is_json = || serde_json::from_str::<IgnoredAny>(text).is_ok();
    if let Some(expected) = expected.filter(|_| is_object && is_json())
        && let Err(found) = stated_version(text).check(expected, shown)
    {
        return Unreadable::Schema {
            expected,
            found,
            detail: Some(detail),
        };
    }
    Unreadable::Malformed(detail)
}

#[cfg(test)]
mod tests {
    use super::has_more_elements;

    #[test]
    fn elements_are_counted_outside_of_strings() {
        let text = r#"[{"a,b":"\"[,{"}, 1, [], [ { } ]]"#;
        assert!(!has_more_elements(text, 6));
        assert!(has_more_elements(text, 5));
        assert!(!has_more_elements("[1,2,3]", 3));
        assert!(has_more_elements("[1,2,3]", 2));
    }
}
