//! A JSON decoder for the common parts of responses. It is faster than `serde_json` and leaves all other JSON to it.
//!
//! Most of a page consists of short strings, on which `serde_json` spends most of its time. This decoder scans them
//! eight bytes at a time. If it fails, `serde_json` decodes the JSON again from the start, and its result counts.
//! Everything that this decoder accepts must therefore decode to the same value with `serde_json`. Module `tests`
//! compares the two.

pub(crate) mod scanner;
#[cfg(test)]
mod tests;

use serde::Deserialize;
use serde::de::value::BorrowedStrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde_json::de::StrRead;

use crate::json::decode_context::{hand_over_raw, note_failure, watch_failures};
use crate::json::fast::scanner::Scanner;

/// The name of a newtype that receives its value as raw JSON through `visit_borrowed_str`. Other deserializers pass
/// themselves.
pub(super) const RAW_JSON: &str = "raw JSON";

/// The name of a newtype that receives a string without escapes as a slice of the JSON through `visit_borrowed_str`.
pub(super) const BORROWED_STR: &str = "a borrowed string";

/// A number of digits that is small enough for every such integer to fit into 64 bits.
const LONGEST: usize = 18;

/// Returns `None` if `serde_json` must decide.
pub(crate) fn from_str<'a, T: Deserialize<'a>>(text: &'a str) -> Option<T> {
    let mut fast = Fast(Scanner::new(text));
    let (value, failed) = watch_failures(|| T::deserialize(&mut fast));
    fast.0.end().filter(|()| !failed)?;
    value.ok()
}

struct Fast<'de>(Scanner<'de>);

/// This decoder's error. It contains no reason, because `serde_json` decodes the JSON again.
#[derive(Debug, thiserror::Error)]
#[error("left to serde_json")]
struct Fallback;

impl Fallback {
    fn new() -> Self {
        note_failure();
        Self
    }
}

impl serde::de::Error for Fallback {
    fn custom<T: std::fmt::Display>(_message: T) -> Self {
        Self::new()
    }
}

impl From<serde_json::Error> for Fallback {
    fn from(_error: serde_json::Error) -> Self {
        Self::new()
    }
}

impl<'de> Fast<'de> {
    fn via_serde_json<T>(
        &mut self,
        read: impl FnOnce(&mut serde_json::Deserializer<StrRead<'de>>) -> serde_json::Result<T>,
    ) -> Result<T, Fallback> {
        let text = self.0.shallow_value().ok_or_else(Fallback::new)?;
        parse_via_serde_json(text, read)
    }
}

fn parse_via_serde_json<'de, T>(
    text: &'de str,
    read: impl FnOnce(&mut serde_json::Deserializer<StrRead<'de>>) -> serde_json::Result<T>,
) -> Result<T, Fallback> {
    let mut slow = serde_json::Deserializer::from_str(text);
    let value = read(&mut slow)?;
    slow.end()?;
    Ok(value)
}

/// Methods that `serde_json` implements.
macro_rules! via_serde_json {
    ($($method:ident($($argument:ident: $type:ty),*))*) => {$(
        fn $method<V: Visitor<'de>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, Fallback> {
            self.via_serde_json(|slow| slow.$method($($argument,)* visitor))
        }
    )*};
}

/// Numbers. Most of them are short integers.
macro_rules! numbers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fallback> {
            let text = self.0.shallow_value().ok_or_else(Fallback::new)?;
            match short_integer(text) {
                Some(number) => visitor.visit_u64(number),
                None => parse_via_serde_json(text, |slow| slow.$method(visitor)),
            }
        }
    )*};
}

fn short_integer(text: &str) -> Option<u64> {
    let is_short = text.len() <= LONGEST && text.bytes().all(|byte| byte.is_ascii_digit());
    is_short.then(|| text.parse().ok()).flatten()
}

