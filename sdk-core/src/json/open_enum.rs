/// Declares an enumeration of the documented values that also keeps any other value. Used by generated code.
///
/// It begins with `closed` if the contract shows all values, so that an unknown one is refused when it is sent, or with
/// `open`.
#[doc(hidden)]
#[macro_export]
macro_rules! open_enum {
    ($set:ident
        $(#[$meta:meta])*
        pub enum $name:ident {
            $( $(#[$variant_meta:meta])* $variant:ident = $text:literal ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum $name {
            $( $(#[$variant_meta])* $variant, )*
            /// A value that this version of the SDK does not know. A later version may know it, so compare it with
            /// `as_str()`, which stays the same.
            Unknown(::std::string::String),
        }

        impl $name {
            /// The documented values, as on the wire.
            pub const KNOWN: &'static [&'static str] = &[$( $text ),*];

            /// The value as on the wire.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $( Self::$variant => $text, )*
                    Self::Unknown(text) => text,
                }
            }

            fn known(text: &str) -> ::std::option::Option<Self> {
                match text {
                    $( $text => ::std::option::Option::Some(Self::$variant), )*
                    _ => ::std::option::Option::None,
                }
            }
        }

        impl $crate::codegen::OpenEnum for $name {
            const CLOSED: bool = $crate::open_enum!(@closed $set);
            const KNOWN: &'static [&'static str] = Self::KNOWN;

            fn unknown(&self) -> ::std::option::Option<&str> {
                match self {
                    Self::Unknown(text) => ::std::option::Option::Some(text),
                    _ => ::std::option::Option::None,
                }
            }
        }

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

    (@closed closed) => { true };
    (@closed open) => { false };
}

#[cfg(test)]
#[allow(unreachable_pub)] // the macro is for public types
mod tests {
    crate::open_enum! { closed
        /// Colours.
        pub enum Colour {
            /// Red.
            Red = "red",
            /// A name that traits have too.
            Err = "err",
        }
    }

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
