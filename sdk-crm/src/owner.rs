//! Named constructors for the generated owner filter.

use crate::types::{ActorReference, OpportunityOwner};

impl OpportunityOwner {
    /// Selects the opportunities without an owner.
    #[must_use]
    pub fn none() -> Self {
        Self::from("none")
    }
}

impl From<ActorReference> for OpportunityOwner {
    fn from(actor: ActorReference) -> Self {
        Self::from(actor.as_str())
    }
}
