//! The structure of a schema, which merges, aliases or contains other schemas. The reader and the view for progenitor both use
//! this module, so that they agree on the structure. Other modules derive the types.

use indexmap::IndexMap;

use super::fields::{Field, fields};
use super::structure::{
    Leaf, both, follow, is_annotation, is_null, is_nullable, is_of_rules, leaves, says_nothing,
    telling, type_of, without,
};
use crate::model::Ty;
use crate::node::{Node, step};

/// Keywords that change the schema of a reference if they are its siblings.
const ADDING: [&str; 9] = [
    "properties",
    "required",
    "allOf",
    "oneOf",
    "anyOf",
    "enum",
    "const",
    "additionalProperties",
    "items",
];

pub(super) enum Form<'a> {
    /// An alias of another schema. This is the target of a reference, a single branch, or the only branch besides null.
    Same(String, &'a Node),
    /// An object of these schemas, with all their fields.
    Object(Vec<Leaf>, Vec<Field>),
    /// An object with arbitrary keys, whose values have the same schema.
    Map(String, Node),
    /// An object without further information.
    Record,
    /// One of several schemas.
    Choice(&'static str, Vec<(String, &'a Node)>),
    /// The merged schema of lists, strings or numbers in an `allOf`.
    Merged(Node),
    /// A schema that no type can express, with the rule and the remaining type.
    Raw(String, Ty),
    /// An `allOf` that contains itself.
    Circle,
    /// A value of one JSON type, or of any type.
    Plain(Option<&'static str>),
}

pub(super) fn form<'a>(root: &'a Node, schema: &'a Node, place: &str) -> Form<'a> {
    match schema.text_at("$ref") {
        Some(_) if adds_to_reference(schema) => return merged(root, schema, place),
        Some(reference) => {
            let target = follow(root, reference);
            return match target {
                Some((at, it)) => Form::Same(at, it),
                None => Form::Raw(nothing_at(reference), Ty::Value),
            };
        }
        None if schema.get("allOf").is_some() => return merged(root, schema, place),
        None => {}
    }
    for key in ["oneOf", "anyOf"] {
        if !schema.at(key).items().is_empty() && !is_of_rules(schema, key) {
            return choice(schema, key, place);
        }
    }
    let has_values = ["const", "enum", "x-known-values"]
        .iter()
        .any(|key| schema.get(key).is_some());
    match type_of(schema) {
        Some("object") if !has_values => {
            let leaf = Leaf {
                schema: schema.clone(),
                place: place.to_owned(),
            };
            object(root, vec![leaf], place)
        }
        kind => Form::Plain(kind),
    }
}

/// Whether all merged schemas or one of the branches allow null.
pub(super) fn is_null_within(root: &Node, form: &Form<'_>) -> bool {
    match form {
        Form::Object(leaves, _) => leaves.iter().all(|it| is_nullable(&it.schema)),
        Form::Merged(merged) => is_nullable(merged),
        Form::Choice(_, branches) => branches.iter().any(|(_, branch)| {
            let target = branch.text_at("$ref").and_then(|it| follow(root, it));
            is_nullable(branch) || target.is_some_and(|it| is_nullable(it.1))
        }),
        _ => false,
    }
}

pub(super) fn nothing_at(reference: &str) -> String {
    format!("`{reference}` has no target in this document")
}

/// Whether the siblings of a `$ref` change its schema.
pub(super) fn adds_to_reference(schema: &Node) -> bool {
    ADDING.iter().any(|key| schema.get(key).is_some())
}

fn choice<'a>(schema: &'a Node, key: &'static str, place: &str) -> Form<'a> {
    let rest = without(schema, &[key, "discriminator", "nullable"]);
    let is_bare = rest
        .members()
        .all(|(key, value)| is_annotation(key) || key == "type" && value.text() == Some("object"));
    if !is_bare {
        let is_object = rest.get("properties").is_some();
        let ty = if is_object { Ty::Record } else { Ty::Value };
        return Form::Raw(format!("`{key}` together with other keywords"), ty);
    }
    let branches = schema.at(key).items().iter().enumerate();
    let branches = branches.filter(|(_, branch)| !is_null(branch));
    let branches = branches.map(|(at, it)| (step(&step(place, key), &at.to_string()), it));
    let branches: Vec<_> = branches.collect();
    match branches.as_slice() {
        [(place, only)] => Form::Same(place.clone(), only),
        _ => Form::Choice(key, branches),
    }
}

