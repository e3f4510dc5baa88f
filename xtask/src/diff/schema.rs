//! Flattened schemas. The reader merges them, and the notations of 3.0 and 3.1 give the same facts.

use std::collections::{BTreeSet, HashSet};

use indexmap::IndexMap;

use super::flat::{Flat, Leaf, json};
use super::rules::Way;
use super::value::{Value, Values};
use crate::node::Node;
use crate::read;

const SCHEMA: &str = "$defs definitions allOf:list oneOf:list anyOf:list nullable:flag deprecated:flag readOnly:flag \
                      writeOnly:flag type required:list properties:object items:object additionalProperties:object/flag \
                      enum:list const minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength minItems \
                      maxItems minProperties maxProperties";

/// Bounds that are always inclusive.
const BOUNDS: &str = "minLength maxLength minItems maxItems minProperties maxProperties";

/// The schemas that a value must match. They are a schema with all schemas that it merges, and its only alternative, if any.
pub(super) fn gather<'a>(root: &'a Node, leaf: &Leaf<'a>) -> Vec<Leaf<'a>> {
    let (mut found, mut seen, mut open) = (Vec::new(), HashSet::new(), vec![leaf.clone()]);
    while let Some(leaf) = open.pop() {
        let merged = read::merged(root, leaf.node, &leaf.place);
        let merged = merged.unwrap_or_else(|| vec![(leaf.place, leaf.node)]);
        for (place, node) in merged.into_iter().rev() {
            if seen.insert(place.clone()) {
                let leaf = Leaf { place, node };
                let mut only = branches(root, &leaf);
                only.retain(|_| !is_union(root, &leaf));
                open.extend(only);
                found.push(leaf);
            }
        }
    }
    found
}

/// The branches of `oneOf` and `anyOf`, without null.
fn branches<'a>(root: &'a Node, leaf: &Leaf<'a>) -> Vec<Leaf<'a>> {
    let all = leaf.each("oneOf").into_iter().chain(leaf.each("anyOf"));
    let is_value = |it: &Leaf<'a>| !read::is_null(it.clone().resolved(root).node);
    all.map(|it| it.1).filter(is_value).collect()
}

fn is_union(root: &Node, leaf: &Leaf<'_>) -> bool {
    leaf.node.get("discriminator").is_some() || branches(root, leaf).len() > 1
}

