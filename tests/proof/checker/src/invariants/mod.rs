//! The invariants. Each file names its own; none depends on the internals of the SDK.

mod calls;
mod commands;
mod listings;
mod pace;
mod progress;
mod stored;
mod tokens;

use crate::Violation;
use crate::event::Micros;
use crate::facts::Facts;

pub(crate) const ALL: [fn(&Facts<'_>, &mut Found); 7] = [
    calls::check,
    commands::check,
    pace::check,
    tokens::check,
    listings::check,
    progress::check,
    stored::check,
];

#[derive(Debug, Default)]
pub(crate) struct Found(pub(crate) Vec<Violation>);

impl Found {
    /// Records a violation unless the invariant is satisfied.
    pub(crate) fn require(
        &mut self,
        invariant: &'static str,
        at: Micros,
        satisfied: bool,
        what: impl FnOnce() -> String,
    ) {
        if !satisfied {
            let what = what();
            self.0.push(Violation {
                invariant,
                at,
                what,
            });
        }
    }
}
