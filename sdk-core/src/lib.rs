//! The shared runtime of the suite SDK.
//!
//! Programs use the client crates `sdk-crm`, `sdk-calendar`, `sdk-accounting` and `sdk-platform`, which re-export
//! what they need from here. This crate holds what is common to them: the [`Suite`] with its credentials, tokens and
//! connection pool, the one [`Error`] type, pagination, idempotency keys, and JSON that survives what the contract
//! does not show.

mod call;
mod client;
#[doc(hidden)]
pub mod codegen;
mod command;
mod drift;
mod error;
pub mod guide;
mod json;
mod list;
mod observe;
mod operation;
mod options;
mod policy;
mod replay;
mod reply;
mod request;
mod secret;
mod suite;
mod text;
pub mod token;
mod transport;

pub use command::key::IdempotencyKey;
pub use command::prepared::PreparedCommand;
pub use drift::contract::{ContractMatch, ContractReport};
pub use drift::raw::{RawCall, RawTarget};
pub use drift::scopes::{MissingScopes, least_scopes};
pub use error::Error;
pub use error::kind::{Effect, ErrorKind};
pub use json::members::Members;
pub use json::number::Number;
pub use json::raw::RawJson;
pub use json::record::Record;
pub use list::checkpoint::Checkpoint;
pub use list::items::Items;
pub use list::pages::Pages;
pub use operation::{Method, Operation, Provenance, Replay, Safety};
pub use options::{CallOptions, ExactReplay, SchemaPolicy, ScopePolicy};
pub use policy::retry::RetryPolicy;
pub use replay::rule::{ParkReason, StoredRule, StoredStep};
pub use replay::send::SendPrepared;
pub use reply::page::{Page, PageItems};
pub use reply::response::{Receipt, Response};
pub use secret::value::Secret;
pub use suite::builder::SuiteBuilder;
pub use suite::{Stats, Suite};
pub use text::one_line;
pub use token::credentials::{ClientAuthentication, ClientCredentials};
pub use token::error::TokenError;
pub use token::policy::TokenPolicy;
pub use token::source::{AccessToken, TokenFuture, TokenRequest, TokenSource};

/// The README's program compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
