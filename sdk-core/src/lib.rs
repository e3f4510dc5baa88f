// rustdoc uses the first definition of a link. These replace the README's link targets, which are for GitHub.
//! [guide]: crate::guide
//! [getting started]: crate::guide::getting_started
//! [operations]: crate::guide::operations
//! [errors]: crate::guide::errors
//! [testing]: crate::guide::testing
//!
#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[allow(
    unused_extern_crates,
    reason = "links that macros write into documentation resolve here and in the clients"
)]
extern crate self as sdk_core;

mod app;
mod call;
mod caught;
mod client;
#[doc(hidden)]
pub mod codegen;
mod command;
mod drift;
mod error;
#[doc(alias = "faq")]
#[doc(alias = "help")]
#[doc(alias = "how to")]
#[doc(alias = "questions")]
pub mod guide;
#[doc(hidden)]
pub mod internal {
    //! The token engine, for this repository's benchmarks and tests. It is not part of the public API.

    pub use crate::token::cache::TokenCache;
    pub use crate::token::entry::TokenEntry;
    pub use crate::token::exchange::ClientCredentialsSource;
    pub use crate::transport::connections::Sender;
}
mod json;
mod list;
mod macros;
pub mod observe;
mod operation;
mod options;
mod policy;
mod raw_call;
mod replay;
mod reply;
mod request;
mod secret;
mod suite;
#[cfg(feature = "test-util")]
#[cfg_attr(docsrs, doc(cfg(feature = "test-util")))]
pub mod testing;
mod text;
mod token;
#[cfg_attr(
    not(feature = "reqwest-013"),
    allow(
        dead_code,
        unused_variables,
        clippy::unnecessary_wraps,
        reason = "only HTTP clients need them"
    )
)]
pub mod transport;

pub use app::{App, UnknownApp};
pub use command::key::IdempotencyKey;
pub use command::prepared::PreparedCommand;
pub use drift::contract::{ContractMatch, ContractReport};
pub use drift::scopes::{MissingScopes, least_scopes};
pub use error::Error;

pub use error::kind::{AttemptRecord, Effect, ErrorKind};
pub use json::members::Members;
pub use json::number::Number;
pub use json::raw::RawJson;
pub use json::record::{JsonBody, Record};
pub use json::text::Text;
pub use json::time::{Date, Timestamp, ZonedTime};
pub use list::checkpoint::Checkpoint;
pub use list::items::Items;
pub use list::pages::Pages;
pub use observe::observer::Observer;
pub use operation::{Method, Operation, Provenance, Replay, Safety};
pub use options::{CallOptions, ExactReplay, SchemaPolicy, ScopePolicy};
pub use policy::retry::Backoff;
pub use policy::retry::RetryPolicy;
pub use raw_call::{RawCall, RawTarget};
pub use replay::{PreparedSender, SendPrepared};
pub use reply::page::Page;
pub use reply::response::{Receipt, Response};
pub use request::key::IntoKey;
pub use secret::value::Secret;
pub use suite::builder::SuiteBuilder;
pub use suite::{Stats, Suite};
pub use text::one_line;
pub use token::credentials::{ClientAuthentication, ClientCredentials, IntoCredentials};
pub use token::credentials::{CredentialSource, CredentialsFuture};
pub use token::error::{TokenError, TokenErrorKind};
pub use token::policy::TokenPolicy;
pub use token::source::{AccessToken, TokenFuture, TokenRequest, TokenSource};
