//! `json_object!`, and fields whose type is assumed because the contract doesn't document it. A value of another type
//! doesn't fail the response.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

use crate::json::decode_context::{ConstantMismatch, note_constant, note_type};
use crate::json::fast::scanner::is_too_deep;
use crate::json::members::Members;
use crate::json::raw::RawJson;

/// Implements `Serialize` and `Deserialize` for a struct with an `extra: Members` field. Used by generated code,
/// because `serde(flatten)` would lose digits.
///
/// Each field has a kind, which is a word, or the value of a required constant. `extra` preserves unknown fields, an
/// explicit `null` of an optional field, a value of another type in an `assumed` field, and an integer that is too
/// large for a `bounded` field. They are written back. The fields under `constants` have no Rust field: they are always
/// written, and ignored when read. A field that occurs twice is an error, because it's unclear which value counts.
#[doc(hidden)]
#[macro_export]
macro_rules! json_object {
    ($type:ident $(<$parameter:ident>)? {
        $( $field:ident : $kind:tt $name:literal ),* $(,)?
    } $( constants { $( $constant:literal = $value:literal ),* $(,)? } )?) => {
        const _: () = {
            use $crate::codegen::serde::{de, ser};

            // Unlike a variable, an item is visible in the other rules of this macro. No schema has names like these.
            #[allow(dead_code)]
            const __OBJECT: &str = stringify!($type);

            #[allow(non_camel_case_types)]
            enum __Key<'de> {
                $( $field, )*
                #[allow(dead_code)]
                Constant,
                Other(::std::borrow::Cow<'de, str>),
            }

            struct __KeyVisitor;

            impl __KeyVisitor {
                fn known<'de>(name: &str) -> ::std::option::Option<__Key<'de>> {
                    match name {
                        $( $name => ::std::option::Option::Some(__Key::$field), )*
                        $($( $constant => ::std::option::Option::Some(__Key::Constant), )*)?
                        _ => ::std::option::Option::None,
                    }
                }
            }

            impl<'de> de::Visitor<'de> for __KeyVisitor {
                type Value = __Key<'de>;

                fn expecting(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                    f.write_str("a field name")
                }

                fn visit_borrowed_str<E: de::Error>(self, name: &'de str) -> ::std::result::Result<__Key<'de>, E> {
                    ::std::result::Result::Ok(Self::known(name)
                        .unwrap_or(__Key::Other(::std::borrow::Cow::Borrowed(name))))
                }

                fn visit_str<E: de::Error>(self, name: &str) -> ::std::result::Result<__Key<'de>, E> {
                    ::std::result::Result::Ok(Self::known(name)
                        .unwrap_or_else(|| __Key::Other(::std::borrow::Cow::Owned(name.to_owned()))))
                }
            }

            impl<'de> de::Deserialize<'de> for __Key<'de> {
                fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> ::std::result::Result<Self, D::Error> {
                    deserializer.deserialize_identifier(__KeyVisitor)
                }
            }

            struct __ObjectVisitor $(<$parameter>)? (::std::marker::PhantomData<fn() -> $type $(<$parameter>)?>);

            impl<'de $(, $parameter: de::Deserialize<'de>)?> de::Visitor<'de> for __ObjectVisitor $(<$parameter>)? {
                type Value = $type $(<$parameter>)?;

                fn expecting(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                    f.write_str(concat!("an object (", stringify!($type), ")"))
                }

                fn visit_map<__A: de::MapAccess<'de>>(self, mut map: __A) -> ::std::result::Result<Self::Value, __A::Error> {
                    let mut extra = $crate::Members::new();
                    $( let mut $field = ::std::option::Option::None; )*
                    while let ::std::option::Option::Some(__key) = map.next_key::<__Key<'de>>()? {
                        match __key {
                            $( __Key::$field => {
                                if $field.is_some() {
                                    return ::std::result::Result::Err(<__A::Error as de::Error>::duplicate_field($name));
                                }
                                $field = ::std::option::Option::Some($crate::json_object!(@read $kind, $name, map, extra));
                            } )*
                            __Key::Constant => { map.next_value::<de::IgnoredAny>()?; }
                            __Key::Other(name) => extra.push_received(name, map.next_value()?),
                        }
                    }
                    ::std::result::Result::Ok($type {
                        $( $field: $crate::json_object!(@take $kind, $name, $field), )*
                        extra,
                    })
                }
            }

            impl<'de $(, $parameter: de::Deserialize<'de>)?> de::Deserialize<'de> for $type $(<$parameter>)? {
                fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> ::std::result::Result<Self, D::Error> {
                    deserializer.deserialize_map(__ObjectVisitor(::std::marker::PhantomData))
                }
            }

            impl $(<$parameter: ser::Serialize>)? ser::Serialize for $type $(<$parameter>)? {
                fn serialize<S: ser::Serializer>(&self, serializer: S) -> ::std::result::Result<S::Ok, S::Error> {
                    use ser::SerializeMap as _;
                    let mut map = serializer.serialize_map(::std::option::Option::None)?;
                    $($( map.serialize_entry($constant, $value)?; )*)?
                    $( $crate::json_object!(@write $kind, $name, self.$field, map); )*
                    for (name, value) in &self.extra {
                        let written = match name {
                            $( $name => $crate::json_object!(@written $kind, self.$field), )*
                            $($( $constant => true, )*)?
                            _ => false,
                        };
                        if !written {
                            map.serialize_entry(name, value)?;
                        }
                    }
                    map.end()
                }
            }
        };
    };

    (@read optional, $name:literal, $map:ident, $extra:ident) => {{
        let value: ::std::option::Option<_> = $map.next_value()?;
        if value.is_none() {
            $extra.push_received($name, $crate::RawJson::null());
        }
        value
    }};
    (@read assumed, $name:literal, $map:ident, $extra:ident) => {{
        let value: $crate::codegen::TypedOrRaw<_> = $map.next_value()?;
        $crate::codegen::typed(value.0, __OBJECT, $name, &mut $extra)
    }};
    (@read bounded, $name:literal, $map:ident, $extra:ident) => {{
        let value: $crate::codegen::Bounded = $map.next_value()?;
        $crate::codegen::typed(value.0, __OBJECT, $name, &mut $extra)
    }};
    (@read integral, $name:literal, $map:ident, $extra:ident) => {{
        let value: $crate::codegen::Integral = $map.next_value()?;
        value.0
    }};
    (@read $constant:literal, $name:literal, $map:ident, $extra:ident) => {{
        let value: ::std::string::String = $map.next_value()?;
        $crate::codegen::constant(__OBJECT, $name, $constant, &value);
        value
    }};
    (@read $required:tt, $name:literal, $map:ident, $extra:ident) => {
        $map.next_value()?
    };

    (@take optional, $name:literal, $field:ident) => { $field.flatten() };
    (@take assumed, $name:literal, $field:ident) => { $field.flatten() };
    (@take bounded, $name:literal, $field:ident) => { $field.flatten() };
    (@take $required:tt, $name:literal, $field:ident) => {
        $field.ok_or_else(|| <__A::Error as de::Error>::missing_field($name))?
    };

    (@write optional, $name:literal, $value:expr, $map:ident) => {
        if let ::std::option::Option::Some(value) = &$value {
            $map.serialize_entry($name, value)?;
        }
    };
    (@write assumed, $($rest:tt)*) => { $crate::json_object!(@write optional, $($rest)*) };
    (@write bounded, $($rest:tt)*) => { $crate::json_object!(@write optional, $($rest)*) };
    (@write $required:tt, $name:literal, $value:expr, $map:ident) => { $map.serialize_entry($name, &$value)? };

    (@written optional, $value:expr) => { $value.is_some() };
    (@written assumed, $value:expr) => { $value.is_some() };
    (@written bounded, $value:expr) => { $value.is_some() };
    (@written $required:tt, $value:expr) => { true };
}

