//! Schemas made of others: `allOf`, and what `oneOf` and `anyOf` mean where they are no union.

use indexmap::IndexMap;

use super::reader::{Meaning, Reader, annotated, annotations};
use super::structure::{
    Leaf, follow, is_annotation, is_null, leaves, says_nothing, telling, type_of, without,
};
use crate::model::{Kind, Ty, Use};
use crate::node::{Node, step};

impl Reader<'_> {
    pub(super) fn all_of(
        &mut self,
        schema: &Node,
        place: &str,
        name: &str,
        mut value: Use,
    ) -> Meaning {
        let branches = schema.at("allOf").items();
        let rest = without(schema, &["allOf"]);
        let telling = telling(schema);
        if let [(at, only)] = telling.as_slice()
            && says_nothing(&rest)
        {
            let at = step(&step(place, "allOf"), &at.to_string());
            if let Some(fields) = self.objects.get(place).cloned() {
                self.objects.entry(at.clone()).or_insert(fields);
            }
            let mut meaning = self.instead(only, &at, name);
            // What describes it may stand in a branch of its own.
            for around in branches
                .iter()
                .filter(|it| says_nothing(it))
                .chain([schema])
            {
                meaning.value = annotated(meaning.value, around);
            }
            return meaning;
        }
        let Some(leaves) = leaves(self.root, schema, place) else {
            let rule = "`allOf` contains itself";
            self.findings
                .refuse(place, rule, "break the circle in the overlay");
            return Meaning::plain(value);
        };
        for leaf in &leaves {
            if let Some(reference) = leaf.schema.text_at("$ref") {
                let rule = format!("`{reference}` refers to nothing in this document");
                self.refuse(&leaf.place, &rule);
            }
        }
        let has = |key: &str| leaves.iter().any(|leaf| leaf.schema.get(key).is_some());
        let is_object = has("properties")
            || has("additionalProperties")
            || leaves
                .iter()
                .any(|leaf| leaf.schema.text_at("type") == Some("object"));
        let variants = leaves
            .iter()
            .filter(|leaf| !shapeless(&leaf.schema))
            .count();
        if is_object && variants > 0 {
            self.raw(
                place,
                "an object that is also one of several (`oneOf` within `allOf`)",
            );
            value.ty = Ty::Record;
            return Meaning::plain(value);
        }
        let is_other = |it: &Leaf| type_of(&it.schema).is_some_and(|it| it != "object");
        if is_object && leaves.iter().any(is_other) {
            self.raw(
                place,
                "the schemas of `allOf` contradict each other in `type`",
            );
            return Meaning::plain(value);
        }
        if is_object {
            for leaf in &leaves {
                super::keywords::stated(&leaf.schema, &mut value.stated);
                let inner = leaf.place.strip_prefix(place);
                if inner.is_some_and(|it| it.is_empty() || it.starts_with('/')) {
                    // What stands beside the references is about this use of them.
                    self.keywords(&leaf.schema, &leaf.place);
                    let text = annotations(&leaf.schema).description;
                    if value.description.is_empty() {
                        value.description = text;
                    }
                }
            }
            // What is inherited has its names from there.
            for reference in branches.iter().filter_map(|it| it.text_at("$ref")) {
                if let Some((place, target)) = follow(self.root, reference)
                    && self.entries.contains_key(&place)
                {
                    self.component(&place, target);
                }
            }
            return self.object(&leaves, place, name, value);
        }
        match merged_scalar(&leaves) {
            Ok(merged) => {
                let around = value;
                let mut meaning = self.meaning(&merged, place, name);
                if !around.description.is_empty() {
                    meaning.value.description = around.description;
                }
                meaning
            }
            Err(keyword) => {
                let rule = format!("the schemas of `allOf` contradict each other in `{keyword}`");
                self.raw(place, &rule);
                Meaning::plain(value)
            }
        }
    }

    /// What the one schema means that stands for another one, whose name it gets if it has none.
    fn instead(&mut self, only: &Node, place: &str, name: &str) -> Meaning {
        if only.get("$ref").is_some() {
            return Meaning::plain(self.used(only, place, name));
        }
        self.meaning(only, place, name)
    }

    /// `oneOf` and `anyOf`: null besides one schema, texts besides known texts, a union, or raw JSON.
    pub(super) fn one_of(
        &mut self,
        schema: &Node,
        key: &str,
        place: &str,
        name: &str,
        mut value: Use,
    ) -> Meaning {
        let choices = schema.at(key).items();
        let rest = without(schema, &[key, "discriminator", "nullable"]);
        let branches: Vec<(String, &Node)> = choices
            .iter()
            .enumerate()
            .filter(|(_, branch)| !is_null(branch))
            .map(|(at, branch)| (step(&step(place, key), &at.to_string()), branch))
            .collect();
        // Some state with it which members must occur together.
        if branches.iter().all(|(_, branch)| shapes_nothing(branch)) {
            let text = Node::List(choices.to_vec()).plain();
            let without = without(schema, &[key]);
            self.findings.note(
                place,
                format!("`{key}` of rules is documented, and checked by the service alone"),
            );
            let mut meaning = self.meaning(&without, place, name);
            if text.len() <= 160 {
                let rule = format!("The service also checks `{key}`: `{text}`.");
                meaning.value.stated.push(rule);
            }
            return meaning;
        }
        let bare = rest.members().all(|(key, value)| {
            is_annotation(key) || key == "type" && value.text() == Some("object")
        });
        if !bare {
            self.raw(place, &format!("`{key}` beside other keywords"));
            if rest.get("properties").is_some() {
                value.ty = Ty::Record;
            }
            return Meaning::plain(value);
        }
        if let [(place, only)] = branches.as_slice() {
            let mut meaning = self.instead(only, place, name);
            meaning.value = annotated(meaning.value, schema);
            return meaning;
        }
        if let Some(meaning) = self.texts(&branches, key, &value) {
            return meaning;
        }
        if let Some((tag, variants)) = self.union(schema, &branches, name) {
            return Meaning::of(value, Kind::Union { tag, variants });
        }
        self.raw(place, &format!("`{key}` without a discriminator"));
        Meaning::plain(value)
    }

    /// Texts of which some are known: `anyOf` of an enumeration and any text, or of constants with a description each.
    fn texts(&mut self, branches: &[(String, &Node)], key: &str, value: &Use) -> Option<Meaning> {
        let mut known = Vec::new();
        let mut value = value.clone();
        let mut closed = true;
        for (_, branch) in branches {
            let target = match branch.text_at("$ref") {
                Some(reference) => follow(self.root, reference)?.1,
                None => branch,
            };
            if let Some(constant @ Node::Text(_)) = target.get("const") {
                known.push(constant.clone());
            } else if target
                .at("enum")
                .items()
                .iter()
                .any(|it| it.text().is_some())
            {
                known.extend(
                    target
                        .at("enum")
                        .items()
                        .iter()
                        .filter(|it| !it.is_null())
                        .cloned(),
                );
            } else if target.text_at("type") == Some("string") && target.get("format").is_none() {
                closed = false;
                let rules = without(target, &["type"]);
                if rules.members().any(|(key, _)| !is_annotation(key)) {
                    let rule = format!("Of other values: `{}`.", Node::plain(&rules));
                    value.stated.push(rule);
                }
            } else {
                return None;
            }
        }
        if known.is_empty() || known.iter().any(|it| it.text().is_none()) {
            return None;
        }
        let values = super::scalar::choices(&known);
        let kind = Kind::Enum {
            values,
            closed: closed && key == "oneOf",
        };
        Some(Meaning::of(value, kind))
    }
}

