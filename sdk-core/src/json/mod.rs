//! JSON that survives what the contract does not show.
//!
//! [`RawJson`] is one value exactly as it came, [`Record`] an open object, [`Members`] the unknown members of
//! a known object, [`Number`] one number, [`Timestamp`] one instant. None of them goes through floating point or reorders
//! anything.

pub(crate) mod assumed;
pub(crate) mod bounded;
pub(crate) mod explain;
pub(crate) mod fields;
pub(crate) mod members;
pub(crate) mod number;
pub(crate) mod object;
pub(crate) mod open_enum;
pub(crate) mod raw;
pub(crate) mod record;
pub(crate) mod time;
