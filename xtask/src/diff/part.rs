//! A document as parts: each has facts and further parts, references followed. Each field is a fact, a part, for people, or
//! unknown; none is left out.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use super::rules::{self, Way};
use crate::node::{Node, step};
use crate::read;

/// A part as it is written, and where.
#[derive(Clone)]
pub(super) struct Leaf<'a> {
    pub(super) place: String,
    pub(super) node: &'a Node,
}

/// Alternatives of how to authenticate, each with the scopes that it asks for.
pub(super) type Access = BTreeSet<(String, BTreeSet<String>)>;

/// Values in JSON, whether there may be others, and whether it is but one for ever.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Values {
    pub(super) all: BTreeSet<String>,
    pub(super) open: bool,
    pub(super) constant: bool,
}

/// What a fact states.
#[derive(Debug, PartialEq)]
pub(super) enum Value {
    Said(String),
    /// What admits more if it is true.
    Wide(bool),
    /// A number, whether it is the lower bound, and whether it is excluded itself.
    Bound(f64, bool, bool),
    /// Types; none is any.
    Kinds(BTreeSet<String>),
    Values(Values),
    Access(Access),
    /// Of a field that nobody knows.
    Unknown(String),
}

pub(super) struct Fact {
    pub(super) row: &'static str,
    pub(super) place: String,
    pub(super) value: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Document,
    Operation,
    Parameter,
    Body,
    Media,
    Reply,
    Header,
    Schema,
    Scheme,
}

/// A part of a part, before it is taken apart.
#[derive(Clone)]
pub(super) struct Child<'a> {
    pub(super) sort: Sort,
    /// The rule for one that is new or gone.
    pub(super) row: &'static str,
    pub(super) shown: String,
    /// What it is known by where its name changes.
    pub(super) alias: String,
    /// The method and the whole path of an operation, without the names of parameters.
    pub(super) route: String,
    pub(super) required: Option<bool>,
    /// All that it must match at once; any value, if there is none.
    pub(super) leaves: Vec<Leaf<'a>>,
}

/// What leads from a part to one of its own.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) sort: Sort,
    pub(super) shown: String,
}

#[derive(Default)]
pub(super) struct Part<'a> {
    pub(super) facts: BTreeMap<String, Fact>,
    pub(super) children: IndexMap<String, Child<'a>>,
}

/// Fields for people.
const READ: &str =
    "title description summary example examples externalDocs $comment $schema $id $anchor";

/// Fields that parts are made of, by sort.
fn handled(sort: Sort) -> &'static str {
    match sort {
        Sort::Document => "openapi info tags paths components security",
        Sort::Operation => {
            "operationId tags deprecated security parameters requestBody responses $ref \
             get post put patch delete head options trace"
        }
        Sort::Parameter => "name in required deprecated style explode schema content $ref",
        Sort::Header => "required deprecated style explode schema content $ref",
        Sort::Body => "required content $ref",
        Sort::Reply => "content headers $ref",
        Sort::Media => "schema",
        Sort::Scheme => "type scheme in name flows bearerFormat",
        Sort::Schema => {
            "$ref $defs definitions allOf oneOf anyOf nullable deprecated readOnly writeOnly type required properties \
             minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength minItems maxItems minProperties \
             maxProperties additionalProperties items enum const"
        }
    }
}

/// Fields that hold a flag, a text, a list, an object.
const TYPES: [&str; 4] = [
    "nullable deprecated readOnly writeOnly explode",
    "$ref name in style operationId scheme",
    "parameters security allOf oneOf anyOf enum",
    "paths components requestBody responses content headers schema flows properties items",
];

pub(super) fn is_one_of(key: &str, words: &str) -> bool {
    words.split(' ').any(|it| it == key)
}

/// Whether a field says nothing to a program.
pub(super) fn is_read_by_people(key: &str) -> bool {
    key.starts_with("x-") || is_one_of(key, READ)
}

/// Whether a field holds what it should; one that does not is read as if it was not there.
fn is_of_its_type(key: &str, value: &Node) -> bool {
    let own = match value {
        Node::Bool(_) => 0,
        Node::Text(_) => 1,
        Node::List(_) if key == "additionalProperties" => return false,
        Node::List(_) => 2,
        Node::Object(_) => 3,
        _ => 4,
    };
    let mut others = TYPES.iter().enumerate().filter(|it| it.0 != own);
    !others.any(|it| is_one_of(key, it.1))
}

/// A path without the names of its parameters.
pub(super) fn template(path: &str) -> String {
    let parts = path
        .split('{')
        .map(|it| it.rsplit('}').next().unwrap_or(it));
    parts.collect::<Vec<_>>().join("{}")
}

impl<'a> Leaf<'a> {
    /// A field of it.
    pub(super) fn at(&self, key: &str) -> Option<Self> {
        let place = step(&self.place, key);
        self.node.get(key).map(|node| Self { place, node })
    }

    /// The members or the items of a field.
    pub(super) fn each(&self, key: &str) -> Vec<(String, Self)> {
        let Some(field) = self.at(key) else {
            return Vec::new();
        };
        let members = field
            .node
            .members()
            .map(|(name, node)| (name.clone(), node));
        let items = field.node.items().iter().enumerate();
        let all = members.chain(items.map(|(at, node)| (at.to_string(), node)));
        let leaf = |(name, node): (String, &'a Node)| {
            let place = step(&field.place, &name);
            (name, Self { place, node })
        };
        all.map(leaf).collect()
    }

