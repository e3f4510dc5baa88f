//! Compares the public names of the generated clients, which are added, removed or renamed, or change their type.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::model::{Component, Kind, Operation, Reach, Reply, Spec, Ty};
use crate::names::{group_type, pascal};
use crate::write::rust::reply_type;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct NameChange {
    /// `is added`, `is removed`, `is renamed` or `changes`.
    pub(super) how: &'static str,
    pub(super) name: String,
    pub(super) was: String,
    pub(super) is: String,
    /// Whether it breaks source code that uses the name.
    pub(super) breaks: bool,
}

/// Names with their types, by their meaning, such as `op GET /people|query q`. A part follows its owner.
#[derive(Default)]
struct Public {
    names: BTreeMap<String, (String, String)>,
    /// The new names of types.
    types: BTreeMap<String, String>,
}

/// Compares the names. `routes` and `places` map old operations and schemas to new ones.
pub(super) fn compare(old: &Spec, new: &Spec, routes: &Became, places: &Became) -> Vec<NameChange> {
    let before = Public::of(old, routes, renames(old, new, places)).names;
    let after = Public::of(new, &Became::new(), Became::new()).names;
    // If the owner is not on both sides, only the owner is reported.
    let is_shown = |key: &str, other: &BTreeMap<String, _>| {
        let owner = key.rsplit_once('|').map(|it| it.0);
        owner.is_none_or(|it| other.contains_key(it))
    };
    let mut found = Vec::new();
    let mut add = |how, name: &str, was: &str, is: &str| {
        let breaks = how != "is added" && (how != "changes" || types_differ(was, is));
        let [name, was, is] = [name, was, is].map(str::to_owned);
        found.push(NameChange {
            how,
            name,
            was,
            is,
            breaks,
        });
    };
    for (key, (name, ty)) in &before {
        let last = |name: &str| {
            name.rsplit([':', '.'])
                .next()
                .unwrap_or_default()
                .to_owned()
        };
        let is_method = key.starts_with("op ") && !key.contains('|');
        match after.get(key) {
            None if is_shown(key, &after) => add("is removed", name, ty, ""),
            Some((other, _)) if last(other) != last(name) || is_method && other != name => {
                add("is renamed", name, name, other);
            }
            Some((_, other)) if other != ty => add("changes", name, ty, other),
            _ => {}
        }
    }
    for (key, (name, ty)) in &after {
        if !before.contains_key(key) && is_shown(key, &before) {
            add("is added", name, "", ty);
        }
    }
    found
}

type Became = BTreeMap<String, String>;

/// Types with another name at the same place, unless one of the names has another meaning.
fn renames(old: &Spec, new: &Spec, places: &Became) -> Became {
    let (before, after) = (&old.schemas.components, &new.schemas.components);
    let pair = |it: &Component| {
        let place = places.get(&it.place)?;
        let other = after.values().find(|it| it.place == *place)?;
        let is_free = !after.contains_key(&it.name) && !before.contains_key(&other.name);
        is_free.then(|| (it.name.clone(), other.name.clone()))
    };
    before.values().filter_map(pair).collect()
}

/// Whether signatures differ in more than names of arguments. Swapped arguments are a difference.
fn types_differ(was: &str, is: &str) -> bool {
    let (was, is) = (arguments(was), arguments(is));
    was.1 != is.1 || was.0 == is.0
}

/// The names in a signature, and the rest of it.
fn arguments(signature: &str) -> (BTreeSet<&str>, Vec<&str>) {
    let parts = signature.split(['(', ',', ' ']).filter(|it| !it.is_empty());
    let (names, types): (Vec<&str>, Vec<&str>) = parts.partition(|it| it.ends_with(':'));
    (names.into_iter().collect(), types)
}

impl Public {
    fn of(spec: &Spec, routes: &Became, types: Became) -> Self {
        let names = BTreeMap::new();
        let mut all = Self { names, types };
        for group in &spec.groups {
            let name = format!("Client::{}", group.name);
            all.add(&name, "", &name, &group_type(&group.name));
        }
        for operation in &spec.operations {
            let route = operation.route();
            let owner = format!("op {}", routes.get(&route).unwrap_or(&route));
            all.operation(spec, operation, &owner);
        }
        let reach = Reach::of(spec);
        let components = spec.schemas.components.values();
        for component in components.filter(|it| it.is_type() && reach.contains(&it.name)) {
            all.component(spec, component, reach.requests.contains(&component.name));
        }
        all
    }