impl<'de> Deserializer<'de> for &mut Fast<'de> {
    type Error = Fallback;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fallback> {
        match self.0.peek().ok_or_else(Fallback::new)? {
            b'"' => self.deserialize_str(visitor),
            b'{' => self.deserialize_map(visitor),
            b'[' => self.deserialize_seq(visitor),
            _ => self.via_serde_json(|slow| slow.deserialize_any(visitor)),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fallback> {
        match self.0.plain_string() {
            Some(text) => visitor.visit_borrowed_str(text),
            None => self.via_serde_json(|slow| slow.deserialize_str(visitor)),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fallback> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fallback> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fallback> {
        if self.0.peek() == Some(b'n') {
            self.0.literal("null").ok_or_else(Fallback::new)?;
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fallback> {
        if name == BORROWED_STR
            && let Some(text) = self.0.plain_string()
        {
            return visitor.visit_borrowed_str(text);
        }
        if name == RAW_JSON {
            let text = self.0.value().ok_or_else(Fallback::new)?;
            hand_over_raw(text);
            return visitor.visit_borrowed_str(text);
        }
        // `serde_json` requests its own `RawValue` by a reserved name that starts with `$`.
        if name.starts_with('$') {
            let text = self.0.value().ok_or_else(Fallback::new)?;
            return parse_via_serde_json(text, |slow| {
                slow.deserialize_newtype_struct(name, visitor)
            });
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fallback> {
        let mut elements = ContainerAccess::open(self, b'[', b']')?;
        let value = visitor.visit_seq(&mut elements)?;
        elements.ended(value)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Fallback> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fallback> {
        let text = self.0.shallow_value().ok_or_else(Fallback::new)?;
        let is_fraction = text.contains('.');
        match text
            .parse()
            .ok()
            .filter(|number: &f64| is_fraction && number.is_finite())
        {
            Some(number) => visitor.visit_f64(number),
            None => parse_via_serde_json(text, |slow| slow.deserialize_f64(visitor)),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fallback> {
        let mut members = ContainerAccess::open(self, b'{', b'}')?;
        let value = visitor.visit_map(&mut members)?;
        members.ended(value)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fallback> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fallback> {
        match self.0.plain_string() {
            Some(name) => visitor.visit_enum(BorrowedStrDeserializer::new(name)),
            None => self.via_serde_json(|slow| slow.deserialize_enum(name, variants, visitor)),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fallback> {
        self.0.skip().ok_or_else(Fallback::new)?;
        visitor.visit_unit()
    }

    numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
    }

    via_serde_json! {
        deserialize_bool() deserialize_i128() deserialize_u128() deserialize_f32() deserialize_char()
        deserialize_bytes() deserialize_byte_buf() deserialize_unit() deserialize_unit_struct(name: &'static str)
        deserialize_tuple_struct(name: &'static str, length: usize)
    }
}

struct ContainerAccess<'a, 'de> {
    fast: &'a mut Fast<'de>,
    close: u8,
    is_first: bool,
    is_open: bool,
}

impl<'a, 'de> ContainerAccess<'a, 'de> {
    fn open(fast: &'a mut Fast<'de>, open: u8, close: u8) -> Result<Self, Fallback> {
        fast.0.open(open).ok_or_else(Fallback::new)?;
        Ok(Self {
            fast,
            close,
            is_first: true,
            is_open: true,
        })
    }

    #[inline]
    fn more(&mut self) -> Result<bool, Fallback> {
        if self.is_open {
            let is_open = self.fast.0.more(self.is_first, self.close);
            self.is_open = is_open.ok_or_else(Fallback::new)?;
            self.is_first = false;
        }
        Ok(self.is_open)
    }

    /// Returns the value if its container was read to the end.
    fn ended<T>(mut self, value: T) -> Result<T, Fallback> {
        if self.more()? {
            Err(Fallback::new())
        } else {
            Ok(value)
        }
    }
}

impl<'de> SeqAccess<'de> for &mut ContainerAccess<'_, 'de> {
    type Error = Fallback;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Fallback> {
        if !self.more()? {
            return Ok(None);
        }
        // If a type reads no bytes, nothing else would detect a trailing comma.
        if self.fast.0.peek() == Some(self.close) {
            return Err(Fallback::new());
        }
        seed.deserialize(&mut *self.fast).map(Some)
    }
}

impl<'de> MapAccess<'de> for &mut ContainerAccess<'_, 'de> {
    type Error = Fallback;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Fallback> {
        if !self.more()? {
            return Ok(None);
        }
        if let Some(name) = self.fast.0.plain_string() {
            return seed.deserialize(Name(Ok(name))).map(Some);
        }
        let name = self.fast.via_serde_json(|slow| String::deserialize(slow))?;
        seed.deserialize(Name(Err(&name))).map(Some)
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fallback> {
        self.fast.0.expect(b':').ok_or_else(Fallback::new)?;
        seed.deserialize(&mut *self.fast)
    }
}

/// A field name, either borrowed from the JSON or decoded, as `serde_json` passes it.
struct Name<'de, 'a>(Result<&'de str, &'a str>);

/// Names that represent other types, such as numbers.
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
