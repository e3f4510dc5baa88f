//! Parts of a reply that keep its memory instead of copying from it.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;

use bytestring::ByteString;
use serde::de::{self, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

use crate::json::decode_context::slice_or_copy;
use crate::json::fast::BORROWED_STR;
use crate::json::texts::text_impls;

/// A text that shares the memory of the reply it came with: a member of your own type that costs no allocation.
///
/// ```
/// use sdk_core::{Items, Record, Text};
///
/// #[derive(serde::Deserialize)]
/// #[serde(rename_all = "camelCase")]
/// struct Person { public_reference: Text, display_name: Text }
///
/// # async fn example(people: Items<Record>) -> Result<(), sdk_core::Error> {
/// let mut people = people.decode::<Person>();
/// while let Some(person) = people.try_next().await? {
///     println!("{}: {}", person.public_reference, person.display_name);
/// }
/// # Ok(()) }
/// ```
///
/// The memory that a reply was read into stays as long as one text of it exists. To keep a few texts of many replies, take
/// [`detached`](Self::detached) ones or `String`s. Some texts are copies: those with escapes, of replies below 4 KiB, within
/// `serde`'s `flatten` and `untagged`, and those that are decoded from a `Record` or from anything but a reply.
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Text(ByteString);

impl Text {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The same text in memory of its own.
    #[must_use]
    pub fn detached(&self) -> Self {
        Self::from(self.as_str())
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl From<Text> for String {
    fn from(text: Text) -> Self {
        text.as_str().to_owned()
    }
}

impl Borrow<str> for Text {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

text_impls!(Text: AsRef Display Serialize);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        sliced(deserializer, "a string", |_| true)
    }
}

/// Decodes a string that may become a slice of the reply, if it fits.
pub(super) fn sliced<'de, D: Deserializer<'de>>(
    deserializer: D,
    expected: &'static str,
    fits: fn(&str) -> bool,
) -> Result<Text, D::Error> {
    deserializer.deserialize_newtype_struct(BORROWED_STR, Sliced { expected, fits })
}

struct Sliced {
    expected: &'static str,
    fits: fn(&str) -> bool,
}

impl Sliced {
    fn check<E: de::Error>(&self, text: &str) -> Result<(), E> {
        let misfit = || E::invalid_value(Unexpected::Str(text), self);
        (self.fits)(text).then_some(()).ok_or_else(misfit)
    }
}

impl<'de> Visitor<'de> for Sliced {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Text, E> {
        self.check(text)?;
        Ok(Text(slice_or_copy(text)))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Text, E> {
        self.check(text)?;
        Ok(Text::from(text))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, other: D) -> Result<Text, D::Error> {
        other.deserialize_str(self)
    }
}
