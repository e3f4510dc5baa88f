//! Flattened documents, operations and security schemes.

use std::collections::BTreeSet;

use super::flat::{Flat, Leaf, is_read_by_people, json};
use super::rules::Way;
use super::schema::gather;
use super::value::{ANONYMOUS, Access, Value, join};
use crate::names;
use crate::node::{Node, step};
use crate::read;

/// The handled fields, with their required JSON types.
const DOCUMENT: &str = "openapi info tags paths:object components:object security:list";
const OPERATION: &str = "operationId:text tags deprecated:flag security:list parameters:list requestBody:object \
                         responses:object get post put patch delete head options trace";
const SCHEME: &str = "type scheme:text in:text name:text flows:object bearerFormat";
/// The handled fields of parameters and headers.
const VALUE: &str = "name:text in:text required:flag deprecated:flag style:text explode:flag schema:object content:object";
const BODY: &str = "required:flag content:object";
const REPLY: &str = "content:object headers:object";
const MEDIA: &str = "schema:object";

const METHODS: [&str; 8] = [
    "get", "post", "put", "patch", "delete", "head", "options", "trace",
];

/// The extensions that describe a service.
const ABOUT: &str = "x-lifecycle x-metadata-operation x-runtime-status x-documents-envelope";

/// An operation with the path item around it, or a security scheme.
pub(super) struct Top<'a> {
    /// The row of its rule.
    pub(super) row: &'static str,
    /// `POST /invoices`, or a name.
    pub(super) shown: String,
    /// The keys that pair it with its counterpart, the best key first.
    pub(super) known: Vec<String>,
    pub(super) leaves: Vec<Leaf<'a>>,
}

/// A path without the names of its parameters.
fn template(path: &str) -> String {
    let parts = path.split('{');
    let parts = parts.map(|it| it.rsplit('}').next().unwrap_or(it));
    parts.collect::<Vec<_>>().join("{}")
}

pub(super) fn tops(root: &Node) -> Vec<Top<'_>> {
    let mut tops = Vec::new();
    let [document, components] = ["", "/components"].map(|place| Leaf {
        place: place.to_owned(),
        node: root.pointer(place).unwrap_or(&Node::Null),
    });
    for (path, item) in document.each("paths") {
        let item = item.resolved(root);
        let methods = METHODS.map(|it| (it, item.at(it)));
        for (method, own) in methods.into_iter().filter(|_| path.starts_with('/')) {
            let Some(own) = own else { continue };
            let method = method.to_uppercase();
            let id = own.node.text_at("operationId").unwrap_or_default();
            let id = names::camel(id);
            let leaves = vec![own, item.clone()];
            let (_, below) = served(root, &leaves);
            let whole = template(&format!("{method} {below}{path}"));
            let shown = format!("{method} {path}");
            tops.push(Top {
                row: "operation",
                known: vec![whole, template(&shown), id],
                shown,
                leaves,
            });
        }
    }
    for (name, leaf) in components.each("securitySchemes") {
        tops.push(Top {
            row: "security scheme",
            known: vec![format!("scheme {name}"), kind(leaf.node)],
            shown: name,
            leaves: vec![leaf],
        });
    }
    tops
}

impl<'a> Top<'a> {
    /// Flattens it next to the old operation.
    pub(super) fn flat(&self, root: &'a Node, old: &Top<'_>, is_moved: bool) -> Flat<'a> {
        match self.row {
            "operation" => Flat::operation(root, self, old, is_moved),
            _ => Flat::scheme(root, &self.leaves[0]),
        }
    }
}

impl<'a> Flat<'a> {
    pub(super) fn document(root: &'a Node) -> Self {
        let mut flat = Self::of(root, Way::Both, "");
        let (place, node) = (String::new(), root);
        let leaf = Leaf { place, node };
        for (key, field) in leaf.each("info") {
            if ABOUT.split(' ').any(|it| it == key) {
                flat.add_text("service metadata", &field, &key, field.node.plain());
            }
        }
        flat.fields(&leaf, DOCUMENT);
        flat
    }

