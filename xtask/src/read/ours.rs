//! Our extensions, wherever they stand: a misspelt one, or one in a place where nobody looks, would do nothing and say so
//! to nobody.

use super::operation::SOURCE;
use crate::assumptions;
use crate::findings::Findings;
use crate::names;
use crate::node::{Node, step};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Document,
    Info,
    Path,
    Operation,
    Schema,
    /// A parameter, a body, a reply, a header, a security scheme.
    Other,
}

/// An extension of ours, and where it stands.
#[derive(Debug)]
pub(crate) struct Extension<'a> {
    pub(crate) place: String,
    pub(crate) key: &'a str,
    pub(crate) value: &'a Node,
    kind: Kind,
}

/// What an extension holds, and whether a value is such a thing.
type Holds = (&'static str, fn(&Node) -> bool);

const FLAG: Holds = ("`true` or `false`", |it| matches!(it, Node::Bool(_)));
const TEXT: Holds = ("a text that says something", |it| {
    it.text().is_some_and(|it| !it.trim().is_empty())
});
const SNAKE: Holds = ("a name in snake case and no keyword", |it| {
    it.text().is_some_and(names::is_snake)
});
const PASCAL: Holds = ("a name in Pascal case", |it| {
    it.text()
        .is_some_and(|it| names::is_pascal(it) && it != "Self")
});
const STATUS: Holds = ("a status", |it| it.integer().is_some());
const VALUES: Holds = ("a list of values", |it| !it.items().is_empty());
const PAIRS: Holds = ("a list of pairs of names", |it| {
    let is_pair = |it: &Node| it.items().len() == 2 && it.texts().len() == 2;
    !it.items().is_empty() && it.items().iter().all(is_pair)
});
const IDS: Holds = ("the id of an assumption, or a list of ids", |it| {
    let (ids, count) = (it.texts(), it.items().len().max(1));
    ids.len() == count && ids.iter().all(|it| assumptions::is_id(it))
});

/// Where an extension stands, anywhere if it is nowhere in particular, and what it holds.
fn known(key: &str) -> Option<(Option<Kind>, Holds)> {
    Some(match key {
        "x-sdk-group" | "x-sdk-method" => (Some(Kind::Operation), SNAKE),
        "x-sdk-skip" => (Some(Kind::Operation), TEXT),
        "x-served-from-schema" => (Some(Kind::Operation), FLAG),
        "x-replay-status" => (Some(Kind::Operation), STATUS),
        "x-mutually-exclusive" => (Some(Kind::Operation), PAIRS),
        "x-sdk-name" => (Some(Kind::Schema), PASCAL),
        "x-const" => (Some(Kind::Schema), FLAG),
        "x-known-values" => (Some(Kind::Schema), VALUES),
        "x-type-assumption" => (Some(Kind::Schema), IDS),
        "x-lifecycle" | "x-runtime-status" | "x-metadata-operation" => (Some(Kind::Info), TEXT),
        "x-shows-envelope" => (Some(Kind::Info), FLAG),
        "x-assumption" => (None, IDS),
        "x-provenance" => (None, TEXT),
        _ => return None,
    })
}

/// All in a document, misspelt ones included.
pub(crate) fn standing(document: &Node) -> Vec<Extension<'_>> {
    let mut found = Vec::new();
    walk(document, Kind::Document, "", &mut found);
    found
}

/// Refuses those that would do nothing.
pub(super) fn check(document: &Node, findings: &mut Findings) {
    for it in standing(document) {
        let key = it.key;
        let Some((kind, (what, holds))) = known(key) else {
            let rule = format!("`{key}` is none of our extensions");
            findings.refuse(&it.place, rule, "correct its name in the overlay");
            continue;
        };
        if let Some(kind) = kind.filter(|kind| *kind != it.kind) {
            let kind = format!("{kind:?}").to_lowercase();
            let rule = format!("`{key}` means nothing here");
            findings.refuse(&it.place, rule, format!("it belongs to the {kind}"));
        } else if !holds(it.value) {
            let rule = format!("`{key}` is {what}");
            findings.refuse(&it.place, rule, "correct it in the overlay");
        }
    }
}

/// Notes what a spec of ours should have or should not have.
pub(super) fn conventions(document: &Node, findings: &mut Findings) {
    for (path, item) in document.at("paths").members() {
        for (method, operation) in item.members() {
            let place = step(&step("/paths", path), method);
            let text = operation.text_at("description").unwrap_or_default();
            if operation.get("responses").is_some() && !text.contains(SOURCE) {
                findings.note(&place, format!("its description has no `{SOURCE}...`"));
            }
        }
    }
    extensions(document, "", findings);
}

/// Notes the extensions that nobody knows.
fn extensions(node: &Node, place: &str, findings: &mut Findings) {
    for (key, inner) in node.members() {
        let place = step(place, key);
        if key.starts_with("x-") && known(key).is_none() {
            findings.note(&place, format!("unknown field `{key}`"));
        }
        extensions(inner, &place, findings);
    }
    for (at, inner) in node.items().iter().enumerate() {
        extensions(inner, &format!("{place}/{at}"), findings);
    }
}

