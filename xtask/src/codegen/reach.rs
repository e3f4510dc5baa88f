//! Which components a client needs: those that requests or replies contain.

use std::collections::BTreeSet;

use super::Result;
use super::schema::{Component, Kind, Schemas, Shape};
use super::spec::Spec;

/// The components of one spec by where they occur.
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
        let mut reach = Self {
            requests: BTreeSet::new(),
            replies: BTreeSet::new(),
            whole_replies: BTreeSet::new(),
            parameters: BTreeSet::new(),
        };
        for operation in &spec.operations {
            if let Some(body) = &operation.body {
                follow(&spec.schemas, &body.value.shape, &mut reach.requests);
            }
            for parameter in &operation.parameters {
                follow(&spec.schemas, &parameter.value.shape, &mut reach.parameters);
            }
            follow(&spec.schemas, &operation.reply.shape, &mut reach.replies);
            reach.whole_replies.extend(
                spec.schemas
                    .named(&operation.reply.shape)
                    .map(|reply| reply.name.clone()),
            );
        }
        for name in reach.requests.intersection(&reach.replies) {
            if let Some(Component {
                kind: Kind::Struct(members),
                ..
            }) = spec.schemas.components.get(name)
                && members
                    .iter()
                    .any(|member| spec.schemas.constant(&member.value.shape).is_some())
            {
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
            if let Some(Kind::Struct(members)) =
                schemas.named(shape).map(|component| &component.kind)
            {
                for member in members {
                    follow(schemas, &member.value.shape, found);
                }
            }
        }
        _ => {}
    }
}
