//! The steps at which the tests kill or stop a worker. Outside tests, this does nothing.

use crate::entry::State;
use crate::store::Settlement;

/// The worker has come so far.
#[cfg(not(all(test, feature = "sqlite", feature = "postgres")))]
pub(crate) fn reached(_step: &str) {}

#[cfg(all(test, feature = "sqlite", feature = "postgres"))]
pub(crate) use crate::tests::kills::reached;

/// The steps before and after a result is recorded.
pub(crate) fn of(settlement: &Settlement) -> [&'static str; 2] {
    match (settlement.state, &settlement.note) {
        (State::Done, _) => ["done, not recorded", "done"],
        (State::Parked, _) => ["parked, not recorded", "parked"],
        (_, Some(_)) => ["later, not recorded", "later"],
        (_, None) => ["released, not recorded", "released"],
    }
}
