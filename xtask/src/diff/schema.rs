//! Schemas as parts: `allOf` merged, and the ways of 3.0 and 3.1 to say one thing made one.

use std::collections::{BTreeSet, HashSet};

use super::part::{Child, Leaf, Part, Sort, Value, Values, json};
use super::rules::Way;
use crate::node::Node;
use crate::read;

/// Bounds with what excludes the bound itself.
const BOUNDS: [(&str, &str); 8] = [
    ("minimum", "exclusiveMinimum"),
    ("maximum", "exclusiveMaximum"),
    ("minLength", ""),
    ("maxLength", ""),
    ("minItems", ""),
    ("maxItems", ""),
    ("minProperties", ""),
    ("maxProperties", ""),
];

/// Takes a schema apart into those that must all be matched, each once.
fn gather<'a>(root: &'a Node, leaf: &Leaf<'a>) -> Vec<Leaf<'a>> {
    let (mut found, mut places, mut open) = (Vec::new(), HashSet::new(), vec![leaf.clone()]);
    while let Some(leaf) = open.pop() {
        if !places.insert(leaf.place.clone()) {
            continue;
        }
        let branches = branches(root, &leaf);
        let is_one = branches.len() == 1 && leaf.node.get("discriminator").is_none();
        let only = is_one.then_some(branches).into_iter().flatten();
        let merged = leaf.each("allOf").into_iter().map(|it| it.1);
        let inner: Vec<_> = leaf
            .target(root)
            .into_iter()
            .chain(merged)
            .chain(only)
            .collect();
        open.extend(inner.into_iter().rev());
        found.push(leaf);
    }
    found
}

/// The branches of `oneOf` and `anyOf`, without null.
fn branches<'a>(root: &'a Node, leaf: &Leaf<'a>) -> Vec<Leaf<'a>> {
    let all = leaf.each("oneOf").into_iter().chain(leaf.each("anyOf"));
    let is_value = |it: &Leaf<'a>| !read::is_null(it.clone().resolved(root).node);
    all.map(|it| it.1).filter(is_value).collect()
}

impl<'a> Child<'a> {
    pub(super) fn schema(root: &'a Node, leaf: &Leaf<'a>) -> Self {
        Self::of(Sort::Schema, "type", String::new(), gather(root, leaf))
    }
}

impl<'a> Part<'a> {
    /// A schema without its variants, which may contain it again.
    pub(super) fn outline(root: &'a Node, child: &Child<'a>) -> Self {
        let mut part = Self::default();
        child
            .leaves
            .iter()
            .for_each(|it| part.object(root, it, Way::Both));
        part
    }

    pub(super) fn kinds(&self) -> BTreeSet<String> {
        match self.value("type ") {
            Some(Value::Kinds(kinds)) => kinds.clone(),
            _ => BTreeSet::new(),
        }
    }

    fn value(&self, key: &str) -> Option<&Value> {
        self.facts.get(key).map(|it| &it.value)
    }

    fn listed(&self) -> Option<&Values> {
        match self.value("values ") {
            Some(Value::Values(values)) => Some(values),
            _ => None,
        }
    }

    pub(super) fn schema(&mut self, root: &'a Node, leaf: &Leaf<'a>, way: Way) {
        self.object(root, leaf, way);
        let branches = branches(root, leaf);
        let is_union = branches.len() > 1 || leaf.node.get("discriminator").is_some();
        if is_union && !branches.is_empty() && !self.texts(root, leaf, &branches) {
            self.union(root, leaf, branches);
        }
        // Some write `required: true` at the member.
        if let Some(flag @ Node::Bool(_)) = leaf.node.get("required") {
            self.fact("field", leaf, "required", Value::Unknown(json(flag)));
        }
    }

