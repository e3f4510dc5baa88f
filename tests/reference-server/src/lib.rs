//! A stateful test server that implements the suite's CRM, Calendar, Accounting and Platform services.
//!
//! It implements the contract independently and depends on no SDK crate, so a misreading in the SDK shows up in a test
//! against it. [`ReferenceServer::start`] starts a suite with demo data on free ports. The server counts requests,
//! injects faults, and lets tests move its clock.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! use sdk_reference_server::{Operation, ReferenceServer};
//!
//! let server = ReferenceServer::start().await;
//! server.fault(Operation::ListPeople).times(2).status(503).retry_after("1");
//! // … point a client at server.crm_url(), with server.client_id() and server.client_secret() …
//! assert_eq!(server.attempts("listPeople"), 0);
//! # }
//! ```
//!
//! The [guide] shows how to test a service with the server, and lists the behavior that the contract doesn't document,
//! with the server's choice for each.

#![forbid(unsafe_code)]
#![deny(missing_docs)]
// All handlers have the same signature, even those that cannot fail.
#![allow(clippy::unnecessary_wraps)]

mod accounting;
mod adapters;
mod app;
mod auth;
mod base;
mod builder;
mod calendar;
mod call;
mod client;
mod clock;
mod contradict;
mod control;
mod counters;
mod crm;
mod cursor;
mod data;
mod faults;
// One row per operation, even where two rows are alike.
#[allow(clippy::match_same_arms)]
mod generated {
    pub(crate) mod contracts;
    pub(crate) mod handlers;
    pub(crate) mod operations;
}
mod hosts;
mod idempotency;
mod json;
mod keys;
mod log;
mod message;
mod own;
mod pages;
mod params;
mod platform;
#[cfg(feature = "program")]
pub mod program;
mod recorder;
mod refusal;
mod routing;
mod schema;
mod server;
mod start;
mod suite;
mod token;
mod visit;

// The first definition of a link wins, so these replace links to files, which only work in the repository.
#[doc = "[other languages]: crate::guide::other_languages"]
#[doc = ""]
#[doc = include_str!("../docs/testing-your-service.md")]
pub mod guide {
    #[doc = "[guide]: crate::guide"]
    #[doc = ""]
    #[doc = include_str!("../docs/other-languages.md")]
    pub mod other_languages {}
}

/// Compiles the program in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub use adapters::{InMemoryService, ResponseBody, Transport};
pub use app::App;
pub use builder::Builder;
pub use client::ClientSpec;
pub use contradict::{Assumption, UnknownAssumption};
pub use faults::{Fault, FaultStrike};
pub use generated::operations::Operation;
pub use log::RequestLog;
pub use recorder::RecordedRequest;
pub use server::ReferenceServer;
pub use token::key::Signing;
