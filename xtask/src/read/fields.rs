//! The fields of an object that several schemas merge. A field's schema is left out if another schema implies it. Schemas that
//! no type can merge become raw JSON, so that progenitor sees neither contradictions nor endless merges.

use std::collections::BTreeSet;

use indexmap::IndexMap;

use super::structure::{
    Leaf, both, is_annotation, is_nullable, is_of_rules, leaves, references, type_of,
};
use crate::node::{Node, step};

pub(super) struct Field {
    pub(super) name: String,
    pub(super) schema: Node,
    pub(super) place: String,
    /// All its schemas in order, if some were left out, because these may still have its description.
    pub(super) around: Vec<Node>,
    /// The reason why no type can merge its schemas.
    pub(super) odd: Option<String>,
}

/// Returns the fields in the order of the document, without duplicates. The leaves retain only the relevant schemas.
pub(super) fn fields(root: &Node, leaves: &mut [Leaf], place: &str) -> Vec<Field> {
    let mut names: IndexMap<String, Vec<usize>> = IndexMap::new();
    for (at, leaf) in leaves.iter().enumerate() {
        for (name, _) in leaf.schema.at("properties").members() {
            names.entry(name.clone()).or_default().push(at);
        }
    }
    let field = |(name, all): (String, Vec<usize>)| field(root, leaves, place, name, &all);
    names.into_iter().map(field).collect()
}

/// A schema of a field, and its place.
type Version = (Node, String);

fn field(root: &Node, leaves: &mut [Leaf], place: &str, name: String, all: &[usize]) -> Field {
    let version = |at: &usize| {
        let Leaf { schema, place } = &leaves[*at];
        let place = step(&step(place, "properties"), &name);
        (schema.at("properties").at(&name).clone(), place)
    };
    let versions: Vec<Version> = all.iter().map(version).collect();
    let mut counting: Vec<usize> = Vec::new();
    for (at, version) in versions.iter().enumerate() {
        let is_implied = |it: &usize| implies(root, &versions[*it], version);
        if !counting.iter().any(is_implied) {
            counting.retain(|it| !implies(root, version, &versions[*it]));
            counting.push(at);
        }
    }
    let merged: Vec<&Version> = counting.iter().map(|it| &versions[*it]).collect();
    let odd = unmergeable(root, &merged);
    let is_odd = odd.is_some();
    for (at, leaf) in all.iter().enumerate() {
        if is_odd || !counting.contains(&at) {
            // Schemas that no type can merge accept any value.
            let any = (is_odd && at == 0).then(|| Node::Object(IndexMap::new()));
            replace(&mut leaves[*leaf], &name, any);
        }
    }
    let is_reduced = is_odd || merged.len() == 1 && versions.iter().any(|it| it.0 != merged[0].0);
    let schema = match merged.as_slice() {
        _ if is_odd => Node::Object(IndexMap::new()),
        [first, others @ ..] => {
            let schemas = others.iter().map(|it| &it.0);
            schemas.fold(first.0.clone(), |all, it| both(&all, it))
        }
        [] => Node::Null,
    };
    let place = match merged.as_slice() {
        [(_, place)] if !is_odd => place.clone(),
        // A field that several schemas describe has a separate place.
        _ => step(&step(place, "allOf"), &name),
    };
    let schemas = versions.into_iter().map(|it| it.0);
    Field {
        name,
        schema,
        place,
        around: schemas.filter(|_| is_reduced).collect(),
        odd,
    }
}

fn replace(leaf: &mut Leaf, name: &str, schema: Option<Node>) {
    if let Node::Object(keywords) = &mut leaf.schema
        && let Some(Node::Object(properties)) = keywords.get_mut("properties")
    {
        match schema {
            Some(schema) => properties.insert(name.to_owned(), schema),
            None => properties.shift_remove(name),
        };
    }
}

/// Whether each value of the first schema is a value of the second schema, judged by their structure.
fn implies(root: &Node, one: &Version, other: &Version) -> bool {
    let merged = |(schema, place): &Version| leaves(root, schema, place);
    let (Some(one), Some(other)) = (merged(one), merged(other)) else {
        return false;
    };
    let is_implied = |rule: &Leaf| one.iter().any(|it| leaf_implies(root, it, rule));
    other.iter().all(is_implied)
}

fn leaf_implies(root: &Node, leaf: &Leaf, other: &Leaf) -> bool {
    if leaf.place == other.place {
        return true;
    }
    let rules = |schema: &Node| -> Vec<(String, Node)> {
        let rules = schema.members().filter(|(key, _)| !is_annotation(key));
        rules.map(|(key, it)| (key.clone(), it.clone())).collect()
    };
    let fits_null = is_nullable(&other.schema) || !is_nullable(&leaf.schema);
    let (kind, known) = (kind(&leaf.schema), kind(&other.schema));
    let is_type = kind == known || kind == Some("integer") && known == Some("number");
    let mut rest = rules(&other.schema);
    rest.retain(|(key, _)| key != "type");
    fits_null
        && is_type
        && rest.into_iter().all(|(key, value)| {
            let own = leaf.schema.at(&key);
            let inner = |leaf: &Leaf| step(&leaf.place, &key);
            *own == value
                || matches!(&*key, "items" | "additionalProperties")
                    && leaf.schema.get(&key).is_some()
                    && implies(root, &(own.clone(), inner(leaf)), &(value, inner(other)))
        })
}

/// The JSON type of a schema, or of its values if it names no type.
fn kind(schema: &Node) -> Option<&'static str> {
    let values = schema.at("enum").items().iter().chain(schema.get("const"));
    let values: Vec<&Node> = values.collect();
    let are_texts = !values.is_empty() && values.iter().all(|it| it.text().is_some());
    type_of(schema).or(are_texts.then_some("string"))
}

/// The reason why schemas of a field can't be merged, if any.
fn unmergeable(root: &Node, versions: &[&Version]) -> Option<String> {
    if versions.len() < 2 {
        return None;
    }
    let is_choice = |it: &Leaf| {
        let is = |key| it.schema.get(key).is_some() && !is_of_rules(&it.schema, key);
        is("oneOf") || is("anyOf")
    };
    let mut kinds = BTreeSet::new();
    for (schema, place) in versions {
        for leaf in leaves(root, schema, place).unwrap_or_default() {
            kinds.extend(is_choice(&leaf).then_some("a union"));
            kinds.extend(kind(&leaf.schema));
        }
    }
    if kinds.len() != 1 || kinds.contains("a union") {
        let kinds = kinds.into_iter().collect::<Vec<_>>().join(", ");
        return Some(format!("no type can merge its schemas: {kinds}"));
    }
    // Merging two schemas that contain themselves might never end.
    let recursive = versions.iter().filter(|it| is_recursive(root, &it.0));
    (recursive.count() > 1)
        .then(|| "its schemas contain themselves, so they can't be merged".to_owned())
}

/// Whether a schema leads to a schema that contains itself.
fn is_recursive(root: &Node, schema: &Node) -> bool {
    let mut reached = BTreeSet::new();
    references(root, schema, &mut reached);
    reached.iter().any(|place| {
        let mut below = BTreeSet::new();
        references(root, root.pointer(place).unwrap_or(&Node::Null), &mut below);
        below.contains(place)
    })
}
