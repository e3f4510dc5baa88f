//! A document as it is written, JSON or YAML, with its members in their order.
//!
//! `serde_json` keeps the order only by a feature, which would change it for every crate of the workspace.

use std::fmt;

use indexmap::IndexMap;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::{Result, at};

/// A value of a document.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    Null,
    Bool(bool),
    Number(serde_json::Number),
    Text(String),
    List(Vec<Node>),
    Object(IndexMap<String, Node>),
}

/// What a place without anything holds.
static NULL: Node = Node::Null;

impl Node {
    /// Reads a document, which is JSON if it begins like it.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let text = text.trim_start_matches('\u{feff}');
        if text.trim_start().starts_with('{') {
            serde_json::from_str(text).map_err(at("not JSON"))
        } else {
            let mut value: serde_yaml_ng::Value =
                serde_yaml_ng::from_str(text).map_err(at("not YAML"))?;
            value.apply_merge().map_err(at("not YAML"))?;
            serde_yaml_ng::from_value(value).map_err(at("not YAML"))
        }
    }

    /// A member of an object.
    pub(crate) fn get(&self, name: &str) -> Option<&Node> {
        self.object()?.get(name)
    }

    /// A member, or null.
    pub(crate) fn at(&self, name: &str) -> &Node {
        self.get(name).unwrap_or(&NULL)
    }

    /// The text of a member.
    pub(crate) fn text_at(&self, name: &str) -> Option<&str> {
        self.get(name)?.text()
    }

    /// Whether a member is `true`.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.get(name) == Some(&Node::Bool(true))
    }

    pub(crate) fn object(&self) -> Option<&IndexMap<String, Node>> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The members of an object; none of anything else.
    pub(crate) fn members(&self) -> impl Iterator<Item = (&String, &Node)> {
        self.object().into_iter().flatten()
    }

    /// The items of a list; none of anything else.
    pub(crate) fn items(&self) -> &[Node] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The texts of a list, or the one text.
    pub(crate) fn texts(&self) -> Vec<String> {
        let one = std::slice::from_ref(self);
        let items = if self.text().is_some() {
            one
        } else {
            self.items()
        };
        items
            .iter()
            .filter_map(Node::text)
            .map(str::to_owned)
            .collect()
    }

    pub(crate) fn integer(&self) -> Option<i64> {
        match self {
            Self::Number(number) => number.as_i64().or_else(|| {
                let number = number.as_f64()?;
                #[expect(clippy::cast_possible_truncation, reason = "it has no fraction")]
                (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64)
            }),
            _ => None,
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        *self == Self::Null
    }

    /// The value as people write it: a text as it is, anything else as JSON.
    pub(crate) fn plain(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            other => serde_json::to_string(other).unwrap_or_default(),
        }
    }

    /// The value at a JSON pointer, `/components/schemas/Person`.
    pub(crate) fn pointer(&self, pointer: &str) -> Option<&Node> {
        let mut node = self;
        for step in pointer.split('/').skip(1) {
            node = match node {
                Self::Object(members) if step.contains('~') => {
                    members.get(&step.replace("~1", "/").replace("~0", "~"))?
                }
                Self::Object(members) => members.get(step)?,
                Self::List(items) => items.get(step.parse::<usize>().ok()?)?,
                _ => return None,
            };
        }
        Some(node)
    }
}

/// A pointer to a member.
pub(crate) fn step(place: &str, name: &str) -> String {
    if name.contains(['~', '/']) {
        let name = name.replace('~', "~0").replace('/', "~1");
        return format!("{place}/{name}");
    }
    format!("{place}/{name}")
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => number.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(items) => serializer.collect_seq(items),
            Self::Object(members) => serializer.collect_map(members),
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> std::result::Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E>(self, value: bool) -> std::result::Result<Node, E> {
        Ok(Node::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> std::result::Result<Node, E> {
        Ok(Node::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> std::result::Result<Node, E> {
        Ok(Node::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> std::result::Result<Node, E> {
        // YAML has infinities, JSON has none.
        let number = serde_json::Number::from_f64(value).map(Node::Number);
        Ok(number.unwrap_or_else(|| Node::Text(value.to_string())))
    }

    fn visit_str<E>(self, text: &str) -> std::result::Result<Node, E> {
        Ok(Node::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Node::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Node, A::Error> {
        let mut members = IndexMap::new();
        // YAML has keys that are no texts, such as the status `200`.
        while let Some(name) = map.next_key::<Node>()? {
            let name = name.plain();
            if members.contains_key(&name) {
                return Err(A::Error::custom(format!(
                    "the member `{name}` occurs twice"
                )));
            }
            members.insert(name, map.next_value()?);
        }
        Ok(Node::Object(members))
    }
}