impl<'a> Flat<'a> {
    /// The combined facts of leaves. Properties of the other direction are left out.
    pub(super) fn schema(root: &'a Node, leaves: &[Leaf<'a>], way: Way) -> Self {
        let mut flat = Self::outline(root, leaves, way);
        for leaf in leaves.iter().filter(|it| is_union(root, it)) {
            flat.union(leaf);
        }
        let place = |key| {
            let stated = leaves.iter().find(|it| it.node.get(key).is_some());
            let leaf = stated.or(leaves.last());
            leaf.map(|it| it.place(key)).unwrap_or_default()
        };
        let kinds = flat.kinds();
        let others = "additional properties";
        if kinds.contains("object") && flat.value(others, "").is_none() {
            let place = place("additionalProperties");
            flat.add(others, "", place, Value::Wide(true));
        }
        let has_null = |it: &Leaf<'_>| {
            let alternatives = it.each("oneOf").len() + it.each("anyOf").len();
            read::is_nullable(it.node) || alternatives > branches(root, it).len()
        };
        // A schema without types allows null. Otherwise, each schema that states a type must allow it. `nullable` may be in a schema
        // without a type.
        if !kinds.is_empty() {
            let states_type = |it: &&Leaf<'_>| !self::kinds(it.node, true).is_empty();
            let (typed, others): (Vec<_>, Vec<_>) = leaves.iter().partition(states_type);
            let of_typed = !typed.is_empty() && typed.into_iter().all(has_null);
            let null = Value::Wide(of_typed || others.into_iter().any(has_null));
            flat.add("null", "", place("nullable"), null);
        }
        flat.add("type", "", place("type"), Value::Kinds(kinds));
        for leaf in leaves {
            flat.fields(leaf, SCHEMA);
        }
        flat
    }

    /// The facts of a schema without its variants, which may contain the schema again.
    fn outline(root: &'a Node, leaves: &[Leaf<'a>], way: Way) -> Self {
        let own = leaves.iter().find(|it| it.node.get("$ref").is_none());
        let mut flat = Self::of(root, way, own.map_or("", |it| &it.place));
        if let Some(first) = leaves.first() {
            flat.used.clone_from(&first.place);
        }
        let stated = leaves.iter().map(|it| kinds(it.node, false));
        let stated = stated.filter(|it| !it.is_empty()).reduce(|all, it| {
            // Contradicting types are listed together.
            if all.is_disjoint(&it) {
                return &all | &it;
            }
            &all & &it
        });
        let mut inferred = leaves.iter().rev().map(|it| kinds(it.node, true));
        let kinds = stated.or_else(|| inferred.find(|it| !it.is_empty()));
        let kinds = kinds.unwrap_or_default();
        flat.add("type", "", String::new(), Value::Kinds(kinds));
        let mut fields: IndexMap<String, (Vec<Leaf<'a>>, bool)> = IndexMap::new();
        for leaf in leaves {
            for name in leaf.node.at("required").texts() {
                fields.entry(name).or_default().1 = true;
            }
            for (name, inner) in leaf.each("properties") {
                let (known, _) = fields.entry(name).or_default();
                known.extend(gather(root, &inner));
            }
            for (row, at, key) in [
                ("items", "[]", "items"),
                ("additional properties", ".*", "additionalProperties"),
            ] {
                match leaf.at(key) {
                    Some(inner) if inner.node.members().next().is_some() => {
                        flat.within(row, at.to_owned(), gather(root, &inner), None);
                    }
                    Some(inner) if *inner.node == Node::Bool(false) => {
                        flat.add(row, "", inner.place, Value::Wide(false));
                    }
                    _ => {}
                }
            }
            flat.bounds(leaf);
            flat.values(leaf);
        }
        let elsewhere = match way {
            Way::Request => "readOnly",
            _ => "writeOnly",
        };
        for (name, (leaves, required)) in fields {
            let row = ["property", "required property"][usize::from(required)];
            if !leaves.iter().any(|it| it.node.is_set(elsewhere)) {
                flat.within(row, format!(".{name}"), leaves, Some(required));
            }
        }
        flat
    }

    /// Adds an inner schema, and the fact that it exists.
    pub(super) fn within(
        &mut self,
        row: &'static str,
        at: String,
        leaves: Vec<Leaf<'a>>,
        required: Option<bool>,
    ) {
        let around = std::mem::replace(&mut self.at, at.clone());
        let place = leaves
            .first()
            .map_or(self.place.clone(), |it| it.place.clone());
        self.present(row, &place, required);
        self.at = around;
        // If several schemas are merged, each counts.
        self.schemas.entry(at).or_default().extend(leaves);
    }

    /// Whether other facts of the schema already cover a keyword.
    pub(super) fn is_covered(&self, key: &str, value: &Node) -> bool {
        match (key, value) {
            ("discriminator", _) => self.schemas.keys().any(|it| it.starts_with(".(")),
            ("uniqueItems", value) => *value == Node::Bool(false),
            // The bounds or the type already include it.
            ("format", Node::Text(format)) => match &**format {
                "date" | "date-time" => !self.kinds().contains("string"),
                other => self.kinds().contains("integer") && other.contains("int"),
            },
            _ => false,
        }
    }

    fn bounds(&mut self, leaf: &Leaf<'a>) {
        let is_integer = self.kinds().contains("integer");
        let implied = match leaf.node.text_at("format").filter(|_| is_integer) {
            Some("int32") => Some([i32::MIN.into(), i32::MAX.into()]),
            Some("uint32") => Some([0, u32::MAX].map(f64::from)),
            _ => None,
        };
        let implied = implied.map(|[least, most]| [("minimum", least), ("maximum", most)]);
        let stated = leaf.node.members().filter_map(|(key, it)| match it {
            Node::Number(number) => Some((key.as_str(), number.as_f64()?)),
            _ => None,
        });
        for (key, mut bound) in stated.chain(implied.into_iter().flatten()) {
            let (name, exclusive) = match key {
                "minimum" | "exclusiveMinimum" => ("minimum", "exclusiveMinimum"),
                "maximum" | "exclusiveMaximum" => ("maximum", "exclusiveMaximum"),
                other if BOUNDS.split(' ').any(|it| it == other) => (other, ""),
                _ => continue,
            };
            let mut excluded = key == exclusive || leaf.node.is_set(exclusive);
            let lower = name.starts_with("min");
            if excluded && is_integer {
                bound += if lower { 1.0 } else { -1.0 };
                excluded = false;
            }
            let value = Value::Bound(bound, lower, excluded);
            let known = self.value("limit", name);
            if known.is_none_or(|it| value.is_narrower(it)) {
                self.add("limit", name, leaf.place(key), value);
            }
        }
    }

    fn listed(&self) -> Option<&Values> {
        match self.value("values", "") {
            Some(Value::Values(values)) => Some(values),
            _ => None,
        }
    }

    fn values(&mut self, leaf: &Leaf<'a>) {
        let known = leaf.node.at("x-known-values").items();
        let more = leaf.node.get("x-extensible-enum");
        let one = leaf.node.get("const");
        let listed = [Some(leaf.node.at("enum")), more];
        let listed = listed.into_iter().flatten().flat_map(Node::items);
        let listed = known.iter().chain(listed).chain(one);
        let mut values = Values {
            all: listed.filter(|it| !it.is_null()).map(json).collect(),
            open: !known.is_empty() || more.is_some(),
            constant: one.is_some() || leaf.node.is_set("x-const"),
        };
        if values.all.is_empty() {
            return;
        }
        if let Some(known) = self.listed() {
            values.all.retain(|it| known.all.contains(it));
            values.open &= known.open;
        }
        self.add("values", "", leaf.place.clone(), Value::Values(values));
    }

    fn union(&mut self, leaf: &Leaf<'a>) {
        let (root, way) = (self.root, self.way);
        let discriminator = leaf.node.at("discriminator");
        let tag = discriminator.text_at("propertyName");
        if let Some(tag) = tag {
            self.add_text("discriminator", leaf, "discriminator", tag);
        }
        let mut kinds = Some(self.kinds());
        for (at, branch) in branches(root, leaf).into_iter().enumerate() {
            let leaves = gather(root, &branch);
            let flat = Self::outline(root, &leaves, way);
            kinds = kinds.filter(|_| !flat.kinds().is_empty());
            kinds = kinds.map(|it| it.union(&flat.kinds()).cloned().collect());
            let reference = branch.node.text_at("$ref").unwrap_or_default();
            let name = reference.rsplit('/').next().filter(|it| !it.is_empty());
            let mapping = discriminator.at("mapping").members();
            let mapped = mapping.filter(|it| [Some(reference), name].contains(&it.1.text()));
            let mut labels: Vec<String> = mapped.map(|it| it.0.clone()).collect();
            if labels.is_empty() {
                // The label is its constant, its name, its title, or its index.
                let own = tag.and_then(|it| flat.schemas.get(&format!(".{it}")));
                let own = own.map(|it| Self::outline(root, it, way));
                let one = own.as_ref().and_then(Self::listed).map(|it| &it.all);
                let one = one.filter(|it| it.len() == 1).and_then(BTreeSet::first);
                let named = one.map(|it| it.trim_matches('"')).or(name);
                let named = named.or(branch.node.text_at("title"));
                labels.push(named.map_or(format!("#{at}"), str::to_owned));
            }
            for label in labels {
                self.within("variant", format!(".({label})"), leaves.clone(), None);
            }
        }
        if let Some(kinds) = kinds.filter(|it| !it.is_empty()) {
            self.add("type", "", leaf.place.clone(), Value::Kinds(kinds));
        }
    }
}

/// The types that a schema states or that its other keywords imply, without null. Dates and times are separate types.
fn kinds(node: &Node, is_inferred: bool) -> BTreeSet<String> {
    let mut kinds = node.at("type").texts();
    kinds.retain(|it| it != "null");
    if is_inferred {
        let values = node.at("enum").items().iter().chain(node.get("const"));
        let mut values = values.peekable();
        let are_texts = values.peek().is_some() && values.all(|it| it.text().is_some());
        let inferred = read::inferred(node).or(are_texts.then_some("string"));
        kinds.extend(inferred.map(str::to_owned));
    }
    let format = node.text_at("format").unwrap_or_default();
    let timed = kinds.into_iter().map(|it| match format {
        "date" | "date-time" if it == "string" => format!("string ({format})"),
        _ => it,
    });
    timed.collect()
}
