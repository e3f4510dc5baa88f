//! The files of one client crate.

use std::fs;
use std::path::Path;

use crate::model::{Reach, Spec, taken};
use crate::{Result, at};

use super::text::{joined, prose};
use super::tree::{Tree, text_of};
use super::{requests, table, types};

/// `mod.rs`. Generated code is formatted and documented, but its style is not linted, and it checks and sends elements that
/// the contract marks as deprecated.
const MODULE: &str = "\
#![allow(clippy::all, clippy::pedantic, deprecated, unused_imports)]

pub(crate) mod client;
pub(crate) mod requests;
pub mod operations;
pub mod types;
";

/// `client.rs` with the client type, which differs between applications only in the title.
const CLIENT: &str = "\
//! The client of the application.

use super::operations::{APPLICATION, OPERATIONS};
use sdk_core::codegen::ApiClient;
use sdk_core::{
    App, CallOptions, ContractReport, Error, MissingScopes, Operation, PreparedCommand, PreparedSender,
    RawCall, RawTarget, SendPrepared, Suite,
};

/// A client of the suite's TITLE application.
///
/// Clones are cheap and share all state. The client is `Send`, `Sync` and `'static`.
#[derive(Clone, Debug)]
pub struct Client {
    api: ApiClient,
}

impl Client {
    /// Creates a client. This sends nothing and starts no task.
    ///
    /// # Errors
    /// Fails if the suite has no URL for the application.
    pub fn new(suite: &Suite) -> Result<Self, Error> {
        ApiClient::new(suite, &APPLICATION).map(|api| Self { api })
    }

    /// Returns the client with other defaults for its calls.
    #[must_use]
    pub fn with_defaults(&self, defaults: CallOptions) -> Self {
        Self {
            api: self.api.with_defaults(defaults),
        }
    }

    /// The base URL of its requests, with scheme, host and port, and the path if the configured URL has one.
    #[must_use]
    pub fn origin(&self) -> &str {
        self.api.endpoint().base()
    }

    /// The operations of the application, with their scopes, safety and provenance.
    #[must_use]
    pub fn operations() -> &'static [&'static Operation] {
        OPERATIONS
    }

    /// Obtains the token before the first call, within the deadline of a call.
    ///
    /// After a failure, later calls obtain the token themselves. A process with many installations should report the failure
    /// and start anyway. See [the guide](sdk_core::guide::installations#start-while-an-installation-is-down).
    ///
    /// # Errors
    /// Fails if no token can be obtained in time.
    pub async fn prewarm(&self) -> Result<(), Error> {
        self.api.prewarm().await
    }

    /// Sends a prepared command with exactly the same body, headers and query.
    ///
    /// Set options such as `timeout`, `deadline` or `retry`, then `.await` it.
    /// [`typed`](sdk_core::SendPrepared::typed) decodes the result into a type of this crate. If the command was
    /// changed after it was prepared, or belongs to another client, the call fails locally.
    ///
    /// If a committed command is sent again, CRM and Calendar return the stored result. Accounting is assumed to do
    /// the same (A51).
    pub fn send_prepared(&self, command: &PreparedCommand) -> SendPrepared {
        SendPrepared::new(&self.api, command)
    }

    /// Calls a known operation, or a method and path that this SDK does not know, with raw JSON in both directions.
    /// Otherwise, the call behaves like any other.
    pub fn raw_call(&self, target: impl Into<RawTarget>) -> RawCall {
        self.api.raw_call(target)
    }

    /// Compares the server's contract version with the version that this SDK was built for.
    ///
    /// This makes one cheap call without a token, so you can run it when your service starts. If the contract
    /// documents no metadata operation, the report says so.
    ///
    /// # Errors
    /// Fails if the metadata can't be fetched or read.
    pub async fn check_contract(&self) -> Result<ContractReport, Error> {
        self.api.check_contract().await
    }

    /// Returns the entries of `operations` that the client's token can't call, based on the scopes that the endpoint
    /// granted. If there is no token, obtains one within the deadline of a call.
    ///
    /// # Errors
    /// Fails if no token can be obtained in time.
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

impl PreparedSender for Client {
    fn application(&self) -> App {
        APPLICATION.app
    }

    fn installation(&self) -> Option<&str> {
        self.api.installation()
    }

    fn send_prepared(&self, command: &PreparedCommand) -> SendPrepared {
        Client::send_prepared(self, command)
    }
}
";

