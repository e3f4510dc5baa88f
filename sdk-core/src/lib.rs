//! The shared runtime of the suite SDK.
//!
//! Programs use the client crates `sdk-crm`, `sdk-calendar`, `sdk-accounting` and `sdk-platform`, which re-export
//! what they need from here. This crate holds what is common to them: the [`Suite`] with its credentials, tokens and
//! connection pool, the one [`Error`] type, pagination, idempotency keys, and JSON that survives what the contract
//! does not show.

mod call;
mod cause;
mod config;
mod contract;
mod credentials;
mod error;
pub mod guide;
mod idempotency;
mod json;
mod operation;
mod options;
pub mod paging;
mod prepared;
mod raw;
mod reference;
mod response;
mod retry;
mod retry_after;
pub mod runtime;
mod scopes;
mod secret;
mod stored;
mod suite;
mod text;
pub mod token;
mod transport;

pub use call::SendPrepared;
pub use contract::{ContractMatch, ContractReport};
pub use credentials::{ClientAuthentication, ClientCredentials};
pub use error::{Effect, Error, ErrorKind};
pub use idempotency::IdempotencyKey;
pub use json::{Date, Members, Number, Page, RawJson, Record, Timestamp, ZonedTime};
pub use operation::{Method, Operation, Provenance, Replay, Safety};
pub use options::{CallOptions, SchemaPolicy};
pub use paging::{Checkpoint, Items, Pages};
pub use prepared::PreparedCommand;
pub use raw::{RawCall, RawTarget};
pub use response::{Receipt, Response};
pub use retry::RetryPolicy;
pub use scopes::{MissingScopes, least_scopes};
pub use secret::Secret;
pub use stored::{ParkReason, StoredRule, StoredStep};
pub use suite::{Stats, Suite, SuiteBuilder};
pub use text::one_line;
pub use token::{AccessToken, TokenError, TokenFuture, TokenPolicy, TokenRequest, TokenSource};

/// The README's program compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