    fn object(&mut self, root: &'a Node, leaf: &Leaf<'a>, way: Way) {
        let node = leaf.node;
        let (mut kinds, known) = (kinds(node), self.kinds());
        if !kinds.is_empty() {
            // What contradicts itself shows as both.
            if kinds.is_disjoint(&known) {
                kinds.extend(known);
            } else {
                kinds.retain(|it| known.contains(it));
            }
            self.fact("type", leaf, "", Value::Kinds(kinds));
        }
        let all = leaf.each("oneOf").len() + leaf.each("anyOf").len();
        if read::is_nullable(node) || all > branches(root, leaf).len() {
            self.fact("null", leaf, "", Value::Wide(true));
        }
        for name in node.at("required").texts() {
            let known = self.member(&name);
            (known.row, known.required) = ("required member", Some(true));
        }
        let elsewhere = if way == Way::Request {
            "readOnly"
        } else {
            "writeOnly"
        };
        for (name, inner) in leaf.each("properties") {
            let child = Child::schema(root, &inner);
            if child.leaves.iter().any(|it| it.node.is_set(elsewhere)) {
                self.children.shift_remove(&format!(".{name}"));
            } else {
                self.member(&name).leaves.extend(child.leaves);
            }
        }
        for (key, shown, row) in [
            ("items", "[]", "items"),
            ("additionalProperties", ".*", "further members"),
        ] {
            let Some(inner) = leaf.at(key) else { continue };
            if *inner.node == Node::Bool(false) {
                self.fact(row, leaf, "", Value::Wide(false));
            } else if inner.node.members().next().is_some() {
                let leaves = Child::schema(root, &inner).leaves;
                let child = Child::of(Sort::Schema, row, shown.to_owned(), leaves);
                self.child(shown.to_owned(), child);
            }
        }
        self.bounds(leaf);
        self.values(leaf);
    }

