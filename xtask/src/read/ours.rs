//! Finds the extensions of this workspace at any place of a document, because a misspelled or misplaced extension would silently
//! have no effect.

use super::operation::SOURCE;
use crate::assumptions;
use crate::findings::Findings;
use crate::model::Method;
use crate::names;
use crate::node::{Node, step};

/// An extension of this workspace, and its place.
#[derive(Debug)]
pub(crate) struct Extension<'a> {
    pub(crate) place: String,
    pub(crate) key: &'a str,
    pub(crate) value: &'a Node,
}

/// The description of an extension's values, and the check of a value.
type Holds = (&'static str, fn(&Node) -> bool);

const FLAG: Holds = ("`true` or `false`", |it| matches!(it, Node::Bool(_)));
const TEXT: Holds = ("a non-empty string", |it| {
    it.text().is_some_and(|it| !it.trim().is_empty())
});
const SNAKE: Holds = ("a name in snake case that is not a keyword", |it| {
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
const IDS: Holds = ("the ID of an assumption, or a list of IDs", |it| {
    let (ids, count) = (it.texts(), it.items().len().max(1));
    ids.len() == count && ids.iter().all(|it| assumptions::is_id(it))
});

const PROVENANCE: Holds = ("`documented`, `assumed` or `name-only`", |it| {
    matches!(it.text(), Some("documented" | "assumed" | "name-only"))
});

/// The part that an extension belongs to (any if none is named), and its values.
fn known(key: &str) -> Option<(&'static str, Holds)> {
    Some(match key {
        "x-sdk-group" | "x-sdk-method" => ("operation", SNAKE),
        "x-sdk-skip" => ("operation", TEXT),
        "x-served-from-schema" => ("operation", FLAG),
        "x-replay-status" => ("operation", STATUS),
        "x-mutually-exclusive" => ("operation", PAIRS),
        "x-sdk-name" => ("schema", PASCAL),
        "x-const" => ("schema", FLAG),
        "x-known-values" => ("schema", VALUES),
        "x-type-assumption" => ("schema", IDS),
        "x-lifecycle" | "x-runtime-status" | "x-metadata-operation" => ("info", TEXT),
        "x-documents-envelope" => ("info", FLAG),
        "x-assumption" => ("", IDS),
        "x-provenance" => ("", PROVENANCE),
        _ => return None,
    })
}

/// The part of a document that a place is in.
fn part(place: &str) -> &'static str {
    let steps: Vec<&str> = place.split('/').skip(1).collect();
    let is_method = |it: &str| Method::ALL.iter().any(|method| method.key() == it);
    match steps.as_slice() {
        ["info"] => "info",
        ["paths" | "webhooks", _, method] if is_method(method) => "operation",
        ["components", "pathItems", _, method] if is_method(method) => "operation",
        [.., "callbacks", _, _, method] if is_method(method) => "operation",
        steps if steps.iter().any(|it| *it == "schema" || *it == "schemas") => "schema",
        _ => "rest",
    }
}

/// All extensions in a document, including misspelled ones.
pub(crate) fn extensions(document: &Node) -> Vec<Extension<'_>> {
    let mut found = Vec::new();
    search(document, "", &mut found);
    found
}

/// Rejects the extensions that would have no effect.
pub(super) fn check(document: &Node, findings: &mut Findings) {
    for it in extensions(document) {
        let key = it.key;
        let Some((part, (what, holds))) = known(key) else {
            let rule = format!("`{key}` is not an extension of this workspace");
            findings.reject(&it.place, rule, "correct its name in the overlay");
            continue;
        };
        let holder = it.place.rsplit_once('/').map_or("", |it| it.0);
        if !part.is_empty() && part != self::part(holder) {
            let rule = format!("`{key}` has no meaning here");
            findings.reject(&it.place, rule, format!("it belongs to the {part}"));
        } else if !holds(it.value) {
            let rule = format!("`{key}` is {what}");
            findings.reject(&it.place, rule, "correct it in the overlay");
        }
    }
}

/// Notes violations of the conventions for our own specs.
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
    unknown(document, "", findings);
}

fn unknown(node: &Node, place: &str, findings: &mut Findings) {
    for (key, inner) in node.members() {
        let place = step(place, key);
        if key.starts_with("x-") && known(key).is_none() {
            findings.note(&place, format!("unknown field `{key}`"));
        }
        unknown(inner, &place, findings);
    }
    for (at, inner) in node.items().iter().enumerate() {
        unknown(inner, &format!("{place}/{at}"), findings);
    }
}

fn search<'a>(node: &'a Node, place: &str, found: &mut Vec<Extension<'a>>) {
    // Names of properties are not extensions.
    let of_names = ["/properties", "/patternProperties", "/$defs"];
    let is_named = of_names.iter().any(|it| place.ends_with(it));
    for (key, value) in node.members() {
        let place = step(place, key);
        let is_ours = known(key).is_some() || key.starts_with("x-sdk-");
        if is_ours && !is_named {
            found.push(Extension { place, key, value });
        } else if is_named || !is_value(key) {
            search(value, &place, found);
        }
    }
    for (at, item) in node.items().iter().enumerate() {
        search(item, &format!("{place}/{at}"), found);
    }
}

/// Whether a field contains example or allowed values.
fn is_value(key: &str) -> bool {
    matches!(key, "example" | "examples" | "default" | "enum" | "const") || key.starts_with("x-")
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::findings::Findings;
    use crate::node::Node;

    /// The rejections for these fields of an operation, a schema and the info.
    fn rejected(operation: &str, schema: &str, info: &str) -> Vec<String> {
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
    fn an_extension_without_effect_is_rejected_at_its_place() {
        let operation = "{x-sdk-group: a, x-sdk-skip: why, x-mutually-exclusive: [[a, b]], x-replay-status: 200, x-else: 1, x-assumption: [A01, A02]}";
        let operation = operation
            .trim_matches(['{', '}'])
            .replace(", x-", "\n      x-");
        let schema = "x-sdk-name: Thing, x-const: true, x-known-values: [a]";
        assert_eq!(rejected(&operation, schema, "x-lifecycle: a"), [""; 0]);

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
            let found = rejected(wrong, schema, "");
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
            let found = rejected("tags: []", wrong, wrong);
            assert_eq!(found.len(), 4, "{wrong}: {found:?}");
        }
    }
}
