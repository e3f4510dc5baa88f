//! A JSON or YAML document with its fields in the original order.
//!
//! `serde_json` preserves the order only with a feature, which would change every crate of the workspace.

use indexmap::IndexMap;
use serde::Serialize;
use serde_yaml_ng::Value;

use crate::{Result, at};

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Node {
    Null,
    Bool(bool),
    Number(serde_json::Number),
    Text(String),
    List(Vec<Node>),
    Object(IndexMap<String, Node>),
}

static NULL: Node = Node::Null;

impl Node {
    /// Parses a document as JSON if it begins with `{`, otherwise as YAML.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let text = text.trim_start_matches('\u{feff}');
        if text.trim_start().starts_with('{') {
            let value = serde_json::from_str(text).map_err(at("not JSON"))?;
            return Self::of(value).map_err(at("not JSON"));
        }
        let mut value: Value = serde_yaml_ng::from_str(text).map_err(at("not YAML"))?;
        value.apply_merge().map_err(at("not YAML"))?;
        Self::of(value).map_err(at("not YAML"))
    }

    fn of(value: Value) -> Result<Self> {
        Ok(match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(value),
            Value::Number(number) => {
                let whole = number.as_i64().map(Into::into);
                let whole = whole.or_else(|| number.as_u64().map(Into::into));
                let fraction = || serde_json::Number::from_f64(number.as_f64()?);
                // YAML has infinities, but JSON has none.
                let text = || Self::Text(number.to_string());
                whole.or_else(fraction).map_or_else(text, Self::Number)
            }
            Value::String(text) => Self::Text(text),
            Value::Sequence(items) => {
                let items = items.into_iter().map(Self::of);
                Self::List(items.collect::<Result<_>>()?)
            }
            Value::Mapping(mapping) => {
                let mut members = IndexMap::new();
                for (name, value) in mapping {
                    // Keys in YAML need not be strings, such as the status `200`.
                    let name = Self::of(name)?.plain();
                    if members.contains_key(&name) {
                        return Err(format!("the `{name}` field occurs twice"));
                    }
                    members.insert(name, Self::of(value)?);
                }
                Self::Object(members)
            }
            Value::Tagged(tagged) => {
                return Err(format!("the tag `{}` is not supported", tagged.tag));
            }
        })
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Node> {
        self.object()?.get(name)
    }

    /// A field of an object, or null.
    pub(crate) fn at(&self, name: &str) -> &Node {
        self.get(name).unwrap_or(&NULL)
    }

    pub(crate) fn text_at(&self, name: &str) -> Option<&str> {
        self.get(name)?.text()
    }

    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.get(name) == Some(&Node::Bool(true))
    }

    pub(crate) fn object(&self) -> Option<&IndexMap<String, Node>> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    pub(crate) fn members(&self) -> impl Iterator<Item = (&String, &Node)> {
        self.object().into_iter().flatten()
    }

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

    /// The strings of a list, or a single string.
    pub(crate) fn texts(&self) -> Vec<String> {
        let texts = match self {
            Self::List(items) => items.as_slice(),
            single => std::slice::from_ref(single),
        };
        let texts = texts.iter().filter_map(Self::text);
        texts.map(str::to_owned).collect()
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

    /// A string without quotes, and any other value as JSON.
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

/// The pointer to a field.
pub(crate) fn step(place: &str, name: &str) -> String {
    let name = name.replace('~', "~0").replace('/', "~1");
    format!("{place}/{name}")
}