fn walk<'a>(node: &'a Node, kind: Kind, place: &str, found: &mut Vec<Extension<'a>>) {
    for (key, value) in node.members() {
        let place = step(place, key);
        if key.starts_with("x-") {
            if known(key).is_some() || key.starts_with("x-sdk-") {
                found.push(Extension {
                    place,
                    key,
                    value,
                    kind,
                });
            }
            continue;
        }
        let (depth, kind) = match (kind, key.as_str()) {
            (_, "example" | "examples" | "default" | "enum" | "const") => continue,
            (Kind::Document, "info") => (0, Kind::Info),
            (Kind::Document, "paths" | "webhooks") => (1, Kind::Path),
            (Kind::Document, "components") => {
                for (name, all) in value.members() {
                    let kind = match name.as_str() {
                        "schemas" => Kind::Schema,
                        "pathItems" => Kind::Path,
                        _ => Kind::Other,
                    };
                    each(all, 1, kind, &step(&place, name), found);
                }
                continue;
            }
            (Kind::Path, "get" | "post" | "put" | "patch" | "delete") => (0, Kind::Operation),
            (Kind::Operation, "callbacks") => (2, Kind::Path),
            (Kind::Schema, "properties" | "patternProperties" | "$defs" | "definitions") => {
                (1, Kind::Schema)
            }
            (Kind::Schema, _) | (_, "schema") => (0, Kind::Schema),
            (_, "responses" | "content" | "headers") => (1, Kind::Other),
            _ => (0, Kind::Other),
        };
        each(value, depth, kind, &place, found);
    }
}

/// The objects at some depth below, in lists or not.
fn each<'a>(node: &'a Node, depth: usize, kind: Kind, place: &str, found: &mut Vec<Extension<'a>>) {
    for (at, item) in node.items().iter().enumerate() {
        each(item, depth, kind, &format!("{place}/{at}"), found);
    }
    if depth == 0 {
        walk(node, kind, place, found);
        return;
    }
    for (name, inner) in node.members() {
        each(inner, depth - 1, kind, &step(place, name), found);
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::findings::Findings;
    use crate::node::Node;

    /// The places of what is refused of these members of an operation, a schema and the info.
    fn refused(operation: &str, schema: &str, info: &str) -> Vec<String> {
        let text = format!(
            "
info: {{{info}}}
paths:
  /p:
    get:
      {operation}
      parameters: [{{name: q, schema: {{{schema}}}}}]
      responses: {{'200': {{x-assumption: A01, content: {{a/b: {{schema: {{allOf: [{{properties: {{x-sdk-skip: {{{schema}}}}}}}]}}}}}}}}}}
components: {{schemas: {{T: {{{schema}, example: {{x-sdk-skip: 1}}}}}}}}
"
        );
        let mut findings = Findings::default();
        check(&Node::parse(&text).unwrap(), &mut findings);
        let all = findings.all().iter();
        all.map(|it| format!("{}: {}", it.place, it.rule)).collect()
    }

    #[test]
    fn an_extension_that_would_do_nothing_is_refused_where_it_stands() {
        let operation = "{x-sdk-group: a, x-sdk-skip: why, x-mutually-exclusive: [[a, b]], x-replay-status: 200, x-else: 1, x-assumption: [A01, A02]}";
        let operation = operation
            .trim_matches(['{', '}'])
            .replace(", x-", "\n      x-");
        let schema = "x-sdk-name: Thing, x-const: true, x-known-values: [a]";
        assert_eq!(refused(&operation, schema, "x-lifecycle: a"), [""; 0]);

        for wrong in [
            "x-sdk-nam: a",
            "x-sdk-name: Thing",
            "x-const: true",
            "x-lifecycle: preview",
            "x-sdk-method: 5",
            "x-sdk-method: a b",
            "x-sdk-method: fn",
            "x-sdk-group: self",
            "x-sdk-skip: true",
            "x-sdk-skip: ' '",
            "x-served-from-schema: 'no'",
            "x-replay-status: ok",
            "x-mutually-exclusive: [a, b]",
            "x-mutually-exclusive: []",
            "x-assumption: []",
            "x-assumption: [A01, 5]",
            "x-provenance: 5",
        ] {
            let key = wrong.split(':').next().unwrap();
            let found = refused(wrong, schema, "");
            assert_eq!(found.len(), 1, "{wrong}: {found:?}");
            let place = format!("/paths/~1p/get/{key}: `{key}` ");
            assert!(found[0].starts_with(&place), "{wrong}: {found:?}");
        }
        for wrong in [
            "x-sdk-method: get",
            "x-sdk-name: a b",
            "x-sdk-name: Self",
            "x-sdk-skip: why",
        ] {
            let found = refused("tags: []", wrong, wrong);
            assert_eq!(found.len(), 4, "{wrong}: {found:?}");
        }
    }
}
