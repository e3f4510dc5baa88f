use std::fmt;
use std::iter::Map;
use std::{slice, vec};

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::json::raw::RawJson;

/// The unknown fields of an object, in the order received.
///
/// Fields that a preview contract adds are preserved here and written back unchanged. This also holds an explicit `null`
/// of an optional field (`None` means "absent"). If the SDK assumes the type of an undocumented field, values of another
/// type are preserved here, too.
///
/// When a later release of the SDK knows a field, it moves from here to the type.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Members(Vec<(String, RawJson)>);

impl Members {
    /// Creates an empty set of fields.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// The value of the field with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&RawJson> {
        self.0
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value)
    }

    /// Sets a field and returns its previous value.
    pub fn insert(
        &mut self,
        name: impl Into<String>,
        value: impl Into<RawJson>,
    ) -> Option<RawJson> {
        let (name, value) = (name.into(), value.into());
        if let Some((_, old)) = self.0.iter_mut().find(|(key, _)| *key == name) {
            return Some(std::mem::replace(old, value));
        }
        self.0.push((name, value));
        None
    }

    /// Removes a field and returns its value.
    pub fn remove(&mut self, name: &str) -> Option<RawJson> {
        let index = self.0.iter().position(|(key, _)| key == name)?;
        Some(self.0.remove(index).1)
    }

    /// Iterates over the fields in order.
    pub fn iter(&self) -> Iter<'_> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The number of fields.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no fields.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends a field without checking whether its name already exists.
    #[doc(hidden)]
    pub fn push_received(&mut self, name: impl Into<String>, value: RawJson) {
        self.0.push((name.into(), value));
    }
}

type Member = (String, RawJson);
type Iter<'a> = Map<slice::Iter<'a, Member>, fn(&'a Member) -> (&'a str, &'a RawJson)>;

impl<'a> IntoIterator for &'a Members {
    type Item = (&'a str, &'a RawJson);
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl IntoIterator for Members {
    type Item = (String, RawJson);
    type IntoIter = vec::IntoIter<(String, RawJson)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<N: Into<String>, V: Into<RawJson>> Extend<(N, V)> for Members {
    /// Sets each field with [`insert`](Self::insert). If a name occurs twice, the last value wins.
    fn extend<I: IntoIterator<Item = (N, V)>>(&mut self, members: I) {
        for (name, value) in members {
            self.insert(name, value);
        }
    }
}

impl<N: Into<String>, V: Into<RawJson>> FromIterator<(N, V)> for Members {
    /// Collects fields. If a name occurs twice, the last value wins.
    fn from_iter<I: IntoIterator<Item = (N, V)>>(members: I) -> Self {
        let mut all = Self::new();
        all.extend(members);
        all
    }
}

impl fmt::Debug for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl Serialize for Members {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.len()))?;
        for (name, value) in self {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Members::new();
                while let Some((name, value)) = map.next_entry()? {
                    members.0.push((name, value));
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(Object)
    }
}

#[cfg(test)]
mod tests {
    use super::Members;

    #[test]
    fn fields_are_collected_extended_and_iterated_in_order() {
        let mut members: Members = [("b", 1), ("a", 2), ("b", 3)].into_iter().collect();
        members.extend([("c".to_owned(), true)]);
        assert_eq!(
            serde_json::to_string(&members).unwrap(),
            r#"{"b":3,"a":2,"c":true}"#
        );
        let borrowed = (&members)
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.clone()));
        let borrowed: Vec<_> = borrowed.collect();
        assert_eq!(members.clone().into_iter().collect::<Vec<_>>(), borrowed);
        assert_eq!(borrowed.into_iter().collect::<Members>(), members);
    }
}
