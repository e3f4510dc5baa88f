//! The steps at which the tests kill or stop a worker. Outside tests, this does nothing.

use crate::entry::State;
use crate::store::{Claim, Settlement};

#[cfg(not(all(test, feature = "sqlite", feature = "postgres")))]
pub(crate) fn reached(_step: &str) {}

#[cfg(all(test, feature = "sqlite", feature = "postgres"))]
pub(crate) use crate::tests::kills::reached;

/// Returns the names of the steps before and after a result is recorded.
pub(crate) fn of(claim: &Claim, settlement: &Settlement) -> [&'static str; 2] {
    match settlement.state {
        State::Done => ["done, not recorded", "done"],
        State::Parked => ["parked, not recorded", "parked"],
        // A released command has the same attempts as before its claim.
        _ if settlement.attempts > claim.command.attempts => ["later, not recorded", "later"],
        _ => ["released, not recorded", "released"],
    }
}
