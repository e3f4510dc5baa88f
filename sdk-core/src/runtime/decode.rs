use bytes::Bytes;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::json::{Page, RawJson, Record, explain, watch};

/// A type that a reply decodes into.
pub trait Reply: DeserializeOwned + Send + 'static {
    /// The `schemaVersion` that the reply says it has, where its type knows one.
    fn schema_version(&self) -> Option<&str> {
        None
    }
}

impl Reply for RawJson {}
impl Reply for Record {}

impl<T: DeserializeOwned + Send + 'static> Reply for Page<T> {
    fn schema_version(&self) -> Option<&str> {
        self.schema_version.as_deref()
    }
}

/// Why a 2xx reply could not be taken.
#[derive(Debug)]
pub(crate) enum Unreadable {
    /// It breaks off: the same request may well succeed.
    Truncated(String),
    /// It is no JSON, or JSON of another shape.
    Malformed(String),
    /// It has another `schemaVersion`.
    Schema {
        expected: &'static str,
        found: String,
        detail: Option<String>,
    },
}

/// Decodes a reply in one pass over its text; only a failure costs another one, to explain it.
///
/// A `schemaVersion` other than `expected` is an error, unless `lenient`.
pub(crate) fn decode<T: Reply>(
    body: &Bytes,
    expected: Option<&'static str>,
    lenient: bool,
) -> Result<T, Unreadable> {
    let text = std::str::from_utf8(body).map_err(|error| match error.error_len() {
        // It may end within a character.
        None => Unreadable::Truncated(error.to_string()),
        Some(_) => Unreadable::Malformed(format!("not UTF-8 text: {error}")),
    })?;
    let (decoded, otherwise) = watch(|| serde_json::from_str::<T>(text));
    if let (Ok(_), Some(first)) = (&decoded, otherwise) {
        tracing::warn!(
            object = first.object,
            member = first.member,
            count = first.count,
            "members of another type than assumed, or beyond what their type holds, are kept among the unknown ones"
        );
    }
    match decoded {
        Ok(value) => same_version(expected, value.schema_version(), lenient).map(|()| value),
        Err(error) => Err(unreadable::<T>(text, expected, &error)),
    }
}

/// Holds a reply whose type knows no `schemaVersion` to the one that is expected.
pub(crate) fn check_version(
    body: &Bytes,
    expected: Option<&'static str>,
    lenient: bool,
) -> Result<(), Unreadable> {
    if expected.is_none() {
        return Ok(());
    }
    let found = serde_json::from_slice::<Version>(body).ok();
    let found = found.map(|version| version.schema_version);
    same_version(expected, found.as_deref(), lenient)
}

fn same_version(
    expected: Option<&'static str>,
    found: Option<&str>,
    lenient: bool,
) -> Result<(), Unreadable> {
    match (expected, found) {
        (Some(expected), Some(found)) if expected != found => {
            if lenient {
                tracing::warn!(expected, found, "reply of another schema version");
                return Ok(());
            }
            Err(Unreadable::Schema {
                expected,
                found: found.to_owned(),
                detail: None,
            })
        }
        _ => Ok(()),
    }
}

/// The one member that says more than any path.
#[derive(Deserialize)]
struct Version {
    #[serde(rename = "schemaVersion")]
    schema_version: String,
}

fn unreadable<T: Reply>(
    text: &str,
    expected: Option<&'static str>,
    error: &serde_json::Error,
) -> Unreadable {
    if text.trim().is_empty() {
        return Unreadable::Malformed("the body is empty".to_owned());
    }
    if error.is_eof() {
        return Unreadable::Truncated(error.to_string());
    }
    if let (Some(expected), Ok(version)) = (expected, serde_json::from_str::<Version>(text))
        && version.schema_version != expected
    {
        let detail = Some(explain::<T>(text, error));
        return Unreadable::Schema {
            expected,
            found: version.schema_version,
            detail,
        };
    }
    Unreadable::Malformed(explain::<T>(text, error))
}
