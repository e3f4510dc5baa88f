//! Which components a client needs: those that requests or replies contain.

use std::collections::BTreeSet;

use super::schema::{Kind, Schemas};
use super::spec::Spec;
use super::ty::Shape;

/// The components of one spec by where they occur.
#[derive(Default)]
pub(crate) struct Reach {
    /// In request bodies.
    pub(crate) requests: BTreeSet<String>,
    /// In replies.
    pub(crate) replies: BTreeSet<String>,
    /// As a whole reply.
    pub(crate) whole_replies: BTreeSet<String>,
    /// In parameters.
    pub(crate) parameters: BTreeSet<String>,
}

impl Reach {
    /// Follows the operations of a spec.
    pub(crate) fn of(spec: &Spec) -> Self {
        let mut reach = Self::default();
        for operation in &spec.operations {
            if let Some(body) = &operation.body {
                follow(&spec.schemas, &body.value.shape, &mut reach.requests);
            }
            for parameter in &operation.parameters {
                follow(&spec.schemas, &parameter.value.shape, &mut reach.parameters);
            }
            for shape in operation.reply.shapes() {
                follow(&spec.schemas, shape, &mut reach.replies);
                let whole = spec.schemas.named(shape);
                reach
                    .whole_replies
                    .extend(whole.map(|reply| reply.name.clone()));
            }
        }
        reach
    }

    /// Whether a component occurs at all.
    pub(crate) fn contains(&self, name: &str) -> bool {
        [&self.requests, &self.replies, &self.parameters]
            .iter()
            .any(|names| names.contains(name))
    }
}

fn follow(schemas: &Schemas, shape: &Shape, found: &mut BTreeSet<String>) {
    let own = |name: &String| Shape::Named(name.clone());
    if let Shape::Page {
        members: Some(name),
        ..
    } = shape
    {
        follow(schemas, &own(name), found);
    }
    if let Some(inner) = shape.inner() {
        follow(schemas, inner, found);
    }
    let Shape::Named(name) = shape else { return };
    if !found.insert(name.clone()) {
        return;
    }
    match schemas.kind(shape) {
        Some(Kind::Struct(members)) => {
            for member in members {
                follow(schemas, &member.value.shape, found);
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
