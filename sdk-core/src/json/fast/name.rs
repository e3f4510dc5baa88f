//! The names of members.

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{Deserializer, IntoDeserializer, Visitor};

use crate::json::fast::{AS_TEXT, AS_WRITTEN, Left};

/// The name of a member, as `serde_json` hands it over: borrowed from the text, or not.
pub(super) struct Name<'de, 'a>(pub(super) Result<&'de str, &'a str>);

/// Names that mean something else, such as numbers.
macro_rules! left {
    ($($method:ident($($type:ty),*))*) => {$(
        fn $method<V: Visitor<'de>>(self, $(_: $type,)* _visitor: V) -> Result<V::Value, Left> {
            Err(Left::new())
        }
    )*};
}

impl<'de> Deserializer<'de> for Name<'de, '_> {
    type Error = Left;

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Left> {
        match name {
            AS_TEXT => self.deserialize_str(visitor),
            AS_WRITTEN => Err(Left::new()),
            _ if name.starts_with('$') => Err(Left::new()),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Left> {
        visitor.visit_some(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Left> {
        match self.0 {
            Ok(name) => visitor.visit_enum(BorrowedStrDeserializer::new(name)),
            Err(name) => visitor.visit_enum(name.into_deserializer()),
        }
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Left> {
        match self.0 {
            Ok(name) => visitor.visit_borrowed_str(name),
            Err(name) => visitor.visit_str(name),
        }
    }

    serde::forward_to_deserialize_any! { str string identifier ignored_any }

    left! {
        deserialize_bool() deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64() deserialize_i128()
        deserialize_u8() deserialize_u16() deserialize_u32() deserialize_u64() deserialize_u128() deserialize_f32()
        deserialize_f64() deserialize_char() deserialize_bytes() deserialize_byte_buf() deserialize_unit()
        deserialize_unit_struct(&'static str) deserialize_seq() deserialize_tuple(usize)
        deserialize_tuple_struct(&'static str, usize) deserialize_map()
        deserialize_struct(&'static str, &'static [&'static str])
    }
}