fn merged<'a>(root: &'a Node, schema: &'a Node, place: &str) -> Form<'a> {
    if let [(at, only)] = telling(schema).as_slice()
        && says_nothing(&without(schema, &["allOf", "nullable"]))
    {
        return Form::Same(step(&step(place, "allOf"), &at.to_string()), only);
    }
    let Some(leaves) = leaves(root, schema, place) else {
        return Form::Circle;
    };
    if let Some(nowhere) = leaves.iter().find_map(|it| it.schema.text_at("$ref")) {
        return Form::Raw(nothing_at(nowhere), Ty::Value);
    }
    let has = |key: &str| leaves.iter().any(|it| it.schema.get(key).is_some());
    let types: Vec<_> = leaves.iter().filter_map(|it| type_of(&it.schema)).collect();
    if !types.contains(&"object") && !has("properties") {
        return match merged_value(&leaves) {
            Ok(merged) => Form::Merged(merged),
            Err(keyword) => contradiction(&keyword),
        };
    }
    let is_choice = |it: &Leaf, key| it.schema.get(key).is_some() && !is_of_rules(&it.schema, key);
    if leaves
        .iter()
        .any(|it| is_choice(it, "oneOf") || is_choice(it, "anyOf"))
    {
        let rule = "an object that is also a union (`oneOf` within `allOf`)";
        return Form::Raw(rule.to_owned(), Ty::Record);
    }
    if types.iter().any(|it| *it != "object") {
        return contradiction("type");
    }
    object(root, leaves, place)
}

fn contradiction<'a>(keyword: &str) -> Form<'a> {
    let rule = format!("the schemas of `allOf` contradict each other in `{keyword}`");
    Form::Raw(rule, Ty::Value)
}

fn object<'a>(root: &Node, mut leaves: Vec<Leaf>, place: &str) -> Form<'a> {
    let fields = fields(root, &mut leaves, place);
    if !fields.is_empty() {
        return Form::Object(leaves, fields);
    }
    let values = |it: &Leaf| {
        let values = it.schema.at("additionalProperties");
        let place = step(&it.place, "additionalProperties");
        values.members().next().map(|_| (place, values.clone()))
    };
    let mut values = leaves.iter().filter_map(values);
    match (values.next(), values.next()) {
        (None, _) => Form::Record,
        (Some((place, only)), None) => Form::Map(place, only),
        _ => Form::Raw(
            "several schemas of additional properties".to_owned(),
            Ty::Record,
        ),
    }
}

/// Merges schemas of a list, a string or a number. The error is the keyword in which they contradict each other.
fn merged_value(leaves: &[Leaf]) -> Result<Node, String> {
    let mut merged: IndexMap<String, Node> = IndexMap::new();
    for (key, value) in leaves.iter().flat_map(|leaf| leaf.schema.members()) {
        let Some(known) = merged.get_mut(key) else {
            merged.insert(key.clone(), value.clone());
            continue;
        };
        let number = |it: &Node| match it {
            Node::Number(number) => number.as_f64(),
            _ => None,
        };
        let narrower = if key.starts_with("max") {
            number(value) < number(known)
        } else {
            number(value) > number(known)
        };
        match key.as_str() {
            key if known == value || is_annotation(key) => *known = value.clone(),
            "items" => *known = both(known, value),
            // Null must be a value of both.
            "type" => {
                let mut types = known.texts();
                types.retain(|it| value.texts().contains(it));
                if types.is_empty() {
                    return Err(key.clone());
                }
                *known = Node::List(types.into_iter().map(Node::Text).collect());
            }
            "maxLength" | "minLength" | "maxItems" | "minItems" | "maximum" | "minimum" => {
                if narrower {
                    *known = value.clone();
                }
            }
            _ => return Err(key.clone()),
        }
    }
    // Null must be a value of each schema that states a type.
    let states_type = |it: &&Leaf| {
        ["type", "enum", "const"]
            .iter()
            .any(|key| it.schema.get(key).is_some())
    };
    if !leaves
        .iter()
        .filter(states_type)
        .all(|it| is_nullable(&it.schema))
    {
        merged.shift_remove("nullable");
    }
    Ok(Node::Object(merged))
}
