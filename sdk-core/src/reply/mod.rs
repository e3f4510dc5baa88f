//! Responses: decoding, and the types that return a value together with its status, headers and bytes.
//!
//! Module `call` interprets failed responses.

pub(crate) mod decode;
pub(crate) mod page;
pub(crate) mod response;
