//! The state while a document is read, with the schemas that became components, the taken names, and the findings.

use std::collections::{BTreeMap, BTreeSet};

use crate::assumptions;
use crate::findings::{Finding, Findings, Weight};
use crate::model::{Component, Kind, Map, Schemas, Ty, Use};
use crate::names;
use crate::node::{Node, step};

use super::graph::{Found, Objects};
use super::structure::is_nullable;

pub(super) struct Reader<'a> {
    pub(super) root: &'a Node,
    pub(super) findings: &'a mut Findings,
    /// The fields of each object, merged by progenitor.
    pub(super) objects: Objects,
    /// The components, by the places of their schemas.
    pub(super) entries: Map<Entry>,
    /// The taken names, with their owners.
    pub(super) names: BTreeMap<String, String>,
}

/// A schema that is or may become a component.
pub(super) struct Entry {
    pub(super) name: String,
    /// The preferred name, which may be taken.
    wanted: String,
    /// Its use. `None` while it is read, which a recursive schema encounters.
    pub(super) used: Option<Use>,
    pub(super) component: Option<Component>,
}

/// The meaning of a schema, with the use of its value and the type that it needs.
pub(super) struct Meaning {
    pub(super) value: Use,
    pub(super) kind: Option<Kind>,
    /// The place of the schema, if it is an object with properties.
    pub(super) place: Option<String>,
}

impl Meaning {
    pub(super) fn plain(value: Use) -> Self {
        Self {
            value,
            kind: None,
            place: None,
        }
    }

    pub(super) fn of(value: Use, kind: Kind) -> Self {
        Self {
            kind: Some(kind),
            ..Self::plain(value)
        }
    }
}

impl Reader<'_> {
    /// If several branches describe a field, stores the fields that progenitor merged under the place of the field.
    pub(super) fn keep_merged(&mut self, found: &Found, place: &str) {
        match found {
            Found::Option(inner) | Found::Boxed(inner) => self.keep_merged(inner, place),
            Found::List(inner) => self.keep_merged(inner, &step(place, "items")),
            Found::Map(inner) => self.keep_merged(inner, &step(place, "additionalProperties")),
            Found::Merged(name) => {
                if let Some(fields) = self.objects.get(name).cloned() {
                    self.objects.insert(place.to_owned(), fields);
                }
            }
            _ => {}
        }
    }

    /// Reserves a unique name for the schema at a place, as close to the hint as possible.
    pub(super) fn reserve(&mut self, place: &str, hint: &str) {
        let wanted = names::type_name(hint);
        let is_taken = |name: &str| self.names.contains_key(name);
        let name = names::free_type(&wanted, "Model", is_taken);
        self.names.insert(name.clone(), format!("`{place}`"));
        let entry = Entry {
            name,
            wanted,
            used: None,
            component: None,
        };
        self.entries.insert(place.to_owned(), entry);
    }

    /// The types whose preferred name was taken, each with its finding.
    pub(super) fn renamed(&self) -> Vec<(String, Finding)> {
        let renamed = self.entries.iter().filter(|(_, it)| it.name != it.wanted);
        let renamed = renamed.map(|(place, Entry { name, wanted, .. })| {
            let finding = Finding {
                weight: Weight::Renamed,
                place: place.clone(),
                rule: format!("`{wanted}` is taken by {}", self.names[wanted]),
                remedy: format!("it becomes `{name}`, unless `x-sdk-name` sets another name"),
            };
            (name.clone(), finding)
        });
        renamed.collect()
    }

    /// Releases the name of a schema that doesn't need it.
    pub(super) fn release(&mut self, place: &str) {
        if let Some(entry) = self.entries.shift_remove(place) {
            self.names.remove(&entry.name);
        }
    }

    pub(super) fn reject(&mut self, place: &str, rule: &str) {
        self.findings
            .reject(place, rule, "correct it in the overlay");
    }

    pub(super) fn raw(&mut self, place: &str, rule: &str) {
        let remedy = "it is raw JSON, unless the overlay describes it further";
        self.findings.add(Weight::Raw, place, rule, remedy);
    }

    /// The components by the names of their types, after all are read.
    pub(super) fn into_schemas(self) -> Schemas {
        let entries = self.entries.into_values();
        let components = entries.filter_map(|entry| {
            let component = entry.component?;
            Some((component.name.clone(), component))
        });
        Schemas {
            components: components.collect(),
        }
    }
}

impl Use {
    /// A use of a type without further information.
    pub(super) fn of(ty: Ty) -> Self {
        Self {
            ty,
            nullable: false,
            description: String::new(),
            default: None,
            example: None,
            stated: Vec::new(),
            assumptions: BTreeSet::new(),
            type_assumptions: BTreeSet::new(),
        }
    }

    /// Drops the default and the example of a secret, so that they are never printed.
    pub(super) fn keep_secret(&mut self) {
        if self.ty.is_secret() {
            (self.default, self.example) = (None, None);
        }
    }

    /// Rules about an item or a value, for the documentation of its container.
    pub(super) fn of_each(&mut self, part: &str) -> Vec<String> {
        self.keep_secret();
        let default = self.default.as_ref();
        let default = default.map(|it| format!("It defaults to `{it}`."));
        let example = self.example.as_ref();
        let example = example.map(|it| format!("For example: `{it}`."));
        let described = !matches!(self.ty, Ty::Named(_)) && !self.description.is_empty();
        let texts = described.then(|| self.description.clone()).into_iter();
        let rules = texts.chain(default).chain(self.stated.iter().cloned());
        let rules = rules.chain(example);
        rules.map(|rule| format!("Each {part}: {rule}")).collect()
    }

    /// The type as an item of a list or a value of a map.
    pub(super) fn within(self) -> Ty {
        if self.nullable && !matches!(self.ty, Ty::Value | Ty::Record) {
            Ty::Nullable(Box::new(self.ty))
        } else {
            self.ty
        }
    }
}

/// The information about a value besides its type.
pub(super) fn annotations(schema: &Node) -> Use {
    let text = |key| {
        schema
            .text_at(key)
            .map(str::trim)
            .filter(|text| !text.is_empty())
    };
    let description = text("description").or_else(|| text("title"));
    let types = ids(schema, "x-type-assumption");
    Use {
        nullable: is_nullable(schema),
        description: description.unwrap_or_default().to_owned(),
        default: schema
            .get("default")
            .filter(|value| !value.is_null())
            .map(Node::plain),
        example: schema
            .get("example")
            .or_else(|| schema.at("examples").items().first())
            .filter(|value| !value.is_null())
            .map(Node::plain),
        assumptions: types.clone(),
        type_assumptions: types,
        ..Use::of(Ty::Value)
    }
}

/// Adds the annotations of a surrounding schema to a value.
pub(super) fn annotated(mut value: Use, around: &Node) -> Use {
    let own = annotations(around);
    value.nullable |= own.nullable;
    value.default = own.default.or(value.default);
    value.example = own.example.or(value.example);
    if around
        .text_at("description")
        .is_some_and(|text| !text.trim().is_empty())
    {
        value.description = own.description;
    }
    value.assumptions.extend(own.assumptions);
    value.type_assumptions.extend(own.type_assumptions);
    value
}

pub(super) fn ids(schema: &Node, key: &str) -> BTreeSet<String> {
    assumptions::ids(schema.at(key)).into_iter().collect()
}
