//! The components that a client needs, which are the components in requests and responses.

use std::collections::BTreeSet;

use super::schema::{Kind, Schemas};
use super::spec::Spec;
use super::ty::Ty;

/// The components of a spec by their uses.
#[derive(Default)]
pub(crate) struct Reach {
    pub(crate) requests: BTreeSet<String>,
    pub(crate) replies: BTreeSet<String>,
    /// As an entire response.
    pub(crate) whole_replies: BTreeSet<String>,
    pub(crate) parameters: BTreeSet<String>,
}

impl Reach {
    pub(crate) fn of(spec: &Spec) -> Self {
        let mut reach = Self::default();
        for operation in &spec.operations {
            if let Some(body) = &operation.body {
                follow(&spec.schemas, &body.value.ty, &mut reach.requests);
            }
            for parameter in &operation.parameters {
                follow(&spec.schemas, &parameter.value.ty, &mut reach.parameters);
            }
            for ty in operation.reply.types() {
                follow(&spec.schemas, ty, &mut reach.replies);
                let whole = spec.schemas.named(ty);
                reach
                    .whole_replies
                    .extend(whole.map(|reply| reply.name.clone()));
            }
        }
        reach
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        [&self.requests, &self.replies, &self.parameters]
            .iter()
            .any(|names| names.contains(name))
    }
}

/// Adds the component of a type, and all components that it contains.
pub(crate) fn follow(schemas: &Schemas, ty: &Ty, found: &mut BTreeSet<String>) {
    let own = |name: &String| Ty::Named(name.clone());
    if let Ty::Page {
        members: Some(name),
        ..
    } = ty
    {
        follow(schemas, &own(name), found);
    }
    if let Some(inner) = ty.inner() {
        follow(schemas, inner, found);
    }
    let Ty::Named(name) = ty else { return };
    if !found.insert(name.clone()) {
        return;
    }
    match schemas.kind(ty) {
        Some(Kind::Struct(members)) => {
            for member in members {
                follow(schemas, &member.value.ty, found);
            }
        }
        Some(Kind::Union { variants, .. }) => {
            for variant in variants {
                follow(schemas, &own(&variant.component), found);
            }
        }
        Some(Kind::Plain(inner)) => follow(schemas, inner, found),
        _ => {}
    }
}
