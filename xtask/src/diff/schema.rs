//! Schemas as parts: what the reader merges is one, and so are the ways of 3.0 and 3.1 to say one thing.

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

const BOUNDS: [&str; 8] = [
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
];

/// What a value must match at once: a schema with all that it merges, and an alternative that is the only one.
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
    /// What some leaves say together.
    pub(super) fn schema(root: &'a Node, leaves: &[Leaf<'a>], way: Way) -> Self {
        let mut flat = Self::outline(root, leaves, way);
        for leaf in leaves.iter().filter(|it| is_union(root, it)) {
            let branches = branches(root, leaf);
            if !branches.is_empty() && !flat.texts(leaf, &branches) {
                flat.union(leaf, branches);
            }
        }
        let kinds = flat.kinds();
        let place = |key| {
            let stated = leaves.iter().find(|it| it.node.get(key).is_some());
            let leaf = stated.or(leaves.last());
            leaf.map(|it| it.place(key)).unwrap_or_default()
        };
        let further = "further members";
        if kinds.contains("object") && flat.value(further, "").is_none() {
            flat.add(
                further,
                "",
                place("additionalProperties"),
                Value::Wide(true),
            );
        }
        // Of any value, null is one.
        if !kinds.is_empty() {
            let null = flat.value("null", "").is_some();
            flat.add("null", "", place("nullable"), Value::Wide(null));
        }
        flat.add("type", "", place("type"), Value::Kinds(kinds));
        for leaf in leaves {
            flat.fields(leaf, SCHEMA);
        }
        flat
    }

    /// A schema without its variants, which may contain it again. Fields of the other direction are left out.
    pub(super) fn outline(root: &'a Node, leaves: &[Leaf<'a>], way: Way) -> Self {
        let place = leaves.first().map(|it| &*it.place);
        let mut flat = Self::of(root, way, place.unwrap_or_default());
        let mut fields: IndexMap<String, (Vec<Leaf<'a>>, bool)> = IndexMap::new();
        for leaf in leaves {
            flat.types(leaf);
            for name in leaf.node.at("required").texts() {
                fields.entry(name).or_default().1 = true;
            }
            for (name, inner) in leaf.each("properties") {
                fields
                    .entry(name)
                    .or_default()
                    .0
                    .extend(gather(root, &inner));
            }
        }
        let elsewhere = match way {
            Way::Request => "readOnly",
            _ => "writeOnly",
        };
        fields.retain(|_, (leaves, _)| !leaves.iter().any(|it| it.node.is_set(elsewhere)));
        for (name, (inner, required)) in fields {
            let row = if required {
                "required member"
            } else {
                "member"
            };
            flat.within(row, format!(".{name}"), inner, Some(required));
        }
        for leaf in leaves {
            for (row, at, key) in [
                ("items", "[]", "items"),
                ("further members", ".*", "additionalProperties"),
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
        flat
    }

    /// Adds a schema within, and that it is there.
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
        self.schemas.insert(at, leaves);
    }

    /// The types that all leaves so far have, and null.
    fn types(&mut self, leaf: &Leaf<'a>) {
        let (mut kinds, known) = (kinds(leaf.node), self.kinds());
        if !kinds.is_empty() {
            // What contradicts itself shows as both.
            if kinds.is_disjoint(&known) {
                kinds.extend(known);
            } else {
                kinds.retain(|it| known.contains(it));
            }
            self.add("type", "", leaf.place.clone(), Value::Kinds(kinds));
        }
        let all = leaf.each("oneOf").len() + leaf.each("anyOf").len();
        if read::is_nullable(leaf.node) || all > branches(self.root, leaf).len() {
            self.add("null", "", leaf.place.clone(), Value::Wide(true));
        }
    }

    /// Whether a keyword adds nothing to the facts of its schema.
    pub(super) fn is_told(&self, key: &str, value: &Node) -> bool {
        let is = |kind: &str| self.kinds().iter().any(|it| it.starts_with(kind));
        match (key, value) {
            ("discriminator", _) => self.schemas.keys().any(|it| it.starts_with(".(")),
            ("uniqueItems", value) => *value == Node::Bool(false),
            // A bound, or a type of its own.
            ("format", Node::Text(format)) => match &**format {
                "date" | "date-time" => is("string"),
                other => is("integer") && other.contains("int"),
            },
            _ => false,
        }
    }

    fn bounds(&mut self, leaf: &Leaf<'a>) {
        let is_integer = self.kinds().contains("integer");
        let [least, most] = match leaf.node.text_at("format").filter(|_| is_integer) {
            Some("int32") => [i32::MIN.into(), i32::MAX.into()].map(Some),
            Some("uint32") => [0, u32::MAX].map(|it| Some(f64::from(it))),
            _ => [None, None],
        };
        for key in BOUNDS {
            let (exclusive, implied) = match key {
                "minimum" => ("exclusiveMinimum", least),
                "maximum" => ("exclusiveMaximum", most),
                _ => ("", None),
            };
            let number = |key| match leaf.node.at(key) {
                Node::Number(number) => number.as_f64(),
                _ => None,
            };
            let mut excluded = leaf.node.is_set(exclusive) || number(exclusive).is_some();
            let stated = number(exclusive).or(number(key)).or(implied);
            let Some(mut bound) = stated else { continue };
            let lower = key.starts_with("min");
            if excluded && is_integer {
                bound += if lower { 1.0 } else { -1.0 };
                excluded = false;
            }
            let value = Value::Bound(bound, lower, excluded);
            if self
                .value("limit", key)
                .is_none_or(|it| value.is_narrower(it))
            {
                self.add("limit", key, leaf.place(key), value);
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

    /// Texts of which some are known: `anyOf` of an enumeration and any text.
    fn texts(&mut self, leaf: &Leaf<'a>, branches: &[Leaf<'a>]) -> bool {
        let outline = |it| Self::outline(self.root, &gather(self.root, it), self.way);
        let flats: Vec<Self> = branches.iter().map(outline).collect();
        let listed: Vec<&Values> = flats.iter().filter_map(Self::listed).collect();
        let texts = BTreeSet::from(["string".to_owned()]);
        if listed.is_empty() || flats.iter().any(|it| it.kinds() != texts) {
            return false;
        }
        let all = listed.iter().flat_map(|it| it.all.iter().cloned());
        let values = Values {
            all: all.collect(),
            open: listed.len() < flats.len() || listed.iter().any(|it| it.open),
            constant: false,
        };
        self.add("type", "", leaf.place.clone(), Value::Kinds(texts));
        self.add("values", "", leaf.place.clone(), Value::Values(values));
        true
    }

    fn union(&mut self, leaf: &Leaf<'a>, branches: Vec<Leaf<'a>>) {
        let (root, way) = (self.root, self.way);
        let discriminator = leaf.node.at("discriminator");
        let tag = discriminator.text_at("propertyName");
        if let Some(tag) = tag {
            self.said("discriminator", leaf, "discriminator", tag);
        }
        let mut kinds = Some(self.kinds());
        for (at, branch) in branches.into_iter().enumerate() {
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
                // By its constant, its name, its title, or as a last resort where it stands.
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

/// The types of a schema, without null; times are types of their own.
fn kinds(node: &Node) -> BTreeSet<String> {
    let mut kinds = node.at("type").texts();
    kinds.retain(|it| it != "null");
    if kinds.is_empty() {
        let mut values = node
            .at("enum")
            .items()
            .iter()
            .chain(node.get("const"))
            .peekable();
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
