//! A flattened part of a document, with its facts by place and its inner schemas. References are followed. Each field is a
//! fact, a text for people, or unknown. No field is left out.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use super::assumed::Claim;
use super::rules::{self, Way};
use super::value::Value;
use crate::node::{Node, step};
use crate::read;

#[derive(Clone)]
pub(super) struct Leaf<'a> {
    pub(super) place: String,
    pub(super) node: &'a Node,
}

pub(super) struct Fact {
    /// The row of its rule.
    pub(super) row: &'static str,
    /// A JSON pointer.
    pub(super) place: String,
    pub(super) value: Value,
}

/// The place of a fact (`/body`, `.lines`), its kind, and the field that states it. The fact that a part exists has no kind.
pub(super) type Key = (String, &'static str, String);

/// A document without its operations, an operation, a security scheme, or a schema.
pub(super) struct Flat<'a> {
    pub(super) root: &'a Node,
    pub(super) way: Way,
    /// The place of its definition.
    pub(super) place: String,
    /// The place of its use.
    pub(super) used: String,
    pub(super) facts: BTreeMap<Key, Fact>,
    /// The inner schemas, each with all leaves that a value must match. Without leaves, any value matches.
    pub(super) schemas: IndexMap<String, Vec<Leaf<'a>>>,
    pub(super) claims: Vec<Claim>,
    /// The place that is currently flattened.
    pub(super) at: String,
}

/// Fields for people.
const READ: &str =
    "title description summary example examples externalDocs $comment $schema $id $anchor";

pub(super) fn is_read_by_people(key: &str) -> bool {
    key.starts_with("x-") || READ.split(' ').any(|it| it == key)
}

/// Whether a field is in a list of handled fields and has its required JSON type. Another type counts as absent.
fn is_handled(handled: &str, key: &str, value: &Node) -> bool {
    let kind = match value {
        Node::Bool(_) => "flag",
        Node::Text(_) => "text",
        Node::List(_) => "list",
        Node::Object(_) => "object",
        Node::Null | Node::Number(_) => "other",
    };
    handled.split(' ').any(|field| match field.split_once(':') {
        Some((name, kinds)) => name == key && kinds.contains(kind),
        None => field == key,
    })
}

impl<'a> Leaf<'a> {
    pub(super) fn at(&self, key: &str) -> Option<Self> {
        let node = self.node.get(key)?;
        let place = step(&self.place, key);
        Some(Self { place, node })
    }

    /// The fields or the items of a field.
    pub(super) fn each(&self, key: &str) -> Vec<(String, Self)> {
        let Some(field) = self.at(key) else {
            return Vec::new();
        };
        let fields = field.node.members();
        let fields = fields.map(|(name, node)| (name.clone(), node));
        let items = field.node.items().iter().enumerate();
        let all = fields.chain(items.map(|(at, node)| (at.to_string(), node)));
        let leaf = |(name, node): (String, &'a Node)| {
            let place = step(&field.place, &name);
            (name, Self { place, node })
        };
        all.map(leaf).collect()
    }

    pub(super) fn place(&self, key: &str) -> String {
        self.at(key).map_or(self.place.clone(), |it| it.place)
    }

    /// The node at the end of its references.
    pub(super) fn resolved(mut self, root: &'a Node) -> Self {
        for _ in 0..16 {
            let reference = self.node.text_at("$ref");
            if let Some((place, node)) = reference.and_then(|it| read::follow(root, it)) {
                self = Self { place, node };
            }
        }
        self
    }
}

impl<'a> Flat<'a> {
    pub(super) fn of(root: &'a Node, way: Way, place: &str) -> Self {
        Self {
            root,
            way,
            place: place.to_owned(),
            used: place.to_owned(),
            facts: BTreeMap::new(),
            schemas: IndexMap::new(),
            claims: Vec::new(),
            at: String::new(),
        }
    }

