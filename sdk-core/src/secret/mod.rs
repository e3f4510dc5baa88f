//! What must never be printed, and how it is kept out of printed texts.
//!
//! Only texts for people pass through here. What programs read, such as bodies, headers and members, stays unchanged.

mod patterns;
pub(crate) mod redactor;
pub(crate) mod value;