/// A value of the assumed type, or the JSON of another type. Used by generated code.
#[doc(hidden)]
#[derive(Debug)]
pub struct TypedOrRaw<T>(pub Result<T, RawJson>);

impl<'de, T: DeserializeOwned> Deserialize<'de> for TypedOrRaw<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Only the JSON string preserves all digits of a number of another type.
        let raw = RawJson::deserialize(deserializer)?;
        // The parser counts the depth of each string from zero, so a type that contains itself would recurse endlessly.
        if is_too_deep(raw.as_str()) {
            return Ok(Self(Err(raw)));
        }
        Ok(Self(serde_json::from_str(raw.as_str()).map_err(|_| raw)))
    }
}

/// Returns the value of a field. A value of another type is moved to `extra`. Unless it is null, it counts as a
/// mismatch. Used by generated code.
#[doc(hidden)]
pub fn typed<T>(
    value: Result<T, RawJson>,
    object: &'static str,
    field: &'static str,
    extra: &mut Members,
) -> Option<T> {
    let other = match value {
        Ok(value) => return Some(value),
        Err(other) => other,
    };
    if !other.is_null() {
        note_type(object, field);
    }
    extra.push_received(field, other);
    None
}

/// Records the first constant with an unexpected value. Used by generated code.
#[doc(hidden)]
pub fn constant(object: &'static str, field: &'static str, expected: &'static str, found: &str) {
    if found == expected {
        return;
    }
    note_constant(|| ConstantMismatch {
        object,
        field,
        expected,
        found: found.to_owned(),
    });
}

#[cfg(test)]
mod tests {
    use crate::json::decode_context::{Mismatches, TypeMismatch, decode_response};
    use crate::{Members, RawJson};

    #[derive(Clone, Debug, PartialEq)]
    struct Sample {
        title: String,
        review: Option<RawJson>,
        due: Option<String>,
        extra: Members,
    }

    crate::json_object!(Sample {
        title: required "title",
        review: nullable "review",
        due: optional "dueAt",
    } constants { "schemaVersion" = "sample.v1" });

