//! Decodes 2xx responses by their status and body.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::error::Error;

use bytes::Bytes;
use bytestring::ByteString;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::json::decode_context::{ConstantMismatch, TypeMismatch, decode_response};
use crate::json::explain::{DecodeFailure, ValueDisplay, decode_or_explain};
use crate::json::fast;
use crate::json::fast::scanner::{has_more_elements, values};
use crate::json::raw::RawJson;
use crate::json::record::Record;
use crate::macros::debug_fields;

/// A type that a call can return: JSON of one type, of a type that depends on the status, or no JSON at all.
pub trait FromResponse: Sized + Send + 'static {
    /// Decodes a response.
    ///
    /// # Errors
    /// If the body doesn't match the type.
    fn receive(reply: &Received<'_>) -> Result<Self, Unreadable>;
}

impl FromResponse for () {
    /// Accepts any body, for operations that return nothing.
    fn receive(_: &Received<'_>) -> Result<Self, Unreadable> {
        Ok(())
    }
}

impl FromResponse for Bytes {
    /// Returns a body of another media type as received.
    fn receive(reply: &Received<'_>) -> Result<Self, Unreadable> {
        reply.reject_unexpected_json()?;
        Ok(reply.body.clone())
    }
}

impl FromResponse for RawJson {
    /// Returns null where the operation's own type would accept a body that isn't JSON.
    fn receive(reply: &Received<'_>) -> Result<Self, Unreadable> {
        let read = || {
            if reply.body.is_empty() && reply.rules.schema_version.is_none() {
                Ok(Self::null())
            } else {
                reply.json()
            }
        };
        if !reply.may_lack_json() {
            return read();
        }
        reply.reject_unexpected_json()?;
        let must_be_json = reply.rules.accept.is_some_and(is_json);
        match reply.is_json().then(read) {
            Some(decoded) if decoded.is_ok() || must_be_json => decoded,
            _ => Ok(Self::null()),
        }
    }
}

impl FromResponse for Record {
    fn receive(reply: &Received<'_>) -> Result<Self, Unreadable> {
        reply.json()
    }
}

impl FromResponse for String {
    fn receive(reply: &Received<'_>) -> Result<Self, Unreadable> {
        reply.json()
    }
}

impl FromResponse for bool {
    fn receive(reply: &Received<'_>) -> Result<Self, Unreadable> {
        reply.json()
    }
}

impl FromResponse for i64 {
    fn receive(reply: &Received<'_>) -> Result<Self, Unreadable> {
        reply.json()
    }
}

impl<T: DeserializeOwned + Send + 'static> FromResponse for Vec<T> {
    fn receive(reply: &Received<'_>) -> Result<Self, Unreadable> {
        reply.json()
    }
}

impl<T: DeserializeOwned + Send + 'static> FromResponse for Option<T> {
    fn receive(reply: &Received<'_>) -> Result<Self, Unreadable> {
        reply.json()
    }
}

impl<T: DeserializeOwned + Send + 'static> FromResponse for BTreeMap<String, T> {
    fn receive(reply: &Received<'_>) -> Result<Self, Unreadable> {
        reply.json()
    }
}

#[derive(Clone, Copy)]
pub(crate) struct ResponseHead<'a> {
    status: u16,
    /// The media type, without its parameters.
    media_type: Option<&'a str>,
}

impl<'a> ResponseHead<'a> {
    pub(crate) fn of(status: u16, headers: &'a HeaderMap) -> Self {
        let media_type = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
        let media_type = media_type.and_then(|it| it.split(';').next());
        let media_type = media_type.map(str::trim).filter(|it| !it.is_empty());
        Self { status, media_type }
    }
}

pub(crate) type Redact<'a> = &'a dyn Fn(&str) -> String;

#[derive(Clone, Copy, Debug)]
pub(crate) struct DecodeRules {
    /// The `schemaVersion` in the contract.
    pub(crate) schema_version: Option<&'static str>,
    /// Whether an unexpected version or constant is a warning instead of an error.
    pub(crate) lenient: bool,
    pub(crate) max_elements: usize,
    /// The request's `Accept` header, if it isn't only JSON.
    pub(crate) accept: Option<&'static str>,
    pub(crate) statuses: &'static [u16],
}

