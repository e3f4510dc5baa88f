//! Fields that only requests or only responses have. A component with such fields that occurs in both becomes two.

use std::collections::{BTreeMap, BTreeSet};

use crate::findings::{Findings, Weight};
use crate::model::reach::follow;
use crate::model::{Component, Kind, Operation, Property, Schemas, Ty};
use crate::names::free_type;

/// Removes the fields that a direction does not have, and splits components that occur in both directions.
pub(super) fn split(
    schemas: &mut Schemas,
    operations: &mut [Operation],
    taken: &BTreeMap<String, String>,
    findings: &mut Findings,
) {
    let (mut sent, mut received) = (BTreeSet::new(), BTreeSet::new());
    for operation in operations.iter() {
        if let Some(body) = &operation.body {
            follow(schemas, &body.value.ty, &mut sent);
        }
        for ty in operation.reply.types() {
            follow(schemas, ty, &mut received);
        }
    }
    let inputs = inputs(schemas, sent.intersection(&received), taken);
    for (name, input) in &inputs {
        let mut component = schemas.components[name].clone();
        let rule = format!("`{name}` has fields of one direction only, so requests take `{input}`");
        findings.add(Weight::Renamed, &component.place, rule, "");
        component.name.clone_from(input);
        component.place.push_str("/input*");
        schemas.components.insert(input.clone(), component);
        sent.insert(input.clone());
    }
    let rename = |name: &mut String| {
        if let Some(input) = inputs.get(name) {
            name.clone_from(input);
        }
    };
    for body in operations.iter_mut().filter_map(|it| it.body.as_mut()) {
        body.value.ty.each_name(&rename);
    }
    for (name, component) in &mut schemas.components {
        // A component that contains an input but is not an input occurs only in requests.
        let in_requests = sent.contains(name) && !received.contains(name);
        match &mut component.kind {
            Kind::Union { variants, .. } if in_requests => {
                for variant in variants {
                    rename(&mut variant.component);
                }
            }
            Kind::Struct(members) if in_requests || received.contains(name) => {
                let before = members.clone();
                if in_requests {
                    members.retain(|it| !it.read_only);
                    for member in members.iter_mut() {
                        member.value.ty.each_name(&rename);
                    }
                } else {
                    members.retain(occurs_in_responses);
                    for member in members.iter_mut().filter(|it| it.write_only) {
                        member.required = false;
                    }
                }
                if members.len() < before.len() {
                    let rule = dropped(name, &before, members, in_requests);
                    findings.note(component.place.trim_end_matches("/input*"), rule);
                }
            }
            _ => {}
        }
    }
}

/// The names of the input types for components in which a direction lacks a field.
fn inputs<'a>(
    schemas: &Schemas,
    both: impl Iterator<Item = &'a String>,
    taken: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let differs = |name: &&String| {
        let mut within = BTreeSet::new();
        follow(schemas, &Ty::Named((*name).clone()), &mut within);
        let components = within.iter().filter_map(|it| schemas.components.get(it));
        let mut members = components.flat_map(Component::members);
        members.any(|it| it.read_only || it.write_only)
    };
    let is_taken = |name: &str| taken.contains_key(name) || schemas.components.contains_key(name);
    let input = |name: &String| {
        let wanted = format!("{name}Input");
        let input = free_type(&wanted, "Model", is_taken);
        (name.clone(), input)
    };
    both.filter(differs).map(input).collect()
}

/// A write-only secret also has a field in responses, so that it is redacted if a server repeats it.
fn occurs_in_responses(member: &Property) -> bool {
    !member.write_only || matches!(member.value.ty, Ty::Text { secret: true, .. })
}

/// The finding about fields that a component has in only one direction.
fn dropped(name: &str, before: &[Property], members: &[Property], in_requests: bool) -> String {
    let is_dropped = |it: &&Property| members.iter().all(|member| member.name != it.name);
    let dropped: Vec<&str> = before
        .iter()
        .filter(is_dropped)
        .map(|it| &*it.name)
        .collect();
    let (only, other) = if in_requests {
        ("responses", "requests")
    } else {
        ("requests", "responses")
    };
    let dropped = dropped.join(", ");
    format!("fields that only {only} have, so {name} in {other} lacks them: {dropped}")
}
