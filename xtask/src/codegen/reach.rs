//! Which components a client needs: those that requests or replies contain.

use std::collections::BTreeSet;

use super::Result;
use super::schema::{Property, Schemas, Shape};
use super::spec::Spec;

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
    pub(crate) fn of(spec: &Spec) -> Result<Self> {
        let mut reach = Self::default();
        for operation in &spec.operations {
            if let Some(body) = &operation.body {
                follow(&spec.schemas, &body.value.shape, &mut reach.requests);
            }
            for parameter in &operation.parameters {
                follow(&spec.schemas, &parameter.value.shape, &mut reach.parameters);
            }
            follow(&spec.schemas, &operation.reply.shape, &mut reach.replies);
            let whole = spec.schemas.named(&operation.reply.shape);
            reach
                .whole_replies
                .extend(whole.map(|reply| reply.name.clone()));
        }
        for name in reach.requests.intersection(&reach.replies) {
            let members = spec.schemas.components[name].members();
            let constant = |it: &Property| spec.schemas.constant(&it.value.shape).is_some();
            if members.iter().any(constant) {
                return Err(format!(
                    "schema `{name}`: it has a constant and occurs in requests and in replies; split it in two, since \
                     a request states its constants and a reply may bring others"
                ));
            }
        }
        Ok(reach)
    }

    /// Whether a component occurs at all.
    pub(crate) fn contains(&self, name: &str) -> bool {
        [&self.requests, &self.replies, &self.parameters]
            .iter()
            .any(|names| names.contains(name))
    }
}

fn follow(schemas: &Schemas, shape: &Shape, found: &mut BTreeSet<String>) {
    match shape {
        Shape::Array { items, .. } => follow(schemas, items, found),
        Shape::Named(name) if found.insert(name.clone()) => {
            for member in schemas.members(shape) {
                follow(schemas, &member.value.shape, found);
            }
        }
        _ => {}
    }
}
