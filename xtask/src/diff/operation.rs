//! Documents, operations and messages as parts.

use std::collections::BTreeSet;

use super::part::{
    Access, Child, Leaf, Part, Sort, Value, is_one_of, is_read_by_people, json, template,
};
use crate::names;
use crate::node::Node;
use crate::read;

const METHODS: &str = "get post put patch delete head options trace";

impl<'a> Part<'a> {
    pub(super) fn document(&mut self, root: &'a Node, leaf: &Leaf<'a>) {
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
    pub(super) fn operation(&mut self, root: &'a Node, leaf: &Leaf<'a>, child: &Child<'a>) {
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
    pub(super) fn message(&mut self, root: &'a Node, leaf: &Leaf<'a>, sort: Sort) {
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

    pub(super) fn scheme(&mut self, leaf: &Leaf<'a>) {
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
    let path = node.items().first().map(read::base_path);
    (place, path.unwrap_or_default())
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
