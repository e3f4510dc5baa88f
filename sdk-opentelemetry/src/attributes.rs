//! A set of attributes on the stack.

use opentelemetry::{Key, KeyValue, Value};

/// The most attributes that an instrument has.
const MOST: usize = 8;

/// Attributes, in the order in which they are added: always the same, so that the set is found at once.
pub(crate) struct Attributes {
    all: [KeyValue; MOST],
    count: usize,
}

impl Attributes {
    pub(crate) fn new() -> Self {
        Self {
            all: std::array::from_fn(|_| KeyValue::new("", false)),
            count: 0,
        }
    }

    pub(crate) fn add(mut self, key: &'static str, value: impl Into<Value>) -> Self {
        self.all[self.count] = KeyValue::new(Key::from_static_str(key), value);
        self.count += 1;
        self
    }

    /// Adds an attribute that applies.
    pub(crate) fn maybe(self, key: &'static str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.add(key, value),
            None => self,
        }
    }

    pub(crate) fn as_slice(&self) -> &[KeyValue] {
        &self.all[..self.count]
    }
}
