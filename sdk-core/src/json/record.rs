use serde::de::{DeserializeOwned, Error as _, Unexpected};
use serde::{Deserialize, Deserializer, Serialize};

use crate::error::Error;
use crate::json::explain::{ValueDisplay, reason};
use crate::json::fast::RAW_JSON;
use crate::json::fast::scanner::{is_too_deep, values};
use crate::json::members::Members;
use crate::json::raw::{AsWritten, RawJson, view_text};
use crate::json::text::impl_text;

/// An object whose fields the contract doesn't document, such as a person, an opportunity or a task.
///
/// It is preserved as received, as a slice of its response, and decoded on demand.
/// [The guide](crate::guide::records) has examples.
///
/// # Ways to read it
/// - To read a few fields, use [`get`](Self::get), or [`text`](Self::text) if a value that isn't a string counts as
///   absent.
/// - To read the entire record into your own type, use [`decode`](Self::decode). For lists,
///   [`Pages::decode`](crate::Pages::decode) and [`Items::decode`](crate::Items::decode) do this in the same pass as
///   the page, and don't copy fields of type [`Text`](crate::Text).
/// - To read many records and drop them soon, use [`view`](Self::view), or [`Page::view`](crate::Page::view) for an
///   entire page. Your type then borrows its strings.
/// - To read fields that your type doesn't have, use [`members`](Self::members), or [`raw`](Self::raw) for the JSON.
///
/// Errors name the path of a mismatch and never quote its value. Only if a page is decoded in one pass, the error
/// quotes a short number, and the message of your own type.
///
/// ```
/// use sdk_core::Record;
///
/// #[derive(serde::Deserialize)]
/// #[serde(rename_all = "camelCase")]
/// struct Person { public_reference: String, display_name: String }
///
/// let record: Record = r#"{"publicReference": "PER-0A1B2C3D4E5F", "displayName": "Ann"}"#.parse()?;
/// assert_eq!(record.get::<String>("displayName")?.as_deref(), Some("Ann"));
/// assert_eq!(record.text("displayName").as_deref(), Some("Ann"));
/// let person: Person = record.decode()?;
/// assert_eq!(person.display_name, "Ann");
///
/// #[derive(serde::Deserialize)]
/// struct Name<'a> { #[serde(rename = "displayName")] text: &'a str }
///
/// assert_eq!(record.view::<Name<'_>>()?.text, "Ann");
/// # Ok::<(), sdk_core::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Record(RawJson);

impl Record {
    /// Decodes a field, which may be borrowed (`get::<&str>`). `None` if the field is absent or null.
    ///
    /// # Errors
    /// If the field doesn't match the type, or the record is not an object.
    pub fn get<'a, T: Deserialize<'a>>(&'a self, name: &str) -> Result<Option<T>, Error> {
        match self.member(name) {
            None if !self.is_object() => Err(Error::value(format!(
                "field `{name}`: expected an object, found {}",
                ValueDisplay::Named.show(self.as_str())
            ))),
            Some(value) if value != "null" => view_text(value).map(Some).map_err(|error| {
                Error::value(format!("field `{name}`: {error}")).with_cause(error)
            }),
            _ => Ok(None),
        }
    }

    /// The string in a field. `None` if the field is absent or not a string.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<String> {
        self.get(name).ok().flatten()
    }

    /// The JSON of a field as received. `None` if the field is absent or the record is not an object.
    #[must_use]
    pub fn raw_member(&self, name: &str) -> Option<RawJson> {
        self.member(name).map(RawJson::received)
    }

    fn member(&self, name: &str) -> Option<&str> {
        values(self.as_str(), name).next()
    }

    /// Decodes the entire record into your own type.
    ///
    /// # Errors
    /// As [`RawJson::decode`].
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, Error> {
        self.0.decode()
    }

    /// Decodes the entire record into your own type, which may borrow from the record.
    ///
    /// # Errors
    /// As [`RawJson::view`].
    pub fn view<'a, T: Deserialize<'a>>(&'a self) -> Result<T, Error> {
        self.0.view()
    }

    /// Returns all fields in order.
    ///
    /// # Errors
    /// If the record is not an object.
    pub fn members(&self) -> Result<Members, Error> {
        self.0.decode()
    }

    fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Whether the record is an object. Received records always are. Records converted from other JSON might not be.
    fn is_object(&self) -> bool {
        self.as_str().starts_with('{')
    }

    /// The JSON as received.
    #[must_use]
    pub fn raw(&self) -> &RawJson {
        &self.0
    }

    /// The JSON as received.
    #[must_use]
    pub fn into_raw(self) -> RawJson {
        self.0
    }

    /// Copies the record, so that it no longer shares memory with its page.
    ///
    /// The records of a page are slices of the page's body. Each of them prevents the body's buffer from being freed,
    /// which may be a few times larger than the body. Call this for the few records that outlive many pages. Records of
    /// responses below 4 KiB are always copied.
    #[must_use]
    pub fn detached(self) -> Self {
        Self(self.0.detached())
    }
}