    /// A schema may have any name, even a name that the macro uses.
    #[derive(Clone, Debug, PartialEq)]
    struct Key {
        key: Box<Option<Key>>,
        extra: Members,
    }

    crate::json_object!(Key { key: required "key" });

    #[derive(Clone, Debug, PartialEq)]
    struct A {
        key: Key,
        extra: Members,
    }

    crate::json_object!(A { key: required "key" });

    #[test]
    fn a_type_may_have_a_name_that_the_macro_uses() {
        let text = r#"{"key":{"key":{"key":null,"more":1}}}"#;
        let it: A = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&it).unwrap(), text);
    }

    fn round_trip(text: &str) -> String {
        serde_json::to_string(&serde_json::from_str::<Sample>(text).unwrap()).unwrap()
    }

    #[test]
    fn unknown_fields_and_their_digits_are_written_back_unchanged() {
        let text = r#"{"schemaVersion":"sample.v1","title":"a","review":null,"amount":1.10,"big":123456789012345678901234567890,"o":{"b":1,"a":2}}"#;
        assert_eq!(round_trip(text), text);
    }

    #[test]
    fn an_explicit_null_of_an_optional_field_is_preserved_until_it_is_set() {
        let text = r#"{"schemaVersion":"sample.v1","title":"a","review":null,"dueAt":null}"#;
        assert_eq!(round_trip(text), text);
        let mut sample: Sample = serde_json::from_str(text).unwrap();
        sample.due = Some("now".into());
        assert_eq!(
            serde_json::to_string(&sample).unwrap(),
            r#"{"schemaVersion":"sample.v1","title":"a","review":null,"dueAt":"now"}"#
        );
    }

    #[test]
    fn the_error_names_a_missing_required_field() {
        let error = serde_json::from_str::<Sample>(r#"{"title":"a"}"#).unwrap_err();
        assert!(
            error.to_string().contains("missing field `review`"),
            "{error}"
        );
    }

    #[test]
    fn a_field_that_occurs_twice_is_an_error() {
        for (text, name) in [
            (r#"{"title":"a","title":"a","review":1}"#, "title"),
            (r#"{"title":"a","review":null,"review":1}"#, "review"),
            (
                r#"{"title":"a","dueAt":null,"review":1,"dueAt":null}"#,
                "dueAt",
            ),
            (
                r#"{"title":"a","review":1,"dueAt":"b","due\u0041t":"b"}"#,
                "dueAt",
            ),
        ] {
            let error = serde_json::from_str::<Sample>(text).unwrap_err();
            let expected = format!("duplicate field `{name}`");
            assert!(error.to_string().contains(&expected), "{error}");
        }
        let twice = r#"{"schemaVersion":"sample.v1","title":"a","review":1,"more":1,"more":2}"#;
        assert_eq!(round_trip(twice), twice);
    }

    #[test]
    fn escaped_field_names_are_decoded() {
        let sample: Sample =
            serde_json::from_str(r#"{"t\u0069tle":"a","review":1,"o\u0074her":2}"#).unwrap();
        assert_eq!(sample.title, "a");
        assert_eq!(sample.extra.get("other").unwrap().as_str(), "2");
    }

    #[derive(Clone, Debug, PartialEq)]
    struct Badge {
        tone: Option<String>,
        order: Option<i64>,
        extra: Members,
    }

    crate::json_object!(Badge {
        tone: assumed "tone",
        order: optional "order",
    });

    fn badge(text: &str) -> Badge {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_value_of_another_type_is_preserved_until_the_field_is_set() {
        for other in [
            "123456789012345678901234567890",
            "{\"b\":1.10}",
            "null",
            "[]",
        ] {
            let text = format!("{{\"order\":1,\"tone\":{other}}}");
            let mut badge = badge(&text);
            assert_eq!(badge.tone, None);
            assert_eq!(badge.extra.get("tone").unwrap().as_str(), other);
            assert_eq!(serde_json::to_string(&badge).unwrap(), text);

            badge.tone = Some("calm".to_owned());
            assert_eq!(
                serde_json::to_string(&badge).unwrap(),
                r#"{"tone":"calm","order":1}"#
            );
        }
        assert_eq!(
            badge(r#"{"tone":"\u0063alm"}"#).tone.as_deref(),
            Some("calm")
        );
    }

    #[test]
    fn each_decoding_counts_its_own_mismatches() {
        let (_, seen) = decode_response(&"".into(), || {
            [badge(r#"{"tone":1}"#), badge(r#"{"tone":{}}"#)]
        });
        let expected = TypeMismatch {
            object: "Badge",
            field: "tone",
            count: 2,
        };
        assert_eq!(seen.types, Some(expected));

        // Null and absence are both allowed for an optional field.
        let (_, seen) = decode_response(&"".into(), || {
            [badge(r#"{"tone":null}"#), badge(r#"{"tone":"calm"}"#)]
        });
        assert_eq!(seen, Mismatches::default());
    }
}