    fn operation(root: &'a Node, top: &Top<'a>, old: &Top<'_>, is_moved: bool) -> Self {
        let own = &top.leaves[0];
        let mut flat = Self::of(root, Way::Both, &own.place);
        // If the full path is the same, the length of the server's part doesn't matter.
        if is_moved {
            let (place, below) = served(root, &top.leaves);
            flat.add("server path", "", place, Value::Text(below));
            flat.add_text("operation", own, "", top.shown.as_str());
        }
        if let Some(id) = own.node.text_at("operationId") {
            flat.add_text("id", own, "operationId", names::camel(id));
        }
        for (row, key) in [
            ("replay status", "x-replay-status"),
            ("exclusive parameters", "x-mutually-exclusive"),
        ] {
            if let Some(value) = own.node.get(key) {
                flat.add_text(row, own, key, value.plain());
            }
        }
        let security = own.node.get("security").or_else(|| root.get("security"));
        if let Some(security) = security {
            let access = Value::Access(alternatives(root, security));
            flat.add("authentication", "", own.place("security"), access);
        }
        for leaf in &top.leaves {
            flat.fields(leaf, OPERATION);
        }
        for (_, raw) in top.leaves.iter().flat_map(|it| it.each("parameters")) {
            flat.parameter(&raw.resolved(root), [&top.shown, &old.shown]);
        }
        if let Some(body) = own.at("requestBody") {
            let body = body.resolved(root);
            let required = body.node.is_set("required");
            let row = if required { "required body" } else { "body" };
            flat.part(row, "/body", &body, Some(required), BODY);
        }
        let replies = own.each("responses").into_iter();
        let replies = replies.filter(|it| !is_read_by_people(&it.0));
        let replies: Vec<_> = replies.map(|it| (it.0, it.1.resolved(root))).collect();
        let successes = replies.iter().filter(|it| it.0.starts_with('2'));
        for (status, reply) in &replies {
            let mut others = successes.clone().filter(|it| it.0 != *status).peekable();
            let content = reply.node.get("content");
            let row = match status.starts_with('2') {
                false => "error",
                true if others.peek().is_none() => "only success",
                true if others.any(|it| it.1.node.get("content") == content) => "equal success",
                true => "success",
            };
            flat.part(row, &format!("/response {status}"), reply, None, REPLY);
        }
        flat
    }

    /// Adds a parameter. A path parameter uses its old name, because names of path parameters are never sent.
    fn parameter(&mut self, leaf: &Leaf<'a>, [own, path]: [&str; 2]) {
        let text = |key| leaf.node.text_at(key).unwrap_or_default();
        let (within, mut name) = (text("in"), text("name").to_owned());
        if within == "path" {
            let before = own.split(&format!("{{{name}}}")).next();
            let nth = before.unwrap_or_default().matches('{').count() + 1;
            let known = path.split('{').nth(nth).and_then(|it| it.split('}').next());
            name = known.map_or(name, str::to_owned);
        } else if within == "header" {
            name = name.to_lowercase();
        }
        let at = step("", &format!("{within} {name}"));
        if self.facts.contains_key(&(at.clone(), "", String::new())) {
            return;
        }
        let required = leaf.node.is_set("required");
        let row = match (&*name, required) {
            ("idempotency-key", true) => "idempotency key",
            (_, true) => "required parameter",
            (_, false) => "parameter",
        };
        self.part(row, &at, leaf, Some(required), VALUE);
    }

