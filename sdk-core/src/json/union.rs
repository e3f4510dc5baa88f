//! Unions of objects that a member tells apart.

use std::borrow::Cow;

use serde::de::{DeserializeOwned, Error};

use crate::json::explain::decode_within;
use crate::json::fast::scanner::is_too_deep;
use crate::json::record::Record;

/// The text of the member that tells which variant an object is. The first one of the name counts.
#[must_use]
pub fn tag<'a>(object: &'a Record, name: &str) -> Option<Cow<'a, str>> {
    let quoted = object.member(name)?;
    let text = quoted.strip_prefix('"')?.strip_suffix('"')?;
    if text.contains('\\') {
        return serde_json::from_str(quoted).ok().map(Cow::Owned);
    }
    Some(Cow::Borrowed(text))
}

/// The [`tag`] of an object that is being read.
///
/// # Errors
/// If it has two, of which everyone could take another one.
pub fn one_tag<'a, E: Error>(
    object: &'a Record,
    name: &'static str,
) -> Result<Option<Cow<'a, str>>, E> {
    if object.has_twice(name) {
        return Err(E::duplicate_field(name));
    }
    Ok(tag(object, name))
}

/// Decodes an object whose variant is known.
///
/// # Errors
/// If it does not fit the type of the variant.
pub fn variant<T: DeserializeOwned, E: Error>(object: &Record) -> Result<T, E> {
    let text = object.raw().as_str();
    if is_too_deep(text) {
        return Err(E::custom("recursion limit exceeded"));
    }
    decode_within(text).map_err(E::custom)
}

/// Declares a union of objects, told apart by a member. Used by generated code.
///
/// Each variant has its type, which may be boxed, and its tag, or several (`"email" | "letter"`). The types hold the tag
/// themselves, so that a union writes no member of its own. With `inputs` in front, it is checked before it is sent.
#[doc(hidden)]
#[macro_export]
macro_rules! open_union {
    (
        inputs
        $(#[$meta:meta])*
        pub enum $name:ident by $tag:literal {
            $( $(#[$variant_meta:meta])* $variant:ident($body:ty) = $($text:literal)|+ ),* $(,)?
        }
    ) => {
        $crate::open_union! {
            $(#[$meta])*
            pub enum $name by $tag { $( $(#[$variant_meta])* $variant($body) = $($text)|+ ),* }
        }

        impl $crate::codegen::Validate for $name {
            fn validate(
                &self,
                check: &$crate::codegen::Check<'_>,
            ) -> ::std::result::Result<(), $crate::Error> {
                match self {
                    $( Self::$variant(body) => $crate::codegen::Validate::validate(body, check), )*
                    Self::Unknown(_) => ::std::result::Result::Ok(()),
                }
            }
        }
    };

    (
        $(#[$meta:meta])*
        pub enum $name:ident by $tag:literal {
            $( $(#[$variant_meta:meta])* $variant:ident($body:ty) = $($text:literal)|+ ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum $name {
            $( $(#[$variant_meta])* $variant($body), )*
            /// An object that this version of the SDK does not know, kept and written back unchanged.
            Unknown($crate::RawJson),
        }

        impl $name {
            /// The documented tags.
            pub const KNOWN: &'static [&'static str] = &[$( $($text),+ ),*];

            #[doc = concat!("The tag, which is the member `", $tag, "`; `None` if it is missing or not a string.")]
            #[must_use]
            pub fn tag(&self) -> ::std::option::Option<::std::string::String> {
                let object = $crate::Record::from($crate::RawJson::encode(self).ok()?);
                $crate::codegen::tag(&object, $tag).map(::std::borrow::Cow::into_owned)
            }
        }

        $(
            impl ::std::convert::From<$body> for $name {
                fn from(body: $body) -> Self {
                    Self::$variant(body)
                }
            }
        )*

        impl $crate::codegen::serde::Serialize for $name {
            fn serialize<S: $crate::codegen::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::std::result::Result<S::Ok, S::Error> {
                match self {
                    $( Self::$variant(body) => $crate::codegen::serde::Serialize::serialize(body, serializer), )*
                    Self::Unknown(body) => $crate::codegen::serde::Serialize::serialize(body, serializer),
                }
            }
        }

        impl<'de> $crate::codegen::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::codegen::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::std::result::Result<Self, D::Error> {
                let object = <$crate::Record as $crate::codegen::serde::Deserialize>::deserialize(deserializer)?;
                let known = match $crate::codegen::one_tag::<D::Error>(&object, $tag)?.as_deref() {
                    $(
                        ::std::option::Option::Some($($text)|+) =>
                            ::std::option::Option::Some($crate::codegen::variant(&object).map(Self::$variant)),
                    )*
                    _ => ::std::option::Option::None,
                };
                known.unwrap_or_else(|| ::std::result::Result::Ok(Self::Unknown(object.into_raw())))
            }
        }
    };
}
