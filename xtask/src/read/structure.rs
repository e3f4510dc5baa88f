//! Facts about a raw schema, such as the targets of its references, the schemas that it merges, its JSON type, and whether it
//! may be null. Both the reader and the view for progenitor use this module.

use std::collections::{BTreeSet, HashSet};

use percent_encoding::percent_decode_str;

use crate::assumptions;
use crate::findings::Findings;
use crate::node::{Node, step};

/// Keywords that do not determine the type of a value. `is_nullable` reads whether it may be null.
pub(super) const ANNOTATIONS: &[&str] = &[
    "title",
    "description",
    "default",
    "example",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "nullable",
    "externalDocs",
    "xml",
    "$comment",
    "$schema",
    "$id",
    "$anchor",
    "summary",
];

pub(super) fn is_annotation(key: &str) -> bool {
    ANNOTATIONS.contains(&key) || key.starts_with("x-") && key != "x-known-values"
}

/// A schema that an `allOf` merges, without its own `allOf`. The schema has a `$ref` only if its reference has no target.
pub(super) struct Leaf {
    pub(super) schema: Node,
    pub(super) place: String,
}

/// The schemas that an `allOf` merges, without duplicates. `None` if it contains itself.
pub(super) fn leaves(root: &Node, schema: &Node, place: &str) -> Option<Vec<Leaf>> {
    let all = merged(root, schema, place)?.into_iter();
    let leaves = all.map(|(place, schema)| {
        let target = schema.text_at("$ref").map(|it| follow(root, it));
        let dropped: &[&str] = match target {
            Some(None) => &["allOf"],
            _ => &["allOf", "$ref"],
        };
        let schema = without(schema, dropped);
        Leaf { schema, place }
    });
    let is_telling = |it: &Leaf| !it.schema.members().all(|(key, _)| is_annotation(key));
    Some(leaves.filter(is_telling).collect())
}

/// The schemas that `$ref` and `allOf` merge, then the schema itself, each once. `None` if it contains itself.
pub(crate) fn merged<'a>(
    root: &'a Node,
    schema: &'a Node,
    place: &str,
) -> Option<Vec<(String, &'a Node)>> {
    let mut search = Search {
        root,
        within: Vec::new(),
        done: HashSet::new(),
        found: Vec::new(),
    };
    search
        .visit(schema, place.to_owned())
        .then_some(search.found)
}

struct Search<'a> {
    root: &'a Node,
    /// The places on the way to the current schema.
    within: Vec<String>,
    /// The places that were already merged.
    done: HashSet<String>,
    found: Vec<(String, &'a Node)>,
}

impl<'a> Search<'a> {
    /// Adds the schemas that a schema merges. Returns false if it contains itself.
    fn visit(&mut self, schema: &'a Node, place: String) -> bool {
        if self.within.contains(&place) {
            return false;
        }
        if !self.done.insert(place.clone()) {
            return true;
        }
        self.within.push(place.clone());
        let branches = schema.at("allOf").items().iter().enumerate();
        let mut branches =
            branches.map(|(at, it)| (step(&step(&place, "allOf"), &at.to_string()), it));
        let target = schema.text_at("$ref").and_then(|it| follow(self.root, it));
        let is_fine = branches.all(|(place, branch)| self.visit(branch, place))
            && target.is_none_or(|(place, target)| self.visit(target, place));
        self.within.pop();
        self.found.push((place, schema));
        is_fine
    }
}

/// The meaningful branches of an `allOf`, with their indices. A branch that is only an `object` adds nothing to other branches.
pub(super) fn telling(schema: &Node) -> Vec<(usize, &Node)> {
    let branches = schema.at("allOf").items().iter().enumerate();
    let telling: Vec<_> = branches.filter(|(_, it)| !says_nothing(it)).collect();
    let is_bare =
        |it: &Node| type_of(it) == Some("object") && says_nothing(&without(it, &["type"]));
    let (bare, others): (Vec<_>, Vec<_>) = telling.into_iter().partition(|(_, it)| is_bare(it));
    if others.is_empty() { bare } else { others }
}

/// Whether the branches of `oneOf` or `anyOf` only define which fields occur together.
pub(super) fn is_of_rules(schema: &Node, key: &str) -> bool {
    let is_rule = |branch: &Node| {
        let of_rule = |key: &str| key == "required" || key == "not" || is_annotation(key);
        branch.members().all(|(key, _)| of_rule(key)) && !says_nothing(branch)
    };
    let mut branches = schema.at(key).items().iter().filter(|it| !is_null(it));
    branches.all(is_rule)
}

/// A schema that merges two schemas.
pub(super) fn both(one: &Node, other: &Node) -> Node {
    let branches = Node::List(vec![one.clone(), other.clone()]);
    Node::Object([("allOf".to_owned(), branches)].into_iter().collect())
}

pub(super) fn without(schema: &Node, keys: &[&str]) -> Node {
    let kept = schema
        .members()
        .filter(|(key, _)| !keys.contains(&key.as_str()));
    Node::Object(
        kept.map(|(key, value)| (key.clone(), value.clone()))
            .collect(),
    )
}

