//! The members of a JSON object in order; a name may occur twice.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The names and values of an object, owned or borrowed.
pub(crate) struct Entries<N, V>(pub(crate) Vec<(N, V)>);

/// The members of an object, with values borrowed from its text.
pub(crate) type RawEntries<'a> = Entries<Cow<'a, str>, &'a RawValue>;

impl<'de, N: Deserialize<'de>, V: Deserialize<'de>> Deserialize<'de> for Entries<N, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object<N, V>(PhantomData<(N, V)>);

        impl<'de, N: Deserialize<'de>, V: Deserialize<'de>> Visitor<'de> for Object<N, V> {
            type Value = Entries<N, V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Entries(pairs))
            }
        }

        deserializer.deserialize_map(Object(PhantomData))
    }
}
