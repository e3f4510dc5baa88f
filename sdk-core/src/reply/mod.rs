//! Responses: decoding, and the types that return a value together with its status, headers and bytes.
//!
//! What a failure means belongs in `call`.

pub(crate) mod decode;
pub(crate) mod page;
pub(crate) mod response;
