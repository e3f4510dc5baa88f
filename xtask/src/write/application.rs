//! `client.rs` of a client: the type that its users begin with, the same for each application but for its title.

use crate::model::Spec;

use super::text::prose;

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

/// Writes the file.
pub(super) fn write(spec: &Spec) -> String {
    CLIENT.replacen("TITLE", &prose(&spec.title), 1)
}