/// The reason why a 2xx response could not be decoded.
#[derive(Debug)]
#[non_exhaustive]
pub enum Unreadable {
    /// The body is truncated. The same request may succeed.
    Truncated(Box<dyn Error + Send + Sync>),
    /// The body is not JSON or doesn't match its schema.
    Malformed(String),
    /// The body has more elements than this limit allows.
    TooMany(usize),
    /// The `schemaVersion` is not the expected version.
    Schema {
        /// The version in the contract.
        expected: &'static str,
        /// The version in the response, if it has one.
        found: Option<String>,
        /// The reason why the rest doesn't decode, if it doesn't.
        detail: Option<String>,
    },
}

/// Decodes a response. `redact` is applied to every string of the response that appears in errors and events. The
/// returned flag is true if the response differs from its schema and the rules tolerated the difference.
pub(crate) fn receive<T: FromResponse>(
    head: ResponseHead<'_>,
    body: &Bytes,
    rules: DecodeRules,
    redact: Redact<'_>,
) -> Result<(T, bool), Unreadable> {
    let mismatch = Cell::new(false);
    let value = T::receive(&Received {
        head,
        body,
        rules,
        redact,
        mismatch: &mismatch,
    })?;
    Ok((value, mismatch.get()))
}

/// A 2xx response before decoding.
#[derive(Clone)]
pub struct Received<'a> {
    head: ResponseHead<'a>,
    body: &'a Bytes,
    rules: DecodeRules,
    redact: Redact<'a>,
    /// Whether the response differs from its schema in a way that the rules tolerate.
    mismatch: &'a Cell<bool>,
}