    /// Adds a parameter, a body, a response or a header, with its contents.
    fn part(
        &mut self,
        row: &'static str,
        at: &str,
        leaf: &Leaf<'a>,
        required: Option<bool>,
        handled: &str,
    ) {
        let around = std::mem::replace(&mut self.at, at.to_owned());
        self.present(row, &leaf.place, required);
        self.fields(leaf, handled);
        let within = leaf.node.text_at("in");
        if within == Some("path") {
            self.add_text("path parameter", leaf, "name", leaf.node.at("name").plain());
        }
        for (name, header) in leaf.each("headers") {
            let header = header.resolved(self.root);
            let required = header.node.is_set("required");
            let at = step(at, &format!("header {}", name.to_lowercase()));
            self.part("response header", &at, &header, Some(required), VALUE);
        }
        // JSON with another media type is paired with JSON.
        let contents = leaf.each("content");
        let is_json = |name: &str| contents.iter().position(|it| it.0.contains(name));
        let json = is_json("application/json")
            .or(is_json("json"))
            .or(is_json("*"));
        for (nth, (media, content)) in contents.into_iter().enumerate() {
            if json == Some(nth) {
                self.add_text("media type", &content, "", media);
            } else {
                self.at = step(at, &media);
                self.present("media type", &content.place, None);
            }
            self.fields(&content, MEDIA);
            self.contained(&content);
            at.clone_into(&mut self.at);
        }
        if handled == VALUE && leaf.node.get("content").is_none() {
            self.contained(leaf);
        }
        if let Some(within) = within {
            // The style of the value, stated or by default.
            let usual = match within {
                "query" | "cookie" => "form",
                _ => "simple",
            };
            let style = leaf.node.text_at("style").unwrap_or(usual);
            let exploded = leaf
                .node
                .get("explode")
                .map_or(style == "form", |it| *it == Node::Bool(true));
            self.add_text(
                "style",
                leaf,
                "style",
                format!("{style}, exploded: {exploded}"),
            );
        }
        self.at = around;
    }

    /// Adds the schema of a message. Without a schema, any value is allowed.
    fn contained(&mut self, leaf: &Leaf<'a>) {
        let schema = leaf.at("schema").map(|it| gather(self.root, &it));
        let schema = schema.unwrap_or_default();
        self.schemas.insert(self.at.clone(), schema);
    }

    fn scheme(root: &'a Node, leaf: &Leaf<'a>) -> Self {
        let mut flat = Self::of(root, Way::Both, &leaf.place);
        flat.add_text("authentication", leaf, "", kind(leaf.node));
        for (flow, node) in leaf.node.at("flows").members() {
            for (key, value) in node.members().filter(|it| !is_read_by_people(it.0)) {
                if key == "scopes" {
                    let scopes: Vec<&str> = value.members().map(|it| it.0.as_str()).collect();
                    flat.add_text("security scheme", leaf, flow, scopes.join(" "));
                    continue;
                }
                let url = value.plain();
                // The host in our specs is a placeholder.
                let path = url.split_once(".invalid").map_or(url.as_str(), |it| it.1);
                flat.add_text("token URL", leaf, &format!("{flow} {key}"), path);
            }
        }
        flat.fields(leaf, SCHEME);
        flat
    }
}

/// The place of the first server of an operation, and its base path.
fn served(root: &Node, leaves: &[Leaf<'_>]) -> (String, String) {
    let own = leaves.iter().find_map(|it| it.at("servers"));
    let (place, node) = own.map_or(("/servers".to_owned(), root.at("servers")), |it| {
        (it.place, it.node)
    });
    let path = node.items().first().map(read::base_path);
    (place, path.unwrap_or_default())
}

fn alternatives(root: &Node, security: &Node) -> Access {
    let schemes = root.at("components").at("securitySchemes");
    let of = |(name, _): (&String, &Node)| schemes.get(name).map_or_else(|| name.clone(), kind);
    let all = security.items().iter().map(|it| {
        let kinds: BTreeSet<String> = it.members().map(of).collect();
        let scopes = it.members().flat_map(|it| it.1.texts()).collect();
        match it.object() {
            Some(schemes) if schemes.is_empty() => (ANONYMOUS.to_owned(), scopes),
            Some(_) => (join(&kinds, " and "), scopes),
            None => (json(it), scopes),
        }
    });
    let all: Access = all.collect();
    if all.is_empty() {
        return Access::from([(ANONYMOUS.to_owned(), BTreeSet::new())]);
    }
    all
}

fn kind(scheme: &Node) -> String {
    let text = |key| scheme.text_at(key).unwrap_or_default().to_lowercase();
    match (&*text("type"), &*text("scheme")) {
        ("oauth2" | "openidconnect", _) | ("http", "bearer") => "a bearer token".to_owned(),
        ("http", scheme) => scheme.to_owned(),
        ("apikey", _) => {
            let (within, name) = (text("in"), scheme.at("name").plain());
            format!("an API key in the {within} {name}")
        }
        (other, _) => other.to_owned(),
    }
}