    fn member(&mut self, name: &str) -> &mut Child<'a> {
        let shown = format!(".{name}");
        let child = Child::of(Sort::Schema, "member", shown.clone(), Vec::new()).needed(false);
        self.children.entry(shown).or_insert(child)
    }

    fn bounds(&mut self, leaf: &Leaf<'a>) {
        let is_integer = self.kinds().contains("integer");
        let format = leaf.node.text_at("format").filter(|_| is_integer);
        for (key, exclusive) in BOUNDS {
            let number = |key| match leaf.node.at(key) {
                Node::Number(number) => number.as_f64(),
                _ => None,
            };
            let implied = match (format, key) {
                (Some("int32"), "minimum") => Some(f64::from(i32::MIN)),
                (Some("int32"), "maximum") => Some(f64::from(i32::MAX)),
                (Some("uint32"), "minimum") => Some(0.0),
                (Some("uint32"), "maximum") => Some(f64::from(u32::MAX)),
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
            let known = self.value(&format!("limit {key}"));
            if known.is_none_or(|it| value.is_narrower(it)) {
                self.fact("limit", leaf, key, value);
            }
        }
    }

    fn values(&mut self, leaf: &Leaf<'a>) {
        let node = leaf.node;
        let listed = ["x-known-values", "enum", "x-extensible-enum"].map(|it| node.at(it).items());
        let one = node.get("const");
        let values = listed
            .into_iter()
            .flatten()
            .chain(one)
            .filter(|it| !it.is_null());
        let mut all: BTreeSet<String> = values.map(json).collect();
        if all.is_empty() {
            return;
        }
        let mut open = !listed[0].is_empty() || node.get("x-extensible-enum").is_some();
        if let Some(known) = self.listed() {
            all.retain(|it| known.all.contains(it));
            open &= known.open;
        }
        let constant = one.is_some() || node.is_set("x-const");
        self.fact(
            "values",
            leaf,
            "",
            Value::Values(Values {
                all,
                open,
                constant,
            }),
        );
    }

    /// Texts of which some are known: `anyOf` of an enumeration and any text.
    fn texts(&mut self, root: &'a Node, leaf: &Leaf<'a>, branches: &[Leaf<'a>]) -> bool {
        let parts = branches
            .iter()
            .map(|it| Self::outline(root, &Child::schema(root, it)));
        let parts: Vec<Self> = parts.collect();
        let listed: Vec<&Values> = parts.iter().filter_map(Self::listed).collect();
        let texts = BTreeSet::from(["string".to_owned()]);
        if listed.is_empty() || parts.iter().any(|it| it.kinds() != texts) {
            return false;
        }
        let open = listed.len() < parts.len() || listed.iter().any(|it| it.open);
        let all = listed
            .iter()
            .flat_map(|it| it.all.iter().cloned())
            .collect();
        self.fact("type", leaf, "", Value::Kinds(texts));
        self.fact(
            "values",
            leaf,
            "",
            Value::Values(Values {
                all,
                open,
                constant: false,
            }),
        );
        true
    }

    fn union(&mut self, root: &'a Node, leaf: &Leaf<'a>, branches: Vec<Leaf<'a>>) {
        let discriminator = leaf.node.at("discriminator");
        let tag = discriminator.text_at("propertyName");
        if let Some(tag) = tag {
            self.fact(
                "discriminator",
                leaf,
                "discriminator",
                Value::Said(tag.to_owned()),
            );
        }
        let mut kinds = Some(self.kinds());
        for (at, branch) in branches.into_iter().enumerate() {
            let reference = branch.node.text_at("$ref").unwrap_or_default();
            let title = branch.node.text_at("title").map(str::to_owned);
            let name = reference.rsplit('/').next().filter(|it| !it.is_empty());
            let child = Child::schema(root, &branch);
            let part = Self::outline(root, &child);
            kinds = kinds.filter(|_| !part.kinds().is_empty());
            kinds = kinds.map(|it| it.union(&part.kinds()).cloned().collect());
            let is_it = |it: &Node| {
                it.text()
                    .is_some_and(|it| it == reference || Some(it) == name)
            };
            let mapped = discriminator
                .at("mapping")
                .members()
                .filter(|it| is_it(it.1));
            let mut labels: Vec<String> = mapped.map(|it| it.0.clone()).collect();
            if labels.is_empty() {
                // By its constant, its name, its title, or as a last resort where it stands.
                let own = tag.and_then(|it| part.children.get(&format!(".{it}")));
                let own = own.and_then(|it| Self::outline(root, it).listed().cloned());
                let one = own
                    .filter(|it| it.all.len() == 1)
                    .and_then(|it| it.all.into_iter().next());
                let one = one.map(|it| it.trim_matches('"').to_owned());
                let named = one.or(name.map(str::to_owned)).or(title);
                labels.push(named.unwrap_or_else(|| format!("#{at}")));
            }
            for label in labels {
                let shown = format!(".({label})");
                let leaves = child.leaves.clone();
                self.child(
                    shown.clone(),
                    Child::of(Sort::Schema, "variant", shown, leaves),
                );
            }
        }
        if let Some(kinds) = kinds.filter(|it| !it.is_empty()) {
            self.fact("type", leaf, "", Value::Kinds(kinds));
        }
    }

    /// What can be said only once all of a schema is known.
    pub(super) fn settle(&mut self, child: &Child<'a>) {
        let kinds = self.kinds();
        self.add("type", "", child.place("type"), Value::Kinds(kinds.clone()));
        // Of any value, null is one.
        if kinds.is_empty() {
            self.facts.remove("null ");
        } else if self.value("null ").is_none() {
            self.add("null", "", child.place("nullable"), Value::Wide(false));
        }
        if kinds.contains("object") && self.value("further members ").is_none() {
            let place = child.place("additionalProperties");
            self.add("further members", "", place, Value::Wide(true));
        }
        // Their formats are bounds or types.
        let is_time = |it: &str| it == "date" || it == "date-time";
        let is_known = |it: &str| is_time(it) || kinds.contains("integer") && it.contains("int");
        if matches!(self.value("format format"), Some(Value::Said(it)) if is_known(it)) {
            self.facts.remove("format format");
        }
        if self.children.values().any(|it| it.row == "variant") {
            self.facts.remove("field discriminator");
        }
    }
}

impl Value {
    /// Whether one bound leaves fewer values than another.
    pub(super) fn is_narrower(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Bound(new, lower, excluded), Self::Bound(old, _, was)) => {
                let moved = if *lower { new > old } else { new < old };
                moved || new.to_bits() == old.to_bits() && *excluded && !was
            }
            _ => false,
        }
    }
}

/// The types of a schema, without null; times are types of their own.
fn kinds(node: &Node) -> BTreeSet<String> {
    let has = |keys: &[&str]| keys.iter().any(|key| node.get(key).is_some());
    let mut kinds = node.at("type").texts();
    kinds.retain(|it| it != "null");
    if kinds.is_empty() {
        let mut listed = node.at("enum").items().iter().chain(node.get("const"));
        let inferred = if has(&["properties", "additionalProperties"]) {
            Some("object")
        } else if has(&["items"]) {
            Some("array")
        } else if has(&["enum", "const"]) && listed.all(|it| it.text().is_some()) {
            Some("string")
        } else {
            None
        };
        kinds.extend(inferred.map(str::to_owned));
    }
    let format = node.text_at("format").unwrap_or_default();
    let timed = kinds.into_iter().map(|it| match format {
        "date" | "date-time" if it == "string" => format!("string ({format})"),
        _ => it,
    });
    timed.collect()
}
