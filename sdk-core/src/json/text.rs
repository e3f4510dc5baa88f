//! Types that are a string in JSON. [`Text`] shares the memory of its response. `impl_text!` implements the traits that
//! all these types have in common.

use std::borrow::Borrow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use bytestring::ByteString;
use serde::de::{self, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

use crate::json::decode_context::slice_or_copy;
use crate::json::fast::BORROWED_STR;

/// A string that shares the memory of its response, so that a field of your own type needs no allocation.
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
/// The memory of a response is freed only after its last `Text` is dropped. To store a few strings of many responses,
/// use [`detached`](Self::detached) or convert them into `String`s. Some strings are always copied: strings with
/// escapes, strings of responses below 4 KiB, strings within `serde`'s `flatten` and `untagged`, and strings that are
/// decoded from a `Record` or from anything other than a response.
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Text(ByteString);

impl Text {
    /// The string.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Copies the string, so that it no longer shares memory with its response.
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

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl_text!(Text: AsRef Display EqText Serialize);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        sliced(deserializer, "a string", |_| true)
    }
}

/// Decodes a string that may become a slice of the response. Fails if `accepts` rejects it.
pub(super) fn sliced<'de, D: Deserializer<'de>>(
    deserializer: D,
    expected: &'static str,
    accepts: fn(&str) -> bool,
) -> Result<Text, D::Error> {
    deserializer.deserialize_newtype_struct(BORROWED_STR, Sliced { expected, accepts })
}

struct Sliced {
    expected: &'static str,
    accepts: fn(&str) -> bool,
}

impl Sliced {
    fn check<E: de::Error>(&self, text: &str) -> Result<(), E> {
        let invalid = || E::invalid_value(Unexpected::Str(text), self);
        (self.accepts)(text).then_some(()).ok_or_else(invalid)
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

/// Decodes a JSON string into a type that accepts any string.
#[doc(hidden)]
pub fn text<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: for<'a> From<&'a str> + From<String>,
    D: Deserializer<'de>,
{
    struct AnyText<T>(PhantomData<T>);

    impl<T: for<'a> From<&'a str> + From<String>> Visitor<'_> for AnyText<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string")
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
            Ok(T::from(text))
        }

        fn visit_string<E: de::Error>(self, text: String) -> Result<T, E> {
            Ok(T::from(text))
        }
    }

    deserializer.deserialize_str(AnyText(PhantomData))
}

/// Implements the named traits for a type through its `as_str`. Used by the macros that declare such types.
#[doc(hidden)]
#[macro_export]
macro_rules! impl_text {
    ($name:ident: $($what:ident)*) => { $( $crate::impl_text!(@$what $name); )* };

    // A type with `known` and a variant `Unknown`, which accepts any string.
    (@OpenEnum $name:ident) => {
        impl ::std::convert::From<&str> for $name {
            fn from(text: &str) -> Self {
                Self::known(text).unwrap_or_else(|| Self::Unknown(text.to_owned()))
            }
        }

        impl ::std::convert::From<::std::string::String> for $name {
            fn from(text: ::std::string::String) -> Self {
                Self::known(&text).unwrap_or(Self::Unknown(text))
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = ::std::convert::Infallible;

            fn from_str(text: &str) -> ::std::result::Result<Self, ::std::convert::Infallible> {
                ::std::result::Result::Ok(Self::from(text))
            }
        }

        $crate::impl_text!($name: Display FromString Serialize Deserialize);
    };

    // A newtype around a string, with `PATTERN` and `is_well_formed`. A converted string is checked when it is sent.
    (@Reference $name:ident) => {
        impl ::std::str::FromStr for $name {
            type Err = $crate::Error;

            /// Parses strictly. The error names the pattern.
            fn from_str(text: &str) -> ::std::result::Result<Self, $crate::Error> {
                let parsed = Self(text.to_owned());
                if parsed.is_well_formed() {
                    ::std::result::Result::Ok(parsed)
                } else {
                    ::std::result::Result::Err($crate::codegen::bad_reference(stringify!($name), Self::PATTERN, text))
                }
            }
        }

        $crate::impl_text!($name: AsRef Debug Display EqText FromReference FromString FromText Serialize Deserialize);
    };

    (@AsRef $name:ident) => {
        impl ::std::convert::AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                self.as_str()
            }
        }
    };

    (@Display $name:ident) => {
        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };

    (@Debug $name:ident) => {
        impl ::std::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.debug_tuple(stringify!($name)).field(&self.as_str()).finish()
            }
        }
    };

    (@BareDebug $name:ident) => {
        impl ::std::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };

    (@EqText $name:ident) => {
        impl ::std::cmp::PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                self.as_str() == other
            }
        }

        impl ::std::cmp::PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                self.as_str() == *other
            }
        }
    };

    (@FromReference $name:ident) => {
        impl ::std::convert::From<&$name> for $name {
            fn from(value: &$name) -> Self {
                value.clone()
            }
        }
    };

    (@FromString $name:ident) => {
        impl ::std::convert::From<&::std::string::String> for $name {
            fn from(text: &::std::string::String) -> Self {
                Self::from(text.as_str())
            }
        }
    };

    // A newtype around a string that is checked when it is sent.
    (@FromText $name:ident) => {
        impl ::std::convert::From<&str> for $name {
            /// Accepts any string, which is checked when it is sent.
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl ::std::convert::From<::std::string::String> for $name {
            /// Accepts any string, which is checked when it is sent.
            fn from(text: ::std::string::String) -> Self {
                Self(text.into())
            }
        }
    };

    (@Serialize $name:ident) => {
        impl $crate::codegen::serde::Serialize for $name {
            fn serialize<S: $crate::codegen::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::std::result::Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };

    (@Deserialize $name:ident) => {
        impl<'de> $crate::codegen::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::codegen::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::std::result::Result<Self, D::Error> {
                $crate::codegen::text(deserializer)
            }
        }
    };
}

pub(crate) use impl_text;

#[cfg(test)]
mod tests {
    #[derive(Clone, Debug, PartialEq)]
    enum Color {
        Red,
        /// A variant named like an associated type of a trait.
        Err,
        Unknown(String),
    }

    impl Color {
        fn as_str(&self) -> &str {
            match self {
                Self::Red => "red",
                Self::Err => "err",
                Self::Unknown(text) => text,
            }
        }

        fn known(text: &str) -> Option<Self> {
            match text {
                "red" => Some(Self::Red),
                "err" => Some(Self::Err),
                _ => None,
            }
        }
    }

    impl_text!(Color: OpenEnum);

    #[test]
    fn known_values_are_recognized_and_unknown_values_preserved() {
        let decoded: Vec<Color> = serde_json::from_str(r#"["red","bl\u0075e"]"#).unwrap();
        assert_eq!(decoded, [Color::Red, Color::Unknown("blue".into())]);
        assert_eq!(
            serde_json::to_string(&decoded).unwrap(),
            r#"["red","blue"]"#
        );
    }
}
