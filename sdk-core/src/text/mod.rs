//! Text that people read: from elsewhere, made fit to be shown, and without what must not be shown.
//!
//! Everything that comes from a server and is printed goes through here. What a program reads goes not: bodies, headers
//! and members are kept as they came.

mod confidential;
mod decoded;
mod line;

pub(crate) use confidential::{Confidential, Recent};
pub use line::one_line;
pub(crate) use line::{counted, one_line_of};