/// Whether a schema has no alternatives.
fn shapeless(schema: &Node) -> bool {
    schema.get("oneOf").is_none() && schema.get("anyOf").is_none()
}

/// Whether a branch only says which members must or must not occur.
fn shapes_nothing(branch: &Node) -> bool {
    branch.members().count() > 0
        && branch
            .members()
            .all(|(key, _)| matches!(key.as_str(), "required" | "not") || is_annotation(key))
        && !says_nothing(branch)
}

/// Schemas of a text or a number merged into one; the keyword in which they contradict each other.
fn merged_scalar(leaves: &[Leaf]) -> Result<Node, String> {
    let mut merged: IndexMap<String, Node> = IndexMap::new();
    for leaf in leaves {
        for (key, value) in leaf.schema.members() {
            match merged.get(key) {
                Some(known) if known != value && key == "enum" => {
                    let both = known.items().iter().filter(|it| value.items().contains(it));
                    let both: Vec<Node> = both.cloned().collect();
                    if both.is_empty() {
                        return Err(key.clone());
                    }
                    merged.insert(key.clone(), Node::List(both));
                }
                // What is narrower counts.
                Some(known) if known != value && key.starts_with("max") => {
                    if value.integer() < known.integer() {
                        merged.insert(key.clone(), value.clone());
                    }
                }
                Some(known) if known != value && key.starts_with("min") => {
                    if value.integer() > known.integer() {
                        merged.insert(key.clone(), value.clone());
                    }
                }
                Some(known) if known != value && key == "items" => {
                    let both = Node::List(vec![known.clone(), value.clone()]);
                    let both = Node::Object([("allOf".to_owned(), both)].into_iter().collect());
                    merged.insert(key.clone(), both);
                }
                Some(known) if known != value && !is_annotation(key) => return Err(key.clone()),
                _ => {
                    merged.insert(key.clone(), value.clone());
                }
            }
        }
    }
    Ok(Node::Object(merged))
}
