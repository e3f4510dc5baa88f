//! The files of one client crate.

use std::path::Path;

use crate::Result;
use crate::model::{Reach, Spec};

use super::text::prose;
use super::tree::Tree;
use super::{face, root, table, types};

/// The lints that generated code is not held to. It is formatted and documented, but nobody reads it for style, and what
/// the contract marks as deprecated is still checked and sent.
const MODULE: &str = "\
#![allow(clippy::all, clippy::pedantic, deprecated)]

pub(crate) mod client;
pub(crate) mod face;
pub mod operations;
pub mod types;
";

/// `client.rs`: the type that its users begin with, the same for each application but for its title.
const CLIENT: &str = "\
//! The client of the application.

use super::operations::{APPLICATION, OPERATIONS};
use sdk_core::codegen::ApiClient;
use sdk_core::{
    CallOptions, ContractReport, Error, MissingScopes, Operation, PreparedCommand, RawCall, RawTarget,
    SendPrepared, Suite,
};

/// The TITLE application of a suite.
///
/// Cloning is cheap and shares everything; it is `Send`, `Sync` and `'static`.
#[derive(Clone, Debug)]
pub struct Client {
    api: ApiClient,
}

impl Client {
    /// A client for the suite's application. Nothing is sent and nothing is started.
    ///
    /// # Errors
    /// When the suite has no URL for the application.
    pub fn new(suite: &Suite) -> Result<Self, Error> {
        ApiClient::new(suite, &APPLICATION).map(|api| Self { api })
    }

    /// The same client with other defaults for its calls.
    #[must_use]
    pub fn with_defaults(&self, defaults: CallOptions) -> Self {
        Self {
            api: self.api.with_defaults(defaults),
        }
    }

    /// The base URL of its requests: scheme, host and port, and a path if the suite has one for the application.
    #[must_use]
    pub fn origin(&self) -> &str {
        self.api.endpoint().base()
    }

    /// The operations of the application: scopes, safety, provenance.
    #[must_use]
    pub fn operations() -> &'static [&'static Operation] {
        OPERATIONS
    }

    /// Obtains the token before the first call, within the deadline of a call.
    ///
    /// # Errors
    /// When no token can be obtained in time.
    pub async fn prewarm(&self) -> Result<(), Error> {
        self.api.prewarm().await
    }

    /// Sends a prepared command exactly as it was prepared: bytes, headers and query. By the contract, CRM and
    /// Calendar return the stored result of a committed command when it is replayed; for Accounting this is
    /// assumed (A51).
    ///
    /// Set `timeout`, `deadline`, `retry` and the like, then `.await` it.
    /// [`typed`](sdk_core::SendPrepared::typed) reads the result as a type of this crate. If the command was
    /// changed after it was prepared, or belongs to another client, nothing is sent.
    pub fn send_prepared(&self, command: &PreparedCommand) -> SendPrepared {
        SendPrepared::new(&self.api, command)
    }

    /// A call with raw JSON in both directions, of a known operation or of a method and path that this SDK does
    /// not know. Otherwise it behaves like any call.
    pub fn raw_call(&self, target: impl Into<RawTarget>) -> RawCall {
        self.api.raw_call(target)
    }

    /// Compares the application's contract with the one that this SDK was built for: one cheap call without a
    /// token, for the start of a service. If the contract documents no metadata, the report says so.
    ///
    /// # Errors
    /// When the metadata cannot be fetched or read.
    pub async fn check_contract(&self) -> Result<ContractReport, Error> {
        self.api.check_contract().await
    }

    /// Which of these operations the client's token cannot call, by the scopes that the token endpoint reports
    /// as granted. Obtains a token if there is none, within the deadline of a call.
    ///
    /// # Errors
    /// When no token can be obtained in time.
    pub async fn missing_scopes(
        &self,
        operations: &[&'static Operation],
    ) -> Result<MissingScopes, Error> {
        self.api.missing_scopes(operations).await
    }

    pub(crate) fn api(&self) -> &ApiClient {
        &self.api
    }
}
";

/// Adds them.
pub(crate) fn add(root: &Path, spec: &Spec, tree: &mut Tree) -> Result<()> {
    modules(root, spec, tree)?;
    let library = format!("{}/src/lib.rs", spec.app.folder);
    let by_hand = root::ByHand::of(root, spec, &Reach::of(spec))?;
    tree.notes
        .extend(by_hand.iter().filter_map(root::ByHand::finding));
    let code = root::write(spec, &by_hand);
    tree.add_rust(root, library, &spec.file(), &code)
}

/// A finding for each handwritten module of a client that needs a type which its document lacks.
pub(crate) fn left_out(root: &Path, spec: &Spec) -> Result<Vec<String>> {
    let by_hand = root::ByHand::of(root, spec, &Reach::of(spec))?;
    Ok(by_hand.iter().filter_map(root::ByHand::finding).collect())
}

/// Adds all but the root of the crate.
pub(crate) fn modules(root: &Path, spec: &Spec, tree: &mut Tree) -> Result<()> {
    let folder = format!("{}/src/generated", spec.app.folder);
    for (name, code) in [
        ("mod.rs", MODULE.to_owned()),
        ("types.rs", types::write(spec, &Reach::of(spec))),
        (
            "client.rs",
            CLIENT.replacen("TITLE", &prose(&spec.title), 1),
        ),
        ("operations.rs", table::write(spec)),
        ("face.rs", face::write(spec)),
    ] {
        tree.add_rust(root, format!("{folder}/{name}"), &spec.file(), &code)?;
    }
    tree.own(folder);
    Ok(())
}