pub(crate) fn add(root: &Path, spec: &Spec, tree: &mut Tree) -> Result<()> {
    modules(root, spec, tree)?;
    let file = format!("{}/src/lib.rs", spec.app.folder);
    let by_hand = ByHand::of(root, spec)?;
    let findings = by_hand.iter().filter_map(ByHand::finding);
    tree.notes.extend(findings);
    tree.add_rust(root, file, &spec.file(), &library(spec, &by_hand))
}

/// A finding for each handwritten module of a client that needs a type that the document lacks.
pub(crate) fn left_out(root: &Path, spec: &Spec) -> Result<Vec<String>> {
    let by_hand = ByHand::of(root, spec)?;
    Ok(by_hand.iter().filter_map(ByHand::finding).collect())
}

/// Adds all files except the root of the crate.
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
        ("requests.rs", requests::write(spec)),
    ] {
        tree.add_rust(root, format!("{folder}/{name}"), &spec.file(), &code)?;
    }
    tree.own(folder);
    Ok(())
}

/// The link targets of the README in rustdoc. Of two definitions of a link, the first wins, and the definitions in the README
/// are for repository hosts.
const LEADS: &str = "\
//! [guide]: crate::guide
//! [getting started]: crate::guide::getting_started
//! [operations]: crate::guide::operations
//! [errors]: crate::guide::errors
//! [testing]: crate::guide::testing
";

/// `lib.rs`, which lists each public name.
pub(super) fn library(spec: &Spec, by_hand: &[ByHand]) -> String {
    let title = prose(&spec.title);
    let by_hand = by_hand.iter().filter(|it| it.lacks.is_empty());
    let by_hand: String = by_hand.flat_map(|it| ["mod ", &*it.name, ";\n"]).collect();
    format!(
        "//! The client of the suite's {title} application.\n//!\n{LEADS}//!\n#![doc = include_str!(\"../README.md\")]\n\
         #![cfg_attr(docsrs, feature(doc_cfg))]\n\n\
         mod generated;\n{by_hand}\n\
         pub use generated::client::Client;\npub use generated::requests::{{{}}};\npub use generated::{{operations, types}};\npub use sdk_core::{{{}}};\n\
         #[doc(inline)]\npub use sdk_core::guide;\n\
         #[cfg(feature = \"test-util\")]\n#[cfg_attr(docsrs, doc(cfg(feature = \"test-util\")))]\npub use sdk_core::testing;\n",
        joined(requests::names(spec), ", "),
        joined(taken::shared(), ", "),
    )
}

/// A handwritten module next to `lib.rs`.
pub(super) struct ByHand {
    file: String,
    name: String,
    /// The types that the module needs and the client lacks.
    lacks: Vec<String>,
    functions: Vec<String>,
}

impl ByHand {
    pub(super) fn of(root: &Path, spec: &Spec) -> Result<Vec<Self>> {
        let folder = format!("{}/src", spec.app.folder);
        let reach = Reach::of(spec);
        let has = |name: &&str| reach.contains(name) && spec.schemas.components[*name].is_type();
        let mut modules = Vec::new();
        let entries = fs::read_dir(root.join(&folder)).into_iter().flatten();
        for entry in entries {
            let file = entry.map_err(at(&folder))?.file_name();
            let file = file.to_string_lossy().into_owned();
            let Some(name) = file.strip_suffix(".rs").filter(|it| *it != "lib") else {
                continue;
            };
            let file = format!("{folder}/{file}");
            let text = text_of(root, &file)?;
            let uses = text.split("use crate::types::").skip(1);
            let uses = uses.filter_map(|it| it.split(';').next());
            let names = uses.flat_map(|it| it.split(|c: char| !c.is_alphanumeric() && c != '_'));
            let lacks = names.filter(|it| !it.is_empty() && !has(it));
            let functions = text.lines().filter_map(|it| {
                let function = it.trim_start().strip_prefix("pub fn ")?;
                Some(function.split_once('(')?.0.to_owned())
            });
            modules.push(Self {
                name: name.to_owned(),
                lacks: lacks.map(str::to_owned).collect(),
                functions: functions.collect(),
                file,
            });
        }
        modules.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(modules)
    }

    pub(super) fn finding(&self) -> Option<String> {
        (!self.lacks.is_empty()).then(|| {
            format!(
                "{}: left out with its functions `{}`, because the document lacks {}",
                self.file,
                self.functions.join("`, `"),
                self.lacks.join(", ")
            )
        })
    }
}
