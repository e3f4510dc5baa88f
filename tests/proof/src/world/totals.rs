//! What worlds came to.

use std::fmt;
use std::ops::AddAssign;

macro_rules! counts {
    ($($count:ident = $name:literal;)*) => {
        /// What is counted.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Count { $(
            #[doc = concat!("How many ", $name, " there were.")]
            $count,
        )* }

        const NAMES: &[&str] = &[$($name),*];
    };
}

counts! {
    Worlds = "worlds";
    Requests = "requests";
    Exchanges = "exchanges of a credential";
    Reads = "reads";
    Keyed = "keyed commands";
    Unkeyed = "unkeyed commands";
    Stored = "stored commands";
    Resent = "commands sent again by hand";
    Settled = "stored commands with a receipt";
    Parked = "stored commands left to a person";
    Dropped = "calls that were dropped";
    Failed = "calls that failed";
    Walks = "walks";
    WalksEnded = "walks that came to their end";
    Taken = "records taken by walks";
    Suites = "suites";
    Crashes = "crashes";
    Delayed = "fault: delayed";
    Refused = "fault: connection refused";
    Unreached = "fault: connection never made";
    Cut = "fault: cut before arrival";
    Swallowed = "fault: never arrived, never told";
    Lost = "fault: reply lost";
    Stalled = "fault: never answered";
    Dripped = "fault: dripping body";
    Truncated = "fault: truncated body";
    Broken = "fault: broken body";
    Unavailable = "fault: 5xx before arrival";
    Limited = "fault: 429";
    Replaced = "fault: 5xx after arrival";
    Denied = "fault: 4xx of a token endpoint";
    Lied = "fault: lifetime misstated";
    Revoked = "fault: tokens revoked";
    Rotated = "fault: secret rotated";
    Outages = "fault: outage of an application";
    Drifts = "fault: installation with drift";
}

/// What some worlds came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Totals([u64; NAMES.len()]);

impl Default for Totals {
    fn default() -> Self {
        Self([0; NAMES.len()])
    }
}

impl Totals {
    /// How many there were.
    #[must_use]
    pub fn of(&self, count: Count) -> u64 {
        self.0[count as usize]
    }

    pub(super) fn count(&mut self, count: Count) {
        self.0[count as usize] += 1;
    }
}

impl AddAssign<&Self> for Totals {
    fn add_assign(&mut self, other: &Self) {
        for (own, more) in self.0.iter_mut().zip(other.0) {
            *own += more;
        }
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, count) in NAMES.iter().zip(self.0) {
            writeln!(f, "{count:>12}  {name}")?;
        }
        Ok(())
    }
}
