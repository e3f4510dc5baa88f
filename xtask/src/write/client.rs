//! The files of one client crate.

use std::fs;
use std::path::Path;

use crate::model::{Reach, Spec, taken};
use crate::{Result, at};

use super::text::{joined, prose};
use super::tree::{Tree, text_of};
use super::{face, table, types};

/// The lints that generated code is not held to. It is formatted and documented, but nobody reads it for style, and what
/// the contract marks as deprecated is still checked and sent.
const MODULE: &str = "\
#![allow(clippy::all, clippy::pedantic, deprecated, unused_imports)]

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
    App, CallOptions, ContractReport, Error, MissingScopes, Operation, PreparedCommand, PreparedSender,
    RawCall, RawTarget, SendPrepared, Suite,
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
    /// A failure changes nothing for later calls, which obtain the token themselves. A process with many installations reports
    /// it and starts: see [the guide](sdk_core::guide::installations#start-while-an-installation-is-down).
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

/// Adds all files of the crate.
pub(crate) fn add(root: &Path, spec: &Spec, tree: &mut Tree) -> Result<()> {
    modules(root, spec, tree)?;
    let file = format!("{}/src/lib.rs", spec.app.folder);
    let by_hand = ByHand::of(root, spec)?;
    let findings = by_hand.iter().filter_map(ByHand::finding);
    tree.notes.extend(findings);
    tree.add_rust(root, file, &spec.file(), &library(spec, &by_hand))
}

/// A finding for each handwritten module of a client that needs a type which its document lacks.
pub(crate) fn left_out(root: &Path, spec: &Spec) -> Result<Vec<String>> {
    let by_hand = ByHand::of(root, spec)?;
    Ok(by_hand.iter().filter_map(ByHand::finding).collect())
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

/// Where the first line of links in a README leads in rustdoc: of two definitions of a link the first one counts, and those of
/// the README are for hosts.
const LEADS: &str = "\
//! [guide]: crate::guide
//! [getting started]: crate::guide::getting_started
//! [operations]: crate::guide::operations
//! [errors]: crate::guide::errors
//! [testing]: crate::guide::testing
";

/// `lib.rs`: what is public, name by name.
pub(super) fn library(spec: &Spec, by_hand: &[ByHand]) -> String {
    let title = prose(&spec.title);
    let by_hand = by_hand.iter().filter(|it| it.lacks.is_empty());
    let by_hand: String = by_hand.flat_map(|it| ["mod ", &*it.name, ";\n"]).collect();
    format!(
        "//! Client of the suite's {title} application.\n//!\n{LEADS}//!\n#![doc = include_str!(\"../README.md\")]\n\
         #![cfg_attr(docsrs, feature(doc_cfg))]\n\n\
         mod generated;\n{by_hand}\n\
         pub use generated::client::Client;\npub use generated::face::{{{}}};\npub use generated::{{operations, types}};\npub use sdk_core::{{{}}};\n\
         #[doc(inline)]\npub use sdk_core::guide;\n\
         #[cfg(feature = \"test-util\")]\n#[cfg_attr(docsrs, doc(cfg(feature = \"test-util\")))]\npub use sdk_core::testing;\n",
        joined(face::names(spec), ", "),
        joined(taken::shared(), ", "),
    )
}

/// A module beside `lib.rs` that is written by hand.
pub(super) struct ByHand {
    file: String,
    name: String,
    /// The types that it needs and the client does not have.
    lacks: Vec<String>,
    /// Its public functions.
    functions: Vec<String>,
}

impl ByHand {
    /// The modules of a client.
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

    /// The finding, if it cannot be compiled.
    pub(super) fn finding(&self) -> Option<String> {
        (!self.lacks.is_empty()).then(|| {
            format!(
                "{}: it needs {}, which this document lacks: not compiled; its functions are gone: `{}`",
                self.file,
                self.lacks.join(", "),
                self.functions.join("`, `")
            )
        })
    }
}
