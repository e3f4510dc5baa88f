//! Actors, who can own tasks and opportunities.

use super::Text;
use super::names::COLLEAGUE;
use super::reference::Kind;
use super::table::{Record, World};

/// The default client acts for the first colleague.
pub(crate) const COUNT: u64 = COLLEAGUE.len() as u64;

/// A person or a client with an active workspace membership.
#[derive(Clone, Debug)]
pub(crate) struct Actor {
    pub(crate) display_name: Text,
}

impl Record for Actor {
    const KIND: Kind = Kind::Actor;
    const NOUN: &'static str = "actor";

    fn generate(_world: &World, index: u64) -> Actor {
        let name = COLLEAGUE[usize::try_from(index % COUNT).unwrap_or_default()];
        Actor {
            display_name: name.into(),
        }
    }
}