    /// Where a field of it stands or could stand.
    pub(super) fn place(&self, key: &str) -> String {
        self.at(key)
            .map_or_else(|| self.place.clone(), |it| it.place)
    }

    /// What its `$ref` points to.
    pub(super) fn target(&self, root: &'a Node) -> Option<Self> {
        let (place, node) = read::follow(root, self.node.text_at("$ref")?)?;
        Some(Self { place, node })
    }

    /// What it stands for, however many references follow each other.
    pub(super) fn resolved(mut self, root: &'a Node) -> Self {
        for _ in 0..16 {
            self = self.target(root).unwrap_or(self);
        }
        self
    }

    /// The last step of its place.
    pub(super) fn name(&self) -> String {
        let name = self.place.rsplit('/').next().unwrap_or_default();
        name.replace("~1", "/").replace("~0", "~")
    }
}

impl<'a> Child<'a> {
    pub(super) fn of(sort: Sort, row: &'static str, shown: String, leaves: Vec<Leaf<'a>>) -> Self {
        let (alias, route, required) = (String::new(), String::new(), None);
        Self {
            sort,
            row,
            shown,
            alias,
            route,
            required,
            leaves,
        }
    }

    pub(super) fn document(node: &'a Node) -> Self {
        let place = String::new();
        Self::of(
            Sort::Document,
            "",
            String::new(),
            vec![Leaf { place, node }],
        )
    }

    pub(super) fn known_as(self, alias: String) -> Self {
        Self { alias, ..self }
    }

    pub(super) fn needed(self, required: bool) -> Self {
        Self {
            required: Some(required),
            ..self
        }
    }

    pub(super) fn step(&self) -> Step {
        let (sort, shown) = (self.sort, self.shown.clone());
        Step { sort, shown }
    }

    /// The direction of its values, within a part of the given one.
    pub(super) fn way_within(&self, way: Way) -> Way {
        match self.sort {
            Sort::Parameter | Sort::Body | Sort::Scheme => Way::Request,
            Sort::Reply => Way::Reply,
            _ => way,
        }
    }

    /// Where a field stands or could stand.
    pub(super) fn place(&self, key: &str) -> String {
        let stated = self.leaves.iter().find(|it| it.node.get(key).is_some());
        let leaf = stated.or(self.leaves.last());
        leaf.map(|it| it.place(key)).unwrap_or_default()
    }
}

impl<'a> Part<'a> {
    /// Takes a part apart. Members that stand in the other direction only are left out.
    pub(super) fn of(root: &'a Node, child: &Child<'a>, way: Way) -> Self {
        let mut part = Self::default();
        if let Some(required) = child.required {
            let (place, value) = (child.place("required"), Value::Wide(!required));
            part.add("required", "", place, value);
        }
        for leaf in &child.leaves {
            match child.sort {
                Sort::Document => part.document(root, leaf),
                Sort::Operation => part.operation(root, leaf, child),
                Sort::Schema => part.schema(root, leaf, way),
                Sort::Scheme => part.scheme(leaf),
                _ => part.message(root, leaf, child.sort),
            }
            part.fields(root, leaf, child.sort);
        }
        if child.sort == Sort::Schema {
            part.settle(child);
        }
        part
    }

    pub(super) fn add(&mut self, row: &'static str, key: &str, place: String, value: Value) {
        let fact = Fact { row, place, value };
        self.facts.insert(format!("{row} {key}"), fact);
    }

    pub(super) fn fact(&mut self, row: &'static str, leaf: &Leaf<'a>, key: &str, value: Value) {
        self.add(row, key, leaf.place(key), value);
    }

    pub(super) fn said(
        &mut self,
        row: &'static str,
        leaf: &Leaf<'a>,
        key: &str,
        text: impl Into<String>,
    ) {
        self.fact(row, leaf, key, Value::Said(text.into()));
    }

    pub(super) fn child(&mut self, key: String, child: Child<'a>) {
        self.children.insert(key, child);
    }

    /// Fields that are compared as they are written, and those that nobody knows.
    fn fields(&mut self, root: &'a Node, leaf: &Leaf<'a>, sort: Sort) {
        if leaf.node.object().is_none() {
            self.fact("field", leaf, "", Value::Unknown(json(leaf.node)));
        }
        if leaf.node.is_set("deprecated") {
            self.said("deprecated", leaf, "deprecated", "");
        }
        for (key, value) in leaf.node.members() {
            let row = match (sort, key.as_str()) {
                _ if is_read_by_people(key) => continue,
                _ if is_one_of(key, handled(sort)) => {
                    let dangles = key == "$ref" && leaf.target(root).is_none();
                    if is_of_its_type(key, value) && !dangles {
                        continue;
                    }
                    None
                }
                (_, "servers") => Some("server"),
                (_, "webhooks" | "callbacks") => Some("calls to you"),
                (_, "links") => Some("links"),
                (Sort::Schema, "uniqueItems") if *value == Node::Bool(false) => continue,
                (Sort::Schema, _) => rules::keyword(key),
                _ => None,
            };
            match row {
                Some("rule") => self.said("rule", leaf, key, format!("{key}: {}", value.plain())),
                Some(row) => self.said(row, leaf, key, value.plain()),
                None => self.fact("field", leaf, key, Value::Unknown(json(value))),
            }
        }
    }
}

/// A value as JSON.
pub(super) fn json(node: &Node) -> String {
    serde_json::to_string(node).unwrap_or_default()
}
