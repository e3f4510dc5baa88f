//! A set of attributes on the stack.

use opentelemetry::{Key, KeyValue, Value};

/// Attributes, in the order in which they are added: always the same, so that the set is found at once. There is room for as
/// many as an instrument can have.
pub(crate) struct Attributes<const MOST: usize> {
    all: [KeyValue; MOST],
    count: usize,
}

impl<const MOST: usize> Attributes<MOST> {
    #[inline]
    pub(crate) fn new() -> Self {
        Self {
            all: std::array::from_fn(|_| KeyValue::new(Key::from_static_str(""), false)),
            count: 0,
        }
    }

    #[inline]
    pub(crate) fn add(&mut self, key: &'static str, value: impl Into<Value>) -> &mut Self {
        self.all[self.count] = KeyValue::new(Key::from_static_str(key), value);
        self.count += 1;
        self
    }

    /// Adds an attribute that applies.
    #[inline]
    pub(crate) fn maybe(
        &mut self,
        key: &'static str,
        value: Option<impl Into<Value>>,
    ) -> &mut Self {
        match value {
            Some(value) => self.add(key, value),
            None => self,
        }
    }

    pub(crate) fn as_slice(&self) -> &[KeyValue] {
        &self.all[..self.count]
    }
}
