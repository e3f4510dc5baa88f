//! What types that are one string on the wire have in common.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserializer, Visitor};

/// Decodes a JSON string into a type that takes any text.
#[doc(hidden)]
pub fn text<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: for<'a> From<&'a str> + From<String>,
    D: Deserializer<'de>,
{
    struct Text<T>(PhantomData<T>);

    impl<T: for<'a> From<&'a str> + From<String>> Visitor<'_> for Text<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string")
        }

        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
            Ok(T::from(text))
        }

        fn visit_string<E: serde::de::Error>(self, text: String) -> Result<T, E> {
            Ok(T::from(text))
        }
    }

    deserializer.deserialize_str(Text(PhantomData))
}

/// Implements the named traits for a type through its `as_str`. Used by the macros that declare such types.
#[doc(hidden)]
#[macro_export]
macro_rules! text_impls {
    ($name:ident: $($what:ident)*) => { $( $crate::text_impls!(@$what $name); )* };

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

pub(crate) use text_impls;