    /// The direction of the values at a place.
    pub(super) fn way_at(&self, at: &str) -> Way {
        match self.way {
            Way::Both if at.starts_with("/response ") => Way::Response,
            Way::Both if at.starts_with('/') => Way::Request,
            way => way,
        }
    }

    pub(super) fn add(&mut self, row: &'static str, key: &str, place: String, value: Value) {
        let key = (self.at.clone(), row, key.to_owned());
        self.facts.insert(key, Fact { row, place, value });
    }

    pub(super) fn add_text(
        &mut self,
        row: &'static str,
        leaf: &Leaf<'a>,
        key: &str,
        text: impl Into<String>,
    ) {
        let mut text = text.into();
        // If several schemas are merged, each counts.
        if let Some(Value::Text(known)) = self.value(row, key).filter(|_| row != "type") {
            text = format!("{known} and {text}");
        }
        self.add(row, key, leaf.place(key), Value::Text(text));
    }

    /// Adds the fact that a part exists, with the row of the rule for a new or removed part.
    pub(super) fn present(&mut self, row: &'static str, place: &str, required: Option<bool>) {
        if let Some(required) = required {
            self.add("required", "", place.to_owned(), Value::Wide(!required));
        }
        let (place, value) = (place.to_owned(), Value::Text(String::new()));
        let key = (self.at.clone(), "", String::new());
        self.facts.insert(key, Fact { row, place, value });
    }

    pub(super) fn value(&self, row: &'static str, key: &str) -> Option<&Value> {
        let fact = self.facts.get(&(self.at.clone(), row, key.to_owned()));
        fact.map(|it| &it.value)
    }

    pub(super) fn kinds(&self) -> BTreeSet<String> {
        match self.value("type", "") {
            Some(Value::Kinds(kinds)) => kinds.clone(),
            _ => BTreeSet::new(),
        }
    }

    /// Adds the fields that are compared as written, and unknown fields. Handled fields are skipped.
    pub(super) fn fields(&mut self, leaf: &Leaf<'a>, handled: &str) {
        self.claims
            .extend(Claim::all(leaf.node, &leaf.place, &self.at));
        if leaf.node.object().is_none() {
            self.add_text("field", leaf, "", json(leaf.node));
        }
        if leaf.node.is_set("deprecated") {
            self.add_text("deprecated", leaf, "deprecated", "");
        }
        let fields = leaf.node.members();
        for (key, value) in fields.filter(|it| !is_read_by_people(it.0)) {
            let row = match key.as_str() {
                "servers" => "server",
                "webhooks" | "callbacks" => "webhooks and callbacks",
                "links" => "links",
                "$ref" if read::follow(self.root, &value.plain()).is_some() => continue,
                "$ref" => "field",
                key if is_handled(handled, key, value) => continue,
                _ if self.way == Way::Both => "field",
                key if self.is_covered(key, value) => continue,
                key => rules::keyword(key),
            };
            let mut text = match row {
                "rule" => format!("{key}: {}", value.plain()),
                "field" => json(value),
                _ => value.plain(),
            };
            // Nothing else compares the targets of its references.
            let mut places = BTreeSet::new();
            if key != "webhooks" {
                read::references(self.root, value, &mut places);
            }
            for node in places.iter().filter_map(|it| self.root.pointer(it)) {
                text += &json(&bare(node));
            }
            self.add_text(row, leaf, key, text);
        }
    }
}

pub(super) fn json(node: &Node) -> String {
    serde_json::to_string(node).unwrap_or_default()
}

pub(super) fn bare(node: &Node) -> Node {
    match node {
        Node::Object(fields) => {
            let fields = fields.iter().filter(|it| !is_read_by_people(it.0));
            Node::Object(fields.map(|(key, it)| (key.clone(), bare(it))).collect())
        }
        Node::List(items) => Node::List(items.iter().map(bare).collect()),
        other => other.clone(),
    }
}
