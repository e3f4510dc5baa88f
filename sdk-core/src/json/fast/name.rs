//! The names of members.

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{Deserializer, IntoDeserializer, Visitor};

use crate::json::fast::{BORROWED_STR, Fallback, RAW_JSON};

/// The name of a member, as `serde_json` hands it over: borrowed from the text, or not.
pub(super) struct Name<'de, 'a>(pub(super) Result<&'de str, &'a str>);

/// Names that mean something else, such as numbers.
macro_rules! fallback {
    ($($method:ident($($type:ty),*))*) => {$(
        fn $method<V: Visitor<'de>>(self, $(_: $type,)* _visitor: V) -> Result<V::Value, Fallback> {
            Err(Fallback::new())
        }
    )*};
}

impl<'de> Deserializer<'de> for Name<'de, '_> {
    type Error = Fallback;

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fallback> {
        match name {
            BORROWED_STR => self.deserialize_str(visitor),
            RAW_JSON => Err(Fallback::new()),
            _ if name.starts_with('$') => Err(Fallback::new()),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fallback> {
        visitor.visit_some(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fallback> {
        match self.0 {
            Ok(name) => visitor.visit_enum(BorrowedStrDeserializer::new(name)),
            Err(name) => visitor.visit_enum(name.into_deserializer()),
        }
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fallback> {
        match self.0 {
            Ok(name) => visitor.visit_borrowed_str(name),
            Err(name) => visitor.visit_str(name),
        }
    }

    serde::forward_to_deserialize_any! { str string identifier ignored_any }

    fallback! {
        deserialize_bool() deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64() deserialize_i128()
        deserialize_u8() deserialize_u16() deserialize_u32() deserialize_u64() deserialize_u128() deserialize_f32()
        deserialize_f64() deserialize_char() deserialize_bytes() deserialize_byte_buf() deserialize_unit()
        deserialize_unit_struct(&'static str) deserialize_seq() deserialize_tuple(usize)
        deserialize_tuple_struct(&'static str, usize) deserialize_map()
        deserialize_struct(&'static str, &'static [&'static str])
    }
}
