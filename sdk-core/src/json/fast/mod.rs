//! Decodes JSON faster than `serde_json`, for what most replies are made of, and leaves everything else to it.
//!
//! Short strings are most of a page, and `serde_json` spends most of its time on them. Here they are found eight bytes at a
//! time. A failure is no error: `serde_json` then reads the text from its beginning, and decides. So what decodes here must
//! decode there, to the same value; `tests` compares them.

#[cfg(test)]
mod tests;

use serde::Deserialize;
use serde::de::value::BorrowedStrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::json::scanner::Scanner;

/// The name of a type that gets its value as it is written, by `visit_borrowed_str`. Any other deserializer hands over itself.
pub(super) const AS_WRITTEN: &str = "the JSON as it is written";

/// The name of a type that gets a string as it is written in the same way, if it has no escapes.
pub(super) const AS_TEXT: &str = "a text";

/// The longest integer that surely has 64 bits, in digits.
const LONGEST: usize = 18;

/// Decodes a text, if that is easy.
pub(crate) fn from_str<'a, T: Deserialize<'a>>(text: &'a str) -> Option<T> {
    let mut fast = Fast(Scanner::new(text));
    let value = T::deserialize(&mut fast).ok()?;
    fast.0.end()?;
    Some(value)
}

struct Fast<'de>(Scanner<'de>);

/// Why not: `serde_json` knows better.
#[derive(Debug, thiserror::Error)]
#[error("left to serde_json")]
struct Left;

impl serde::de::Error for Left {
    fn custom<T: std::fmt::Display>(_message: T) -> Self {
        Self
    }
}

impl From<serde_json::Error> for Left {
    fn from(_error: serde_json::Error) -> Self {
        Self
    }
}

impl<'de> Fast<'de> {
    /// The value that comes next, for `serde_json`.
    fn slow(&mut self) -> Result<serde_json::Deserializer<serde_json::de::StrRead<'de>>, Left> {
        let text = self.0.value().ok_or(Left)?;
        Ok(serde_json::Deserializer::from_str(text))
    }
}

/// What `serde_json` reads.
macro_rules! slow {
    ($($method:ident($($argument:ident: $type:ty),*))*) => {$(
        fn $method<V: Visitor<'de>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, Left> {
            Ok(self.slow()?.$method($($argument,)* visitor)?)
        }
    )*};
}

/// Numbers, most of which are short integers.
macro_rules! numbers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Left> {
            let text = self.0.value().ok_or(Left)?;
            if text.len() <= LONGEST && text.bytes().all(|byte| byte.is_ascii_digit()) {
                return visitor.visit_u64(text.parse().map_err(|_| Left)?);
            }
            Ok(serde_json::Deserializer::from_str(text).$method(visitor)?)
        }
    )*};
}

impl<'de> Deserializer<'de> for &mut Fast<'de> {
    type Error = Left;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Left> {
        match self.0.peek().ok_or(Left)? {
            b'"' => self.deserialize_str(visitor),
            b'{' => self.deserialize_map(visitor),
            b'[' => self.deserialize_seq(visitor),
            _ => Ok(self.slow()?.deserialize_any(visitor)?),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Left> {
        match self.0.plain_string() {
            Some(text) => visitor.visit_borrowed_str(text),
            None => Ok(self.slow()?.deserialize_str(visitor)?),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Left> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Left> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Left> {
        if self.0.peek() == Some(b'n') {
            self.0.literal("null").ok_or(Left)?;
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Left> {
        if name == AS_WRITTEN {
            return visitor.visit_borrowed_str(self.0.value().ok_or(Left)?);
        }
        if name == AS_TEXT
            && let Some(text) = self.0.plain_string()
        {
            return visitor.visit_borrowed_str(text);
        }
        // Raw JSON of `serde_json` comes by a name that no type has.
        if name.starts_with('$') {
            return Ok(self.slow()?.deserialize_newtype_struct(name, visitor)?);
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Left> {
        let mut elements = Within::open(self, b'[', b']')?;
        let value = visitor.visit_seq(&mut elements)?;
        elements.ended(value)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Left> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Left> {
        let mut members = Within::open(self, b'{', b'}')?;
        let value = visitor.visit_map(&mut members)?;
        members.ended(value)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Left> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Left> {
        match self.0.plain_string() {
            Some(name) => visitor.visit_enum(BorrowedStrDeserializer::new(name)),
            None => Ok(self.slow()?.deserialize_enum(name, variants, visitor)?),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Left> {
        self.0.skip().ok_or(Left)?;
        visitor.visit_unit()
    }

    numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
    }

    slow! {
        deserialize_bool() deserialize_i128() deserialize_u128() deserialize_f32() deserialize_f64() deserialize_char()
        deserialize_bytes() deserialize_byte_buf() deserialize_unit() deserialize_unit_struct(name: &'static str)
        deserialize_tuple_struct(name: &'static str, length: usize)
    }
}

/// Within an array or an object.
struct Within<'a, 'de> {
    fast: &'a mut Fast<'de>,
    close: u8,
    is_first: bool,
    is_open: bool,
}

impl<'a, 'de> Within<'a, 'de> {
    fn open(fast: &'a mut Fast<'de>, open: u8, close: u8) -> Result<Self, Left> {
        fast.0.open(open).ok_or(Left)?;
        Ok(Self {
            fast,
            close,
            is_first: true,
            is_open: true,
        })
    }

    #[inline]
    fn more(&mut self) -> Result<bool, Left> {
        if self.is_open {
            self.is_open = self.fast.0.more(self.is_first, self.close).ok_or(Left)?;
            self.is_first = false;
        }
        Ok(self.is_open)
    }

    /// The value, if nothing was left of its text.
    fn ended<T>(mut self, value: T) -> Result<T, Left> {
        if self.more()? { Err(Left) } else { Ok(value) }
    }
}

impl<'de> SeqAccess<'de> for &mut Within<'_, 'de> {
    type Error = Left;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Left> {
        if !self.more()? {
            return Ok(None);
        }
        seed.deserialize(&mut *self.fast).map(Some)
    }
}

impl<'de> MapAccess<'de> for &mut Within<'_, 'de> {
    type Error = Left;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Left> {
        if !self.more()? {
            return Ok(None);
        }
        let name = self.fast.0.plain_string().ok_or(Left)?;
        seed.deserialize(BorrowedStrDeserializer::new(name))
            .map(Some)
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Left> {
        self.fast.0.expect(b':').ok_or(Left)?;
        seed.deserialize(&mut *self.fast)
    }
}