/// Whether a schema has only annotations.
pub(super) fn says_nothing(schema: &Node) -> bool {
    let is_rule = |(key, _): (&String, &Node)| !is_annotation(key);
    !schema.members().any(is_rule) && !is_nullable(schema)
}

/// The place of a reference's target, and the target.
pub(crate) fn follow<'a>(root: &'a Node, reference: &str) -> Option<(String, &'a Node)> {
    let place = reference.strip_prefix('#')?;
    // Some tools escape spaces and brackets.
    let place = percent_decode_str(place).decode_utf8_lossy().into_owned();
    if !place.is_empty() && !place.starts_with('/') {
        // The name of an anchor.
        return None;
    }
    root.pointer(&place).map(|node| (place, node))
}

/// A part of a document or the target of its reference, with its place. A reference without a target is rejected.
pub(super) fn resolved<'a>(
    root: &'a Node,
    (place, node): (String, &'a Node),
    findings: &mut Findings,
) -> Option<(String, &'a Node)> {
    let mut found = (place.clone(), node);
    // The maximum length of a chain of references.
    for _ in 0..16 {
        let Some(reference) = found.1.text_at("$ref") else {
            return Some(found);
        };
        let Some(target) = follow(root, reference) else {
            break;
        };
        found = target;
    }
    let rule = "its `$ref` has no target in this document";
    findings.reject(&place, rule, "correct it in the overlay");
    None
}

/// Adds the places that a part of a document references, directly or indirectly.
pub(crate) fn references(root: &Node, node: &Node, found: &mut BTreeSet<String>) {
    let target = node.text_at("$ref").and_then(|it| follow(root, it));
    if let Some((place, target)) = target
        && found.insert(place)
    {
        references(root, target, found);
    }
    for (_, inner) in node.members() {
        references(root, inner, found);
    }
    for inner in node.items() {
        references(root, inner, found);
    }
}

/// All assumptions of an operation, including the assumptions of all parts that it references.
pub(crate) fn assumptions_of(document: &Node, operation: &Node) -> BTreeSet<String> {
    let mut places = BTreeSet::new();
    references(document, operation, &mut places);
    let parts = places.iter().filter_map(|it| document.pointer(it));
    parts.chain([operation]).flat_map(assumptions::of).collect()
}

/// The path of a server's URL, with the defaults of its variables.
pub(crate) fn base_path(server: &Node) -> String {
    let mut url = server.text_at("url").unwrap_or_default().to_owned();
    for (name, variable) in server.at("variables").members() {
        url = url.replace(&format!("{{{name}}}"), &variable.at("default").plain());
    }
    let path = match url.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("", |it| &rest[it..]),
        None => &url,
    };
    path.trim_end_matches('/').to_owned()
}

/// Whether null is allowed, in any notation.
pub(crate) fn is_nullable(schema: &Node) -> bool {
    let types = schema.at("type").items();
    let mut branches = schema.at("oneOf").items().iter();
    let mut others = schema.at("anyOf").items().iter();
    is_null(schema)
        || schema.is_set("nullable")
        || types.iter().any(|kind| kind.text() == Some("null"))
        || schema.at("enum").items().iter().any(Node::is_null)
        || branches.any(is_null)
        || others.any(is_null)
}

/// Whether a branch allows only null.
pub(crate) fn is_null(branch: &Node) -> bool {
    branch.text_at("type") == Some("null")
        || branch.get("const").is_some_and(Node::is_null)
        || matches!(branch.at("enum").items(), [only] if only.is_null())
        || branch.is_set("nullable") && branch.members().count() == 1
}

/// The only JSON type of a schema besides null.
pub(super) fn type_of(schema: &Node) -> Option<&'static str> {
    const ALL: [&str; 6] = ["object", "array", "string", "integer", "number", "boolean"];
    let types = schema.at("type").texts();
    let mut some = types.iter().filter(|it| *it != "null");
    match (some.next(), some.next()) {
        (Some(one), None) => ALL.into_iter().find(|it| it == one),
        (None, _) => inferred(schema),
        (Some(one), Some(other))
            if one != other
                && [one, other]
                    .iter()
                    .all(|it| matches!(it.as_str(), "integer" | "number")) =>
        {
            Some("number")
        }
        _ => None,
    }
}

/// The type that a schema's other keywords imply.
pub(crate) fn inferred(schema: &Node) -> Option<&'static str> {
    let has = |keys: &[&str]| keys.iter().any(|key| schema.get(key).is_some());
    if has(&[
        "properties",
        "additionalProperties",
        "minProperties",
        "maxProperties",
    ]) {
        Some("object")
    } else if has(&[
        "items",
        "prefixItems",
        "minItems",
        "maxItems",
        "uniqueItems",
    ]) {
        Some("array")
    } else if has(&["pattern", "minLength", "maxLength"])
        || matches!(
            schema.text_at("format"),
            Some("date" | "date-time" | "uuid" | "uri" | "email")
        )
    {
        Some("string")
    } else if has(&["minimum", "maximum", "multipleOf"]) {
        Some("number")
    } else {
        None
    }
}
