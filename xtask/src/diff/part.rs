//! A document as parts: each has facts and further parts, references followed. Each field is a fact, a part, for people, or
//! unknown; none is left out.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use super::rules::{self, Way};
use crate::names;
use crate::node::{Node, step};

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

const METHODS: &str = "get post put patch delete head options trace";

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
        let place = self.node.text_at("$ref")?.strip_prefix('#')?.to_owned();
        root.pointer(&place).map(|node| Self { place, node })
    }

    /// What it stands for, however many references follow each other.
    pub(super) fn resolved(mut self, root: &'a Node) -> Self {
        for _ in 0..16 {
            self = self.target(root).unwrap_or(self);
        }
        self
    }

    /// The last step of its place.
    fn name(&self) -> String {
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

    fn known_as(self, alias: String) -> Self {
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

    fn said(&mut self, row: &'static str, leaf: &Leaf<'a>, key: &str, text: impl Into<String>) {
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

    fn document(&mut self, root: &'a Node, leaf: &Leaf<'a>) {
        let about = "x-lifecycle x-metadata-operation x-runtime-status x-shows-envelope";
        for (key, field) in leaf
            .each("info")
            .into_iter()
            .filter(|it| is_one_of(&it.0, about))
        {
            self.add(
                "about the service",
                &key,
                field.place,
                Value::Said(field.node.plain()),
            );
        }
        for (path, item) in leaf
            .each("paths")
            .into_iter()
            .filter(|it| it.0.starts_with('/'))
        {
            let item = item.resolved(root);
            for method in METHODS.split(' ') {
                let Some(own) = item.at(method) else { continue };
                let id = own.node.text_at("operationId").map(names::camel);
                let shown = format!("{} {path}", method.to_uppercase());
                let alias = id.unwrap_or_default();
                let leaves = vec![own, item.clone()];
                let (_, below) = served(root, &leaves);
                let route = template(&format!("{} {below}{path}", method.to_uppercase()));
                let child = Child::of(Sort::Operation, "operation", shown, leaves);
                self.child(
                    route.clone(),
                    Child {
                        alias,
                        route,
                        ..child
                    },
                );
            }
        }
        let components = leaf.at("components");
        for (name, leaf) in components.iter().flat_map(|it| it.each("securitySchemes")) {
            let (alias, key) = (kind(leaf.node), format!("scheme {name}"));
            let child = Child::of(Sort::Scheme, "security scheme", name, vec![leaf]);
            self.child(key, child.known_as(alias));
        }
    }

    /// An operation, or the path item around it, whose parameters count where it has none of the same name.
    fn operation(&mut self, root: &'a Node, leaf: &Leaf<'a>, child: &Child<'a>) {
        for (_, raw) in leaf.each("parameters") {
            let found = raw.resolved(root);
            let text = |key| found.node.text_at(key).unwrap_or_default().to_owned();
            let (within, name, required) =
                (text("in"), text("name"), found.node.is_set("required"));
            let path = leaf.place.replace("~1", "/");
            let before = path
                .split(&format!("{{{name}}}"))
                .next()
                .unwrap_or_default();
            let known = match within.as_str() {
                "path" => before.matches('{').count().to_string(),
                "header" => name.to_lowercase(),
                _ => name.clone(),
            };
            let row = match (known.as_str(), required) {
                ("idempotency-key", true) => "idempotency key",
                (_, true) => "required parameter",
                (_, false) => "parameter",
            };
            let shown = format!("{within} {name}");
            let child = Child::of(Sort::Parameter, row, shown, vec![found]).needed(required);
            let key = format!("{within} {known}");
            self.children.entry(key).or_insert(child);
        }
        if child.leaves[0].place != leaf.place {
            return;
        }
        let (place, below) = served(root, &child.leaves);
        self.add("server path", "", place, Value::Said(below));
        self.said("operation", leaf, "", child.shown.as_str());
        for (key, row) in [
            ("operationId", "id"),
            ("x-replay-status", "replay status"),
            ("x-mutually-exclusive", "exclusive parameters"),
        ] {
            if let Some(field) = leaf.node.get(key) {
                let text = field.plain();
                self.said(
                    row,
                    leaf,
                    key,
                    if row == "id" {
                        names::camel(&text)
                    } else {
                        text
                    },
                );
            }
        }
        let security = leaf.node.get("security").or_else(|| root.get("security"));
        if let Some(security) = security {
            let access = Value::Access(alternatives(root, security));
            self.fact("authentication", leaf, "security", access);
        }
        if let Some(raw) = leaf.at("requestBody") {
            let body = raw.resolved(root);
            let required = body.node.is_set("required");
            let row = if required { "required body" } else { "body" };
            let child = Child::of(Sort::Body, row, "body".to_owned(), vec![body]);
            self.child("body".to_owned(), child.needed(required));
        }
        let replies = leaf
            .each("responses")
            .into_iter()
            .filter(|it| !is_read_by_people(&it.0));
        let replies: Vec<_> = replies
            .map(|(status, it)| (status, it.resolved(root)))
            .collect();
        for (status, reply) in &replies {
            let content = |it: &Leaf<'a>| it.node.get("content");
            let mut others = replies
                .iter()
                .filter(|it| it.0 != *status && it.0.starts_with('2'));
            let row = match status.starts_with('2') {
                true if others.clone().next().is_none() => "only success",
                true if others.any(|it| content(&it.1) == content(reply)) => "success alike",
                true => "success",
                false => "error",
            };
            let shown = format!("reply {status}");
            let child = Child::of(Sort::Reply, row, shown.clone(), vec![reply.clone()]);
            self.child(shown, child);
        }
    }

    /// A parameter, a body, a reply, a header, or what one of them contains.
    fn message(&mut self, root: &'a Node, leaf: &Leaf<'a>, sort: Sort) {
        for (media, content) in leaf.each("content") {
            let child = Child::of(Sort::Media, "media type", String::new(), vec![content]);
            // One that is the only one may have another name.
            self.child(format!("media {media}"), child.known_as("media".to_owned()));
        }
        for (name, header) in leaf.each("headers") {
            let header = header.resolved(root);
            let (key, shown) = (
                format!("header {}", name.to_lowercase()),
                format!("header {name}"),
            );
            let required = header.node.is_set("required");
            let child = Child::of(Sort::Header, "reply header", shown, vec![header]);
            self.child(key, child.needed(required));
        }
        if sort == Sort::Parameter && leaf.node.text_at("in") == Some("path") {
            self.said("path parameter", leaf, "name", leaf.node.at("name").plain());
        }
        if sort == Sort::Media {
            self.said("media type", leaf, "", leaf.name());
        }
        let Some(schema) = leaf.at("schema") else {
            return;
        };
        let child = Child::schema(root, &schema);
        let kinds = Self::outline(root, &child).kinds();
        if sort == Sort::Parameter && kinds.iter().any(|it| it == "array" || it == "object") {
            // How its items are written, whether said or not.
            let is_query = matches!(leaf.node.text_at("in"), Some("query" | "cookie"));
            let usual = if is_query { "form" } else { "simple" };
            let style = leaf.node.text_at("style").unwrap_or(usual);
            let explode = leaf.node.get("explode");
            let exploded = explode.map_or(style == "form", |it| *it == Node::Bool(true));
            self.said(
                "style",
                leaf,
                "style",
                format!("{style}, exploded: {exploded}"),
            );
        }
        self.child("schema".to_owned(), child);
    }

    fn scheme(&mut self, leaf: &Leaf<'a>) {
        self.said("authentication", leaf, "", kind(leaf.node));
        for (flow, node) in leaf.node.at("flows").members() {
            for (key, value) in node.members().filter(|it| !is_read_by_people(it.0)) {
                if key == "scopes" {
                    let scopes: Vec<&str> = value.members().map(|it| it.0.as_str()).collect();
                    self.said("security scheme", leaf, flow, scopes.join(" "));
                    continue;
                }
                let url = value.plain();
                // The host of ours is a placeholder.
                let path = url.split_once(".invalid").map_or(url.as_str(), |it| it.1);
                self.said("token address", leaf, &format!("{flow} {key}"), path);
            }
        }
    }
}

/// Where the first server of an operation stands, and the path below which it serves.
fn served(root: &Node, leaves: &[Leaf<'_>]) -> (String, String) {
    let own = leaves.iter().find_map(|it| it.at("servers"));
    let (place, node) = own.map_or(("/servers".to_owned(), root.at("servers")), |it| {
        (it.place, it.node)
    });
    let server = node.items().first();
    let mut url = server
        .and_then(|it| it.text_at("url"))
        .unwrap_or_default()
        .to_owned();
    for (name, variable) in server
        .into_iter()
        .flat_map(|it| it.at("variables").members())
    {
        url = url.replace(&format!("{{{name}}}"), &variable.at("default").plain());
    }
    let (_, rest) = url.split_once("://").unwrap_or_default();
    let path = if url.contains("://") {
        rest.find('/').map_or("", |it| &rest[it..])
    } else {
        &url
    };
    (place, path.trim_end_matches('/').to_owned())
}

/// How callers may authenticate.
fn alternatives(root: &Node, security: &Node) -> Access {
    let schemes = root.at("components").at("securitySchemes");
    let of = |(name, _): (&String, &Node)| schemes.get(name).map_or_else(|| name.clone(), kind);
    let all = security.items().iter().map(|it| {
        let mut kinds: BTreeSet<String> = it.members().map(of).collect();
        kinds.extend(it.object().is_none().then(|| json(it)));
        let scopes = it.members().flat_map(|it| it.1.texts()).collect();
        (kinds.into_iter().collect::<Vec<_>>().join(" and "), scopes)
    });
    let mut all: Access = all.collect();
    if all.is_empty() {
        all.insert((String::new(), BTreeSet::new()));
    }
    all
}

/// What a security scheme is.
fn kind(scheme: &Node) -> String {
    let text = |key| scheme.text_at(key).unwrap_or_default().to_lowercase();
    match (&*text("type"), &*text("scheme")) {
        ("oauth2" | "openidconnect", _) | ("http", "bearer") => "a bearer token".to_owned(),
        ("http", scheme) => scheme.to_owned(),
        ("apikey", _) => format!(
            "an API key in the {} {}",
            text("in"),
            scheme.at("name").plain()
        ),
        (other, _) => other.to_owned(),
    }
}

/// A value as JSON.
pub(super) fn json(node: &Node) -> String {
    serde_json::to_string(node).unwrap_or_default()
}
