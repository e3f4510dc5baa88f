//! The steps at which the tests kill or stop a worker. Outside tests, this does nothing.

use crate::entry::State;
use crate::store::{Claim, Settlement};

/// The worker has come so far.
#[cfg(not(all(test, feature = "sqlite", feature = "postgres")))]
pub(crate) fn reached(_step: &str) {}

#[cfg(all(test, feature = "sqlite", feature = "postgres"))]
pub(crate) use crate::tests::kills::reached;

/// The steps before and after a result is recorded.
pub(crate) fn of(claim: &Claim, settlement: &Settlement) -> [&'static str; 2] {
    match settlement.state {
        State::Done => ["done, not recorded", "done"],
        State::Parked => ["parked, not recorded", "parked"],
        // One that is given back keeps its attempts.
        _ if settlement.attempts > claim.command.attempts => ["later, not recorded", "later"],
        _ => ["released, not recorded", "released"],
    }
}
