//! What must never be printed, and how it is kept out of texts that are.
//!
//! Only texts for people come through here. What a program reads, such as bodies, headers and members, is kept as it came.

pub(crate) mod confidential;
pub(crate) mod decoded;
pub(crate) mod value;
pub(crate) mod wiped;
