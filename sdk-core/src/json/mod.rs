//! JSON that survives what the contract does not show.
//!
//! [`RawJson`] is one value exactly as it came, [`Record`] an open object, [`Members`] the unknown members of
//! a known object. None of them goes through floating point or reorders anything.

mod members;
mod object;
mod open_enum;
mod page;
mod raw;
mod record;

pub use members::Members;
pub use page::Page;
pub use raw::RawJson;
pub(crate) use raw::explain;
pub use record::Record;
