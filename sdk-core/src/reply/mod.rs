//! Responses: decoding, and the types that return a value together with its status, headers and bytes.
//!
//! Module `call` decides what a failed response means.

pub(crate) mod decode;
pub(crate) mod page;
pub(crate) mod response;
