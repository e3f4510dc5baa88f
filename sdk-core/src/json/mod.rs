//! JSON that survives what the contract does not show.
//!
//! [`RawJson`] is one value exactly as it came, [`Record`] an open object, [`Members`] the unknown members of
//! a known object, [`Number`] one number, [`Timestamp`] one instant. None of them goes through floating point or reorders
//! anything.

mod assumed;
mod bounded;
mod explain;
mod members;
mod number;
mod object;
mod open_enum;
mod page;
mod raw;
mod record;
mod time;

pub use assumed::{Assumed, constant, otherwise};
pub(crate) use assumed::{Mismatch, watch};
pub use bounded::Bounded;
pub(crate) use explain::{Found, explain};
pub use members::Members;
pub use number::Number;
pub use page::Page;
pub use raw::RawJson;
pub use record::Record;
pub use time::{Date, Rfc3339, Timestamp, ZonedTime};