// Omits the body, which may be confidential.
debug_fields! { Received<'a> |it| status: it.head.status }

impl Received<'_> {
    /// The HTTP status.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.head.status
    }

    /// Decodes the JSON body and checks its schema version and constants.
    ///
    /// # Errors
    /// If the body doesn't match the type.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Unreadable> {
        let text = self.text()?;
        let fast = || fast::from_str::<T>(&text);
        let (value, seen) = if let (Some(value), seen) = decode_response(&text, fast) {
            (value, seen)
        } else {
            let slow = || decode_or_explain::<T>(&text, ValueDisplay::Quoted);
            let (decoded, seen) = decode_response(&text, slow);
            (
                decoded.map_err(|failure| self.unreadable(&text, failure))?,
                seen,
            )
        };
        if let Some(first) = seen.types {
            self.tolerate_types(first);
        }
        if let Some(expected) = self.rules.schema_version
            && let Err(found) = self.check_version(&text, expected)
        {
            self.other_version(expected, found)?;
        }
        if let Some(constant) = seen.constant {
            self.other_constant(&constant)?;
        }
        Ok(value)
    }

    /// Whether the contract documents the schema version.
    pub(super) fn has_schema_version(&self) -> bool {
        self.rules.schema_version.is_some()
    }

    /// Decodes a response whose status, and therefore schema, is undocumented.
    ///
    /// # Errors
    /// If the body is not JSON.
    pub fn undocumented(&self) -> Result<RawJson, Unreadable> {
        let mut reply = self.clone();
        reply.rules.schema_version = None;
        RawJson::receive(&reply)
    }

    /// The body as a string, if it doesn't have too many elements to decode.
    fn text(&self) -> Result<ByteString, Unreadable> {
        let text = ByteString::try_from(self.body.clone());
        let text = text.map_err(|error| match error.error_len() {
            // The body ends within a character.
            None => Unreadable::Truncated(error.into()),
            Some(_) => Unreadable::Malformed(format!("the body is not UTF-8: {error}")),
        })?;
        if has_more_elements(&text, self.rules.max_elements) {
            return Err(Unreadable::TooMany(self.rules.max_elements));
        }
        Ok(text)
    }

    fn tolerate_types(&self, first: TypeMismatch) {
        self.mismatch.set(true);
        tracing::warn!(
            name: "suite.response.types",
            object = first.object,
            field = first.field,
            count = first.count,
            "fields do not match their assumed type, or exceed it, and are preserved in `extra`"
        );
    }

    /// Compares the `schemaVersion` with the expected version. The error is the version found, if any.
    fn check_version(&self, text: &str, expected: &str) -> Result<(), Option<String>> {
        let raw = values(text, "schemaVersion").next().ok_or(None)?;
        if serde_json::from_str::<&str>(raw).is_ok_and(|it| it == expected) {
            return Ok(());
        }
        let version: Option<String> = serde_json::from_str(raw).ok();
        if version.as_deref() == Some(expected) {
            return Ok(());
        }
        Err(Some((self.redact)(version.as_deref().unwrap_or(raw))))
    }

    fn other_version(
        &self,
        expected: &'static str,
        found: Option<String>,
    ) -> Result<(), Unreadable> {
        if !self.rules.lenient {
            return Err(Unreadable::Schema {
                expected,
                found,
                detail: None,
            });
        }
        self.mismatch.set(true);
        tracing::warn!(
            name: "suite.response.schema_version",
            expected,
            found,
            "the response has an unexpected schema version"
        );
        Ok(())
    }

    /// Handles an unexpected constant. Constants identify a response, so another value means another kind of response.
    fn other_constant(&self, mismatch: &ConstantMismatch) -> Result<(), Unreadable> {
        let ConstantMismatch {
            object,
            field,
            expected,
            found,
        } = mismatch;
        let found = (self.redact)(found);
        if !self.rules.lenient {
            return Err(Unreadable::Malformed(format!(
                "at `{field}`: expected the constant {expected}, found {found}"
            )));
        }
        self.mismatch.set(true);
        tracing::warn!(
            name: "suite.response.constant",
            object,
            field,
            expected,
            found,
            "a constant has an unexpected value"
        );
        Ok(())
    }

    fn unreadable(&self, text: &str, failure: DecodeFailure) -> Unreadable {
        if text.trim().is_empty() {
            return Unreadable::Malformed("the body is empty".to_owned());
        }
        if failure.error.is_eof() {
            return Unreadable::Truncated(failure.error.into());
        }
        let detail = failure.why;
        let is_object = text.trim_ascii_start().starts_with('{');
        // The version counts only if the entire body is JSON, because the field may precede the syntax error.
        let is_json = || serde_json::from_str::<IgnoredAny>(text).is_ok();
        if let Some(expected) = self.rules.schema_version
            && is_object
            && is_json()
            && let Err(found) = self.check_version(text, expected)
        {
            return Unreadable::Schema {
                expected,
                found,
                detail: Some(detail),
            };
        }
        Unreadable::Malformed(detail)
    }

    /// Rejects JSON with an undocumented status if another media type was requested. Such a response isn't the result.
    fn reject_unexpected_json(&self) -> Result<(), Unreadable> {
        let asked = self.rules.accept.is_none_or(is_json);
        if !asked && self.is_json() && !self.rules.statuses.contains(&self.status()) {
            let message = "it is JSON with a status that the contract does not document";
            return Err(Unreadable::Malformed(message.to_owned()));
        }
        Ok(())
    }

    fn is_json(&self) -> bool {
        self.head.media_type.is_some_and(is_json)
    }

    /// Whether the operation's documented success is something other than JSON, or an empty body.
    fn may_lack_json(&self) -> bool {
        let succeeds = |status: &&u16| (200..300).contains(*status);
        let mut successes = self.rules.statuses.iter().filter(succeeds).peekable();
        let is_empty = successes.peek().is_some() && successes.all(|it| matches!(it, 204 | 205));
        (is_empty || self.rules.accept.is_some()) && self.rules.schema_version.is_none()
    }
}

fn is_json(media_types: &str) -> bool {
    media_types.to_ascii_lowercase().contains("json")
}
