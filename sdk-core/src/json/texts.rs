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

    // A type with `known` and a variant `Unknown`, which takes any text.
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

        $crate::text_impls!($name: Display FromString Serialize Deserialize);
    };

    // A type around a text, with `PATTERN` and `is_well_formed`. A text that it is made of is checked when it is sent.
    (@Reference $name:ident) => {
        impl ::std::str::FromStr for $name {
            type Err = $crate::Error;

            /// Parses strictly; the error names the form.
            fn from_str(text: &str) -> ::std::result::Result<Self, $crate::Error> {
                let parsed = Self(text.to_owned());
                if parsed.is_well_formed() {
                    ::std::result::Result::Ok(parsed)
                } else {
                    ::std::result::Result::Err($crate::codegen::bad_reference(stringify!($name), Self::PATTERN, text))
                }
            }
        }

        impl ::std::convert::From<&str> for $name {
            /// Takes any text, which is checked when it is sent.
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }

        impl ::std::convert::From<::std::string::String> for $name {
            /// Takes any text, which is checked when it is sent.
            fn from(text: ::std::string::String) -> Self {
                Self(text)
            }
        }

        impl ::std::cmp::PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                self.0 == other
            }
        }

        impl ::std::cmp::PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                self.0 == *other
            }
        }

        $crate::text_impls!($name: AsRef Debug Display FromReference FromString Serialize Deserialize);
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

#[cfg(test)]
mod tests {
    /// As the generator writes one.
    #[derive(Clone, Debug, PartialEq)]
    enum Colour {
        Red,
        /// A name that traits have too.
        Err,
        Unknown(String),
    }

    impl Colour {
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

    text_impls!(Colour: OpenEnum);

    #[test]
    fn unknown_values_survive_and_known_ones_are_recognised() {
        let decoded: Vec<Colour> = serde_json::from_str(r#"["red","bl\u0075e"]"#).unwrap();
        assert_eq!(decoded, [Colour::Red, Colour::Unknown("blue".into())]);
        assert_eq!(
            serde_json::to_string(&decoded).unwrap(),
            r#"["red","blue"]"#
        );
    }
}
