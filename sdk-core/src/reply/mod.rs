//! What came back: read into types, and handed to the caller with what is known of the call.
//!
//! What a failure means is decided in `call`.

pub(crate) mod decode;
pub(crate) mod page;
pub(crate) mod response;
