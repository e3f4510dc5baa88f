//! Preserves type names that callers use. If an unnamed schema of the document replaces a named type of the former spec, the
//! type keeps its name. A vendor's name takes precedence.

use std::collections::BTreeSet;

use super::overlay::path;
use super::{by_route, route};
use crate::model::{Component, Spec};
use crate::node::Node;

/// The paths of schemas that would get a derived name, and their former names.
pub(super) fn preserved(before: &Spec, after: &Spec, document: &Node) -> Vec<(String, String)> {
    let pairs = pairs(before, after);
    let component = |spec: &Spec, name: &str| spec.schemas.components.get(name).cloned();
    let alone = pairs.iter().filter(|(old, new)| {
        // Each name must belong to a single type on both sides.
        let mut others = pairs.iter().filter(|it| it.0 == *old || it.1 == *new);
        let is_alone = others.nth(1).is_none();
        is_alone && component(after, old).is_none() && component(before, new).is_none()
    });
    let preserved = alone.filter_map(|(old, new)| {
        component(before, old).filter(Component::is_type)?;
        let new = component(after, new).filter(Component::is_type)?;
        Some((nameless(document, &new.place)?, old.clone()))
    });
    preserved.collect()
}

/// The path of a schema that has no vendor's name and is not a reference.
fn nameless(document: &Node, place: &str) -> Option<String> {
    let is_component = place.starts_with("/components/schemas/") && place.matches('/').count() == 3;
    let node = document.pointer(place)?;
    let mut names = ["x-sdk-name", "$ref"].iter();
    let is_named = is_component || names.any(|key| node.get(key).is_some());
    node.object().filter(|_| !is_named)?;
    path(document, place)
}

/// The names of types that occur in the same place of both specs.
fn pairs(before: &Spec, after: &Spec) -> BTreeSet<(String, String)> {
    let known = by_route(before);
    let mut open = Vec::new();
    for new in &after.operations {
        let Some(old) = known.get(&route(&new.route())) else {
            continue;
        };
        for parameter in &new.parameters {
            let same = old.parameter(&parameter.name);
            open.extend(same.map(|it| (&it.value.ty, &parameter.value.ty)));
        }
        let bodies = old.body.as_ref().zip(new.body.as_ref());
        open.extend(bodies.map(|(old, new)| (&old.value.ty, &new.value.ty)));
        open.extend(old.reply.ty().zip(new.reply.ty()));
    }
    let mut pairs = BTreeSet::new();
    while let Some((old, new)) = open.pop() {
        open.extend(old.inner().zip(new.inner()));
        let Some((was, is)) = old.name().zip(new.name()) else {
            continue;
        };
        if pairs.insert((was.clone(), is.clone())) {
            for member in before.schemas.members(old) {
                let mut others = after.schemas.members(new).iter();
                let same = others.find(|it| it.name == member.name);
                open.extend(same.map(|it| (&member.value.ty, &it.value.ty)));
            }
        }
    }
    pairs
}
