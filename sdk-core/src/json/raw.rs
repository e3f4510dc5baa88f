use std::fmt;
use std::str::FromStr;

use bytestring::ByteString;
use serde::de::{DeserializeOwned, Visitor};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use crate::error::Error;
use crate::json::decode_context::{is_handed_over_raw, slice_or_copy};
use crate::json::explain::{ValueDisplay, decode_or_explain};
use crate::json::fast::{self, RAW_JSON};
use crate::json::text::impl_text;

/// A JSON value, preserved exactly as received or as it will be sent.
///
/// It is used where the contract doesn't document a schema. Digits, field order and spacing are preserved, so an amount
/// of any size or a number such as `1.10` stays unchanged.
///
/// ```
/// use sdk_core::RawJson;
///
/// let minor_units: RawJson = "123456789012345678901234567890".parse()?;
/// assert_eq!(minor_units.as_str(), "123456789012345678901234567890");
///
/// let from_value = RawJson::from(serde_json::json!({"rule": "weekly"}));
/// assert_eq!(from_value.decode::<serde_json::Value>()?["rule"], "weekly");
/// # Ok::<(), sdk_core::Error>(())
/// ```
#[derive(Clone)]
pub struct RawJson(Text);

#[derive(Clone)]
enum Text {
    Own(Box<RawValue>),
    /// Received JSON, which may be a slice of the response. It was already validated, because it was decoded.
    Received(ByteString),
}

impl RawJson {
    /// Encodes any value that implements `Serialize`.
    ///
    /// # Errors
    /// If the value cannot be represented as JSON, such as a map whose keys are not strings.
    pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Self, Error> {
        to_raw_value(value).map(Self::own).map_err(|error| {
            Error::value(format!("cannot write the value as JSON: {error}")).with_cause(error)
        })
    }

    fn own(value: Box<RawValue>) -> Self {
        Self(Text::Own(value))
    }

    /// Copies a string that is known to be JSON.
    pub(super) fn received(text: &str) -> Self {
        Self(Text::Received(text.into()))
    }

    /// Copies the value, so that it no longer shares memory with its response. See
    /// [`Record::detached`](crate::Record::detached).
    #[must_use]
    pub fn detached(self) -> Self {
        match self.0 {
            Text::Own(_) => self,
            Text::Received(text) => Self::received(&text),
        }
    }

    /// The JSON `null`.
    #[must_use]
    pub fn null() -> Self {
        Self::own(RawValue::NULL.to_owned())
    }

    /// The JSON as a string.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Text::Own(value) => value.get(),
            Text::Received(text) => text,
        }
    }

    /// Whether this is the JSON `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.as_str() == "null"
    }

    /// Decodes the value into your own type. [`Record`](crate::Record#ways-to-read-it) compares the ways to read.
    ///
    /// # Errors
    /// If the value doesn't match the type. The error names the path and the kind of the value found there. It never
    /// quotes the value, which may be confidential.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, Error> {
        self.view()
    }

    /// Decodes the value into your own type, which may borrow from it.
    ///
    /// # Errors
    /// As [`decode`](Self::decode), or if a borrowed string contains escapes. Use a `Cow<str>` for such strings.
    pub fn view<'a, T: Deserialize<'a>>(&'a self) -> Result<T, Error> {
        view_text(self.as_str())
    }

    /// Decodes as [`decode`](Self::decode), without explaining a failure.
    pub(crate) fn decode_silently<T: DeserializeOwned>(&self) -> Option<T> {
        fast::from_str(self.as_str()).or_else(|| serde_json::from_str(self.as_str()).ok())
    }

    /// Converts into a [`serde_json::Value`], in which numbers beyond 64 bits lose digits.
    ///
    /// # Errors
    /// If the value is nested deeper than the 128 levels that `serde_json` accepts.
    pub fn to_value(&self) -> Result<serde_json::Value, Error> {
        self.decode()
    }
}

/// Decodes JSON, or returns an error with the path of the mismatch.
pub(super) fn view_text<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, Error> {
    let slow = || {
        decode_or_explain(text, ValueDisplay::Named).map_err(|failure| Error::value(failure.why))
    };
    fast::from_str(text).map_or_else(slow, Ok)
}

impl From<serde_json::Value> for RawJson {
    fn from(value: serde_json::Value) -> Self {
        // Serializing a `Value` cannot fail, because its keys are strings and its numbers finite.
        Self::own(to_raw_value(&value).unwrap_or_else(|_| RawValue::NULL.to_owned()))
    }
}

macro_rules! from_scalars {
    ($($scalar:ty)*) => {$(
        impl From<$scalar> for RawJson {
            /// A string becomes a JSON string. To parse a string that contains JSON, use [`str::parse`].
            fn from(value: $scalar) -> Self {
                // Every string, bool and integer has a JSON form.
                Self::encode(&value).unwrap_or_default()
            }
        }
    )*};
}

// Floats are missing on purpose, because an amount must preserve its digits.
from_scalars!(&str String bool i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);

impl FromStr for RawJson {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        RawValue::from_string(text.to_owned())
            .map(Self::own)
            .map_err(|error| Error::value(format!("not JSON: {error}")).with_cause(error))
    }
}

impl Default for RawJson {
    fn default() -> Self {
        Self::null()
    }
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for RawJson {}

impl_text!(RawJson: BareDebug Display);

impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Text::Own(value) => value.serialize(serializer),
            // `serde_json` writes only a `RawValue` unchanged, so the string is validated again.
            Text::Received(text) => serde_json::from_str::<&RawValue>(text)
                .map_err(S::Error::custom)?
                .serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(RAW_JSON, AsWritten { may_slice: false })
    }
}

/// Reads JSON without changing its notation.
pub(super) struct AsWritten {
    pub(super) may_slice: bool,
}

impl<'de> Visitor<'de> for AsWritten {
    type Value = RawJson;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any valid JSON value")
    }

    fn visit_borrowed_str<E: serde::de::Error>(self, text: &'de str) -> Result<RawJson, E> {
        // Another deserializer may pass any string. It becomes a JSON string.
        if !is_handed_over_raw(text) {
            return Ok(RawJson::from(text));
        }
        let text = if self.may_slice {
            slice_or_copy(text)
        } else {
            text.into()
        };
        Ok(RawJson(Text::Received(text)))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, other: D) -> Result<RawJson, D::Error> {
        Box::<RawValue>::deserialize(other).map(RawJson::own)
    }
}
