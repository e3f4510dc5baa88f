use std::error::Error;

use bytes::Bytes;
use bytestring::ByteString;
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::json::decode_context::{ConstantMismatch, decode_response};
use crate::json::explain::{Found, Unfit, decode_or_explain};
use crate::json::fast;
use crate::json::raw::RawJson;
use crate::json::record::Record;
use crate::json::scan::outside_strings;
use crate::reply::page::Page;

/// A type that the JSON of a reply decodes into.
pub trait FromReply: DeserializeOwned + Send + 'static {
    /// The `schemaVersion` of the reply, if its type has one.
    fn schema_version(&self) -> Option<&str> {
        None
    }

    /// The value of a reply without a body, where the contract shows none.
    fn absent() -> Option<Self> {
        None
    }

    /// What the reply lacks of its documented schema, beyond what its type checks.
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

/// Redacts a piece of a reply.
pub(crate) type Shown<'a> = &'a dyn Fn(&str) -> String;

/// What a reply is checked against.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// The `schemaVersion` in the contract.
    pub(crate) schema_version: Option<&'static str>,
    /// Whether an unexpected version or constant is a warning instead of an error.
    pub(crate) lenient: bool,
    pub(crate) max_elements: usize,
    /// What was asked for, if that is not only JSON.
    pub(crate) accept: Option<&'static str>,
    /// The documented statuses.
    pub(crate) statuses: &'static [u16],
}

/// Why a 2xx reply could not be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum Unreadable {
    /// It is truncated: the same request may succeed.
    Truncated(Box<dyn Error + Send + Sync>),
    /// It is not JSON, or does not match its schema.
    Malformed(String),
    /// It has more elements than allowed.
    TooMany(usize),
    /// It has an unexpected `schemaVersion`.
    Schema {
        /// The one in the contract.
        expected: &'static str,
        /// What was found in its place, if anything.
        found: Option<String>,
        /// Why the rest does not decode, if it does not.
        detail: Option<String>,
    },
}

/// Decodes a reply. Pieces of it go through `shown` before they appear in errors and events. The flag says that it differs from its schema, which was tolerated.
pub(crate) fn decode<T: FromReply>(
    body: &Bytes,
    terms: Terms,
    shown: Shown<'_>,
) -> Result<(T, bool), Unreadable> {
    let expected = terms.schema_version;
    let mut mismatch = false;
    if body.is_empty()
        && expected.is_none()
        && let Some(absent) = T::absent()
    {
        return Ok((absent, false));
    }
    let text = ByteString::try_from(body.clone()).map_err(|error| match error.error_len() {
        // It ends within a character.
        None => Unreadable::Truncated(error.into()),
        Some(_) => Unreadable::Malformed(format!("the body is not UTF-8: {error}")),
    })?;
    if has_more_elements(&text, terms.max_elements) {
        return Err(Unreadable::TooMany(terms.max_elements));
    }
    let fast = || fast::from_str::<T>(&text);
    let (value, seen) = if let (Some(value), seen) = decode_response(&text, fast) {
        (value, seen)
    } else {
        let slow = || decode_or_explain::<T>(&text, Found::Quoted);
        let (decoded, seen) = decode_response(&text, slow);
        let value = decoded.map_err(|unfit| unreadable(&text, expected, unfit, shown))?;
        (value, seen)
    };
    if let Some(first) = seen.types {
        mismatch = true;
        tracing::warn!(
            name: "suite.reply.types",
            object = first.object,
            member = first.member,
            count = first.count,
            "members do not match their assumed type, or exceed it, and are kept in `extra`"
        );
    }
    if let Some(expected) = expected
        && value.schema_version() != Some(expected)
    {
        // The type may have no such member, so it is read from the text.
        match check_version(&text, expected, shown) {
            Err(found) if terms.lenient => {
                mismatch = true;
                tracing::warn!(
                    name: "suite.reply.schema_version",
                    expected,
                    found,
                    "the reply has an unexpected schema version"
                );
            }
            checked => checked.map_err(|found| Unreadable::Schema {
                expected,
                found,
                detail: None,
            })?,
        }
    }
    if let Some(constant) = seen.constant {
        mismatch = true;
        other_constant(&constant, terms.lenient, shown)?;
    }
    match value.lacks().filter(|_| expected.is_some()) {
        Some(lack) => Err(Unreadable::Malformed(lack)),
        None => Ok((value, mismatch)),
    }
}

/// Whether a JSON text has more elements and members than allowed.
fn has_more_elements(text: &str, most: usize) -> bool {
    // Each takes at least a digit and a comma.
    if text.len() / 2 <= most {
        return false;
    }
    // Counts every comma, and the first element of every container that is not empty.
    let (mut count, mut opened) = (0, false);
    for byte in outside_strings(text).filter(|byte| !byte.is_ascii_whitespace()) {
        let is_first = opened && !matches!(byte, b']' | b'}');
        count += usize::from(is_first || byte == b',');
        opened = matches!(byte, b'[' | b'{');
    }
    count > most
}

/// Compares the `schemaVersion` in a reply with the expected one. The error is what was found in its place, if anything.
fn check_version(text: &str, expected: &str, shown: Shown<'_>) -> Result<(), Option<String>> {
    let record = text.parse::<Record>();
    let raw = record.map_or(None, |record| record.raw_member("schemaVersion"));
    let raw = raw.ok_or(None)?;
    let version: Option<String> = raw.decode_silently();
    if version.as_deref() == Some(expected) {
        return Ok(());
    }
    Err(Some(shown(version.as_deref().unwrap_or(raw.as_str()))))
}

/// A constant identifies a reply, so another value means that the reply is something else.
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
            name: "suite.reply.constant",
            object,
            member,
            expected,
            found,
            "a constant has an unexpected value"
        );
        return Ok(());
    }
    Err(Unreadable::Malformed(format!(
        "at `{member}`: expected the constant {expected}, found {found}"
    )))
}

fn unreadable(
    text: &str,
    expected: Option<&'static str>,
    unfit: Unfit,
    shown: Shown<'_>,
) -> Unreadable {
    if text.trim().is_empty() {
        return Unreadable::Malformed("the body is empty".to_owned());
    }
    if unfit.error.is_eof() {
        return Unreadable::Truncated(unfit.error.into());
    }
    let detail = unfit.why;
    let is_object = text.trim_ascii_start().starts_with('{');
    // The version counts only if the whole text is JSON, because the member may precede the mistake.
    let is_json = || serde_json::from_str::<IgnoredAny>(text).is_ok();
    if let Some(expected) = expected.filter(|_| is_object && is_json())
        && let Err(found) = check_version(text, expected, shown)
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