impl From<Record> for RawJson {
    fn from(record: Record) -> Self {
        record.into_raw()
    }
}

impl From<RawJson> for Record {
    fn from(raw: RawJson) -> Self {
        Self(raw)
    }
}

impl From<serde_json::Value> for Record {
    fn from(value: serde_json::Value) -> Self {
        Self(value.into())
    }
}

impl std::str::FromStr for Record {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        text.parse().map(Self)
    }
}

impl_text!(Record: BareDebug Display);

impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let as_written = AsWritten { may_slice: true };
        let record = deserializer.deserialize_newtype_struct(RAW_JSON, as_written);
        let record = record.map(Self)?;
        if record.is_object() {
            Ok(record)
        } else {
            Err(D::Error::invalid_type(
                Unexpected::Other("another value"),
                &"an object",
            ))
        }
    }
}

/// Reads an object of a union, and the string in the field that selects its variant. Used by generated code.
///
/// # Errors
/// If the value is not an object, or has that field twice. With two such fields, another reader could select another
/// variant.
pub fn tagged_object<'de, D: Deserializer<'de>>(
    deserializer: D,
    tag: &'static str,
) -> Result<(Record, Option<String>), D::Error> {
    let object = Record::deserialize(deserializer)?;
    let (text, is_twice) = {
        let mut tags = values(object.as_str(), tag);
        let text = tags.next().and_then(|it| serde_json::from_str(it).ok());
        (text, tags.next().is_some())
    };
    if is_twice {
        return Err(D::Error::duplicate_field(tag));
    }
    Ok((object, text))
}

/// Decodes an object of a union as one of its variants. Used by generated code.
///
/// The variant is decoded only once, without the fast decoder, because it may contain further unions. Trying the fast
/// decoder first would double the time of a failure at each level.
///
/// # Errors
/// If the object doesn't match the variant.
pub fn decode_variant<T: DeserializeOwned, E: serde::de::Error>(object: &Record) -> Result<T, E> {
    if is_too_deep(object.as_str()) {
        return Err(E::custom("recursion limit exceeded"));
    }
    serde_json::from_str(object.as_str()).map_err(|error| {
        let expected = format!("a valid variant ({})", reason(&error.to_string()));
        E::invalid_value(Unexpected::Map, &expected.as_str())
    })
}

/// A request body whose schema the contract doesn't document.
///
/// It converts from JSON types, but not from strings, which would be sent as JSON strings. Parse a string that
/// contains JSON (`string.parse::<RawJson>()?`), and encode your own types with [`RawJson::encode`].
///
/// ```compile_fail,E0277
/// # fn submit(_: impl Into<sdk_core::JsonBody>) {}
/// submit(r#"{"type": "person.create"}"#);
/// ```
#[derive(Clone, Debug)]
pub struct JsonBody(RawJson);

impl JsonBody {
    pub(crate) fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl From<RawJson> for JsonBody {
    fn from(json: RawJson) -> Self {
        Self(json)
    }
}

impl From<Record> for JsonBody {
    fn from(json: Record) -> Self {
        Self(json.into_raw())
    }
}

impl From<serde_json::Value> for JsonBody {
    fn from(json: serde_json::Value) -> Self {
        Self(json.into())
    }
}

impl From<&RawJson> for JsonBody {
    fn from(json: &RawJson) -> Self {
        Self(json.clone())
    }
}

impl From<&serde_json::Value> for JsonBody {
    fn from(json: &serde_json::Value) -> Self {
        json.clone().into()
    }
}
