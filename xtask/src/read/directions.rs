//! Members that only requests or only replies have: a component with such members that stands in both becomes two.

use std::collections::{BTreeMap, BTreeSet};

use crate::findings::{Findings, Weight};
use crate::model::{Kind, Operation, Property, Schemas, Ty};

/// The components that a type contains, itself included.
fn reach(schemas: &Schemas, ty: &Ty, found: &mut BTreeSet<String>) {
    if let Some(inner) = ty.inner() {
        reach(schemas, inner, found);
    }
    if let Ty::Page {
        members: Some(name),
        ..
    }
    | Ty::Named(name) = ty
        && found.insert(name.clone())
        && let Some(component) = schemas.components.get(name)
    {
        for member in component.members() {
            reach(schemas, &member.value.ty, found);
        }
        if let Kind::Union { variants, .. } = &component.kind {
            for variant in variants {
                reach(schemas, &Ty::Named(variant.component.clone()), found);
            }
        }
    }
}

/// Takes the members out that a direction does not have, and splits what stands in both.
pub(super) fn split(
    schemas: &mut Schemas,
    operations: &mut [Operation],
    taken: &BTreeMap<String, String>,
    findings: &mut Findings,
) {
    let (mut sent, mut received) = (BTreeSet::new(), BTreeSet::new());
    for operation in operations.iter() {
        if let Some(body) = &operation.body {
            reach(schemas, &body.value.ty, &mut sent);
        }
        for ty in operation.reply.types() {
            reach(schemas, ty, &mut received);
        }
    }
    let differs = |name: &String| {
        let mut within = BTreeSet::new();
        reach(schemas, &Ty::Named(name.clone()), &mut within);
        within.iter().any(|name| {
            let members = schemas
                .components
                .get(name)
                .map_or(&[][..], |it| it.members());
            members
                .iter()
                .any(|member| member.read_only || member.write_only)
        })
    };
    let mut renamed = BTreeMap::new();
    for name in sent.intersection(&received).filter(|name| differs(name)) {
        let mut input = format!("{name}Input");
        while taken.contains_key(&input) || schemas.components.contains_key(&input) {
            input.push_str("Model");
        }
        renamed.insert(name.clone(), input);
    }
    for (name, input) in &renamed {
        let Some(component) = schemas.components.get(name) else {
            continue;
        };
        let mut component = component.clone();
        let rule = format!("`{name}` has members of one direction only: requests take `{input}`");
        findings.add(Weight::Renamed, &component.place, rule, "");
        component.name.clone_from(input);
        component.place.push_str("/input*");
        match &mut component.kind {
            Kind::Struct(members) => {
                for member in members {
                    rename(&mut member.value.ty, &renamed);
                }
            }
            Kind::Union { variants, .. } => {
                for variant in variants {
                    if let Some(input) = renamed.get(&variant.component) {
                        variant.component.clone_from(input);
                    }
                }
            }
            _ => {}
        }
        schemas.components.insert(input.clone(), component);
    }
    for operation in operations.iter_mut() {
        if let Some(body) = &mut operation.body {
            rename(&mut body.value.ty, &renamed);
        }
    }
    // What contains one of them without being split itself stands in requests only.
    let inputs: BTreeSet<&String> = renamed.values().collect();
    for (name, component) in &mut schemas.components {
        let in_requests = inputs.contains(name) || sent.contains(name) && !received.contains(name);
        let in_replies = received.contains(name);
        let Kind::Struct(members) = &mut component.kind else {
            if let Kind::Union { variants, .. } = &mut component.kind
                && in_requests
            {
                for variant in variants {
                    if let Some(input) = renamed.get(&variant.component) {
                        variant.component.clone_from(input);
                    }
                }
            }
            continue;
        };
        let before: Vec<String> = members.iter().map(|it| it.name.clone()).collect();
        if in_requests && !in_replies {
            members.retain(|member| !member.read_only);
            for member in members.iter_mut() {
                rename(&mut member.value.ty, &renamed);
            }
        } else if in_replies {
            // A service that repeats a secret in spite of that must find it redacted.
            let is_secret = |ty: &Ty| matches!(ty, Ty::Text { secret: true, .. });
            members.retain(|member| !member.write_only || is_secret(&member.value.ty));
            for member in members.iter_mut().filter(|member| member.write_only) {
                member.required = false;
            }
        }
        if members.len() < before.len() {
            let rule = dropped(name, &before, members, in_replies);
            findings.note(component.place.trim_end_matches("/input*"), rule);
        }
    }
}

/// What to say of the members that a component has in one direction only.
fn dropped(name: &str, before: &[String], members: &[Property], in_replies: bool) -> String {
    let is_dropped = |name: &&String| members.iter().all(|it| it.name != **name);
    let dropped: Vec<&str> = before
        .iter()
        .filter(is_dropped)
        .map(String::as_str)
        .collect();
    let (only, other) = if in_replies {
        ("requests", "replies")
    } else {
        ("replies", "requests")
    };
    let dropped = dropped.join(", ");
    format!("members of {only} only, which {name} in {other} has no field for: {dropped}")
}

fn rename(ty: &mut Ty, renamed: &BTreeMap<String, String>) {
    match ty {
        Ty::Named(name) => {
            if let Some(input) = renamed.get(name) {
                name.clone_from(input);
            }
        }
        Ty::Array { items, .. } | Ty::Page { items, .. } => rename(items, renamed),
        Ty::Map(inner) | Ty::Nullable(inner) => rename(inner, renamed),
        _ => {}
    }
}
