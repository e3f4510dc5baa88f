//! Reads `oneOf` and `anyOf`, which are strings with known values, or unions of objects with a discriminator.

use super::reader::{Meaning, Reader};
use super::scalar::choices;
use super::structure::{Leaf, follow, is_annotation, leaves, without};
use crate::model::{Kind, Ty, Use, Variant};
use crate::names;
use crate::node::Node;

impl Reader<'_> {
    /// Reads one of several schemas as an open enum, a union, or raw JSON.
    pub(super) fn choice(
        &mut self,
        schema: &Node,
        key: &str,
        branches: &[(String, &Node)],
        place: &str,
        name: &str,
        value: Use,
    ) -> Meaning {
        if let Some(meaning) = self.texts(branches, key, &value) {
            return meaning;
        }
        if let Some((tag, variants)) = self.union(schema, branches, name) {
            return Meaning::of(value, Kind::Union { tag, variants });
        }
        self.raw(place, &format!("`{key}` without a discriminator"));
        Meaning::plain(value)
    }

    /// Strings with known values. This is `anyOf` of an enum and any string, or of constants with a description each.
    fn texts(&mut self, branches: &[(String, &Node)], key: &str, value: &Use) -> Option<Meaning> {
        let mut known = Vec::new();
        let mut value = value.clone();
        let mut closed = true;
        for (_, branch) in branches {
            let target = match branch.text_at("$ref") {
                Some(reference) => follow(self.root, reference)?.1,
                None => branch,
            };
            let before = known.len();
            let values = target.get("const").into_iter();
            let values = values.chain(target.at("enum").items());
            known.extend(values.filter(|it| !it.is_null()).cloned());
            if known.len() > before {
                continue;
            }
            if target.text_at("type") != Some("string") || target.get("format").is_some() {
                return None;
            }
            closed = false;
            let rules = without(target, &["type"]);
            if rules.members().any(|(key, _)| !is_annotation(key)) {
                let rule = format!("Other values: `{}`.", Node::plain(&rules));
                value.stated.push(rule);
            }
        }
        if known.is_empty() || known.iter().any(|it| it.text().is_none()) {
            return None;
        }
        let values = choices(&known);
        let kind = Kind::Enum {
            values,
            closed: closed && key == "oneOf",
        };
        Some(Meaning::of(value, kind))
    }

    /// The discriminator and the variants. `None` if the branches are not objects with a discriminator.
    fn union(
        &mut self,
        schema: &Node,
        branches: &[(String, &Node)],
        name: &str,
    ) -> Option<(String, Vec<Variant>)> {
        let root = self.root;
        let objects = branches.iter().map(|(_, it)| object_of(root, it));
        let objects: Vec<&Node> = objects.collect::<Option<_>>()?;
        let discriminator = schema.at("discriminator");
        let tag = match discriminator.text_at("propertyName") {
            Some(tag) => tag.to_owned(),
            None => self.telling(&objects)?,
        };
        for (value, target) in discriminator.at("mapping").members() {
            let is_it =
                |it: &str| target.text() == Some(it) || target.text() == it.rsplit('/').next();
            let mut references = branches.iter().filter_map(|it| it.1.text_at("$ref"));
            if !references.any(is_it) {
                let rule = format!("the discriminator maps `{value}` to no branch");
                self.findings.note(&branches[0].0, rule);
            }
        }
        let mut variants: Vec<Variant> = Vec::new();
        for ((place, branch), object) in branches.iter().zip(objects) {
            let reference = branch.text_at("$ref");
            let constants = self.constants(object, &tag);
            let mut values: Vec<String> = discriminator
                .at("mapping")
                .members()
                .filter(|(_, target)| {
                    reference.is_some_and(|it| {
                        target.text() == Some(it) || target.text() == it.rsplit('/').next()
                    })
                })
                .map(|(value, _)| value.clone())
                .collect();
            let title = reference
                .and_then(|it| it.rsplit('/').next())
                .or_else(|| object.text_at("title"));
            if values.is_empty() && constants.is_empty() {
                // Without a mapping, the name of the schema is the value.
                values.extend(title.map(str::to_owned));
            } else if values.is_empty() {
                values = constants;
            }
            let hint = match title.filter(|_| reference.is_none()) {
                Some(title) => format!("{name}{}", names::pascal(title)),
                None => format!("{name}{}", names::pascal(values.first()?)),
            };
            let Ty::Named(component) = self.used(branch, place, &hint).ty else {
                return None;
            };
            let variant = names::variant(values.first()?);
            if values
                .iter()
                .any(|value| variants.iter().any(|it| it.values.contains(value)))
                || variants.iter().any(|it| it.name == variant)
            {
                return None;
            }
            variants.push(Variant {
                name: variant,
                component,
                values,
            });
        }
        Some((tag, variants))
    }

    /// The undeclared discriminator, a field with a different constant in each branch.
    fn telling(&mut self, objects: &[&Node]) -> Option<String> {
        let first = objects.first()?;
        let names = first
            .at("properties")
            .members()
            .map(|(name, _)| name.clone());
        let names: Vec<String> = names.collect();
        names.into_iter().find(|name| {
            let mut seen = Vec::new();
            objects.iter().all(|object| {
                let required = object.at("required").texts().contains(name);
                let constants = self.constants(object, name);
                let fresh = constants.len() == 1 && !seen.contains(&constants);
                seen.push(constants);
                required && fresh
            })
        })
    }

    /// The values of a field of an object. An inherited field counts only if it is a constant, because an inherited list has the
    /// values of all variants.
    fn constants(&self, object: &Node, tag: &str) -> Vec<String> {
        let leaves = leaves(self.root, object, "").unwrap_or_default();
        let values = |leaf: &Leaf| {
            let field = leaf.schema.at("properties").at(tag);
            let field = match field.text_at("$ref") {
                Some(reference) => follow(self.root, reference)?.1,
                None => field,
            };
            let constant = field.get("const").into_iter();
            let values = constant.chain(field.at("enum").items());
            let values: Vec<String> = values.filter_map(Node::text).map(str::to_owned).collect();
            let is_own = leaf.place.is_empty() || leaf.place.starts_with("/allOf");
            (values.len() == 1 || is_own && !values.is_empty()).then_some(values)
        };
        leaves.iter().rev().find_map(values).unwrap_or_default()
    }
}

/// The object of a branch, which may be a reference.
fn object_of<'b>(root: &'b Node, branch: &'b Node) -> Option<&'b Node> {
    let target = match branch.text_at("$ref") {
        Some(reference) => follow(root, reference)?.1,
        None => branch,
    };
    let is_object = target.get("properties").is_some()
        || target.get("allOf").is_some()
        || target.text_at("type") == Some("object");
    is_object.then_some(target)
}
