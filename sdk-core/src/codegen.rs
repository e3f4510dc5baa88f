//! The API for generated clients. Generated code uses nothing else of this crate.
//!
//! Programs use the client crates and don't need this module. It may change in any version, so a client depends on the
//! exact version of this crate for which it was generated.

pub use bytes::Bytes;
pub use serde;

pub use crate::call::Call;
pub use crate::client::{ApiClient, Endpoint};
pub use crate::json::number::{Bounded, Integral};
pub use crate::json::object::{TypedOrRaw, constant, typed};
pub use crate::json::record::{decode_variant, tagged_object};
pub use crate::json::text::text;
pub use crate::json::time::Rfc3339;
pub use crate::operation::{Application, RawOperations};
pub use crate::reply::decode::{FromResponse, Received, Unreadable};
pub use crate::request::body::Body;
pub use crate::request::check::{Check, ListStyle, Validate, bad_reference};
pub use crate::request::draft::{Draft, encode_segment};
pub use crate::request::reference::{Pattern, Piece};
