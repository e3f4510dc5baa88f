//! What the generated clients are built on.
//!
//! This module is for the client crates of this workspace. Programs use the client crates; nothing here is needed
//! to call an operation, and it may change between minor versions.

mod body;
mod check;
mod client;
mod decode;
mod draft;
mod facade;
mod form;

pub use body::Body;
pub use bytes::Bytes;
pub use check::{Check, Validate, bad_reference};
pub use client::{ApiClient, Application, Endpoint};
pub use decode::Reply;
pub use draft::{Draft, encode_segment};
pub use reqwest;
pub use serde;

pub use crate::call::Call;
pub use crate::json::{Assumed, Bounded, Rfc3339, constant, otherwise};
pub use crate::operation::Row;
pub use crate::raw::RawOperations;
pub use crate::reference::{OpenEnum, Pattern, Piece, Reference, text};

pub(crate) use check::is_segment;
pub(crate) use decode::{Terms, Unreadable, decode};
