use std::fmt;
use std::str::FromStr;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use crate::error::Error;
use crate::json::explain::{Found, explain};

/// One JSON value exactly as it was received, or as it will be sent.
///
/// It stands where the contract does not show a shape. Digits, member order and spacing are kept, so an amount
/// of any size or a number such as `1.10` survives unchanged.
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
pub struct RawJson(Box<RawValue>);

impl RawJson {
    /// Encodes any serialisable value.
    ///
    /// # Errors
    /// When the value cannot be written as JSON (a map with keys that are not text, for one).
    pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Self, Error> {
        to_raw_value(value).map(Self).map_err(|error| {
            Error::value(format!("the value cannot be written as JSON: {error}")).with_cause(error)
        })
    }

    /// A value that lies in a text.
    pub(crate) fn of(value: &RawValue) -> Self {
        Self(value.to_owned())
    }

    /// The JSON `null`.
    #[must_use]
    pub fn null() -> Self {
        Self(RawValue::NULL.to_owned())
    }

    /// The JSON text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// Whether this is the JSON `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.as_str() == "null"
    }

    /// Decodes into a type of the caller's. What to use when is said at [`Record`](crate::Record#ways-to-read-it).
    ///
    /// # Errors
    /// When the value has another shape; the error names the path of the member that did not fit, and what kind of value
    /// stood there. It quotes none: nothing here knows which are confidential.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, Error> {
        self.view()
    }

    /// Decodes into a type of the caller's that may borrow from this text.
    ///
    /// # Errors
    /// As [`decode`](Self::decode); and when a text that is to be borrowed has escapes in it, which only a
    /// `Cow<str>` can hold.
    pub fn view<'a, T: Deserialize<'a>>(&'a self) -> Result<T, Error> {
        view_text(self.as_str())
    }

    /// [`decode`](Self::decode) without an explanation of what failed.
    pub(crate) fn decode_silently<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_str(self.as_str()).ok()
    }

    /// The value as a [`serde_json::Value`], whose numbers beyond 64 bits lose digits.
    ///
    /// # Errors
    /// When the text nests deeper than `serde_json` accepts (128 levels).
    pub fn to_value(&self) -> Result<serde_json::Value, Error> {
        self.decode()
    }
}

/// Decodes in one pass, and only on failure once more to find the path.
pub(super) fn view_text<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, Error> {
    serde_json::from_str(text)
        .map_err(|first| Error::value(explain::<T>(text, &first, Found::Named)))
}

impl From<serde_json::Value> for RawJson {
    fn from(value: serde_json::Value) -> Self {
        // A `Value` holds nothing that cannot be written: its keys are text and its numbers finite.
        Self(to_raw_value(&value).unwrap_or_else(|_| RawValue::NULL.to_owned()))
    }
}

impl From<&str> for RawJson {
    /// A JSON string with this text. To parse JSON text, use [`str::parse`].
    fn from(text: &str) -> Self {
        serde_json::Value::from(text).into()
    }
}

impl From<String> for RawJson {
    /// A JSON string with this text. To parse JSON text, use [`str::parse`].
    fn from(text: String) -> Self {
        serde_json::Value::from(text).into()
    }
}

/// Every integer, to the last digit. There is none for floating point: an amount never goes through it.
macro_rules! from_integers {
    ($($integer:ty)*) => {$(
        impl From<$integer> for RawJson {
            fn from(number: $integer) -> Self {
                // Digits with a sign are JSON.
                number.to_string().parse().unwrap_or_default()
            }
        }
    )*};
}

from_integers!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);

impl From<bool> for RawJson {
    fn from(value: bool) -> Self {
        serde_json::Value::from(value).into()
    }
}

impl FromStr for RawJson {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        RawValue::from_string(text.to_owned())
            .map(Self)
            .map_err(|error| Error::value(error.to_string()).with_cause(error))
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

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self)
    }
}