    fn add(&mut self, owner: &str, part: &str, name: &str, ty: &str) {
        let bar = if part.is_empty() { "" } else { "|" };
        let ty = renamed(ty, &self.types);
        let key = format!("{owner}{bar}{part}");
        self.names.insert(key, (name.to_owned(), ty));
    }

    fn operation(&mut self, spec: &Spec, operation: &Operation, owner: &str) {
        let method = format!("{}.{}", operation.group, operation.name);
        self.add(owner, "", &method, &signature(spec, operation));
        self.add(owner, "builder", &pascal(&operation.id), "");
        for it in operation.parameters.iter().filter(|it| !it.required) {
            let key = format!("{} {}", it.place.name(), it.name);
            let setter = format!("{method}().{}", it.field);
            self.add(owner, &key, &setter, &spec.schemas.rust(&it.value.ty));
        }
        if let Some(body) = operation.body.as_ref().filter(|it| !it.required) {
            let ty = spec.schemas.rust(&body.value.ty);
            self.add(owner, "body", &format!("{method}().body"), &ty);
        }
        if operation.is_list() {
            self.add(owner, "pages", &format!("{method}().pages"), "");
        }
        if let Reply::Several { name, cases } = &operation.reply {
            self.add(owner, "reply", name, "");
            for case in cases {
                let (key, ty) = (case.status, reply_type(&spec.schemas, &case.reply));
                let variant = format!("{name}::{}", case.variant);
                self.add(owner, &format!("reply|{key}"), &variant, &ty);
            }
        }
    }

    fn component(&mut self, spec: &Spec, component: &Component, is_sent: bool) {
        let name = &component.name;
        let owner = format!("type {}", self.types.get(name).unwrap_or(name));
        let kind = match &component.kind {
            Kind::Struct(_) => "an object",
            Kind::Enum { .. } => "an enum",
            Kind::Union { .. } => "a union",
            Kind::Reference(_) => "a string with a pattern",
            Kind::Constant(_) | Kind::Plain(_) => "",
        };
        self.add(&owner, "", name, kind);
        let mut arguments = Vec::new();
        for it in component.members() {
            let ty = spec.schemas.field(it);
            self.add(&owner, &it.name, &format!("{name}.{}", it.field), &ty);
            if it.required && spec.schemas.constant(&it.value.ty).is_none() {
                arguments.push(format!("{}: {ty}", it.field));
            }
        }
        if is_sent && !component.members().is_empty() {
            let ty = format!("({})", arguments.join(", "));
            self.add(&owner, "new()", &format!("{name}::new"), &ty);
        }
        if let Kind::Enum { values, .. } = &component.kind {
            for it in values {
                self.add(&owner, &it.value, &format!("{name}::{}", it.variant), "");
            }
        }
        if let Kind::Union { variants, .. } = &component.kind {
            for it in variants {
                let variant = format!("{name}::{}", it.name);
                self.add(&owner, &it.name, &variant, &it.component);
            }
        }
    }
}

fn signature(spec: &Spec, operation: &Operation) -> String {
    let required = operation.parameters.iter().filter(|it| it.required);
    let ty = |it| spec.schemas.parameter(it);
    let arguments = required.map(|it| format!("{}: {}", it.field, ty(it)));
    let body = operation.body.iter().filter(|it| it.required);
    let body = body.map(|it| format!("body: {}", spec.schemas.rust(&it.value.ty)));
    let arguments: Vec<String> = arguments.chain(body).collect();
    let mut reply = reply_type(&spec.schemas, &operation.reply);
    if let Some(Ty::Page {
        members: Some(members),
        ..
    }) = operation.reply.ty()
    {
        reply = format!("{reply} with {members}");
    }
    let wrapper = if operation.is_command() {
        "Receipt"
    } else {
        "Response"
    };
    let key = if operation.keyed { "keyed " } else { "" };
    format!("{key}({}) -> {wrapper}<{reply}>", arguments.join(", "))
}

/// A type with the new names of its parts.
fn renamed(ty: &str, types: &Became) -> String {
    let parts = ty.split_inclusive(|it: char| !it.is_alphanumeric() && it != '_');
    let parts = parts.map(|part| {
        let word = part.trim_end_matches(|it: char| !it.is_alphanumeric() && it != '_');
        let other = types.get(word).map_or(word, String::as_str);
        format!("{other}{}", &part[word.len()..])
    });
    parts.collect()
}
