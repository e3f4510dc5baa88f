//! One call: attempts, waits, and what comes of them.

mod attempt;
mod classify;
mod command;
mod observe;
mod replay;
mod send;

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use crate::error::{Error, ErrorKind};
use crate::idempotency::IdempotencyKey;
use crate::operation::{Operation, Safety};
use crate::options::{CallOptions, SchemaPolicy};
use crate::prepared::PreparedCommand;
use crate::response::{Receipt, Response};
use crate::runtime::{ApiClient, Check, Endpoint, Reply, Unreadable, check_version, decode};

pub use replay::SendPrepared;

/// A call that is being put together: client, operation and options. Generated builders hold one.
#[derive(Clone)]
pub struct Call {
    client: ApiClient,
    operation: &'static Operation,
    options: CallOptions,
    /// Whether the request is complete as it is: the client's query parameters are in it already.
    exact: bool,
    /// Whether a reply that is taken as raw JSON is held to the operation's `schemaVersion` too.
    holds_raw: bool,
}

impl Call {
    /// A call of an operation.
    #[must_use]
    pub fn new(client: &ApiClient, operation: &'static Operation) -> Self {
        Self {
            client: client.clone(),
            operation,
            options: CallOptions::default(),
            exact: false,
            holds_raw: false,
        }
    }

    /// The operation.
    #[must_use]
    pub fn operation(&self) -> &'static Operation {
        self.operation
    }

    /// Takes the call for one of another operation: a raw call learns late that it has a key.
    pub(crate) fn set_operation(&mut self, operation: &'static Operation) {
        self.operation = operation;
    }

    /// Holds raw JSON to the operation's `schemaVersion`, as its own type would.
    pub(crate) fn hold_raw(&mut self) {
        self.holds_raw = true;
    }

    /// Where the request goes.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        self.client.endpoint()
    }

    /// The options of this call.
    pub fn options_mut(&mut self) -> &mut CallOptions {
        &mut self.options
    }

    /// Sets the idempotency key.
    pub fn set_key(&mut self, key: IdempotencyKey) {
        self.options.key = Some(Arc::new(key));
    }

    /// Checks for the operation's parameters.
    #[must_use]
    pub fn check(&self) -> Check<'static> {
        Check::new(self.operation)
    }

    /// Sends a request and decodes its reply.
    ///
    /// # Errors
    /// Whatever stands between the caller and a decoded 2xx reply.
    pub async fn send<T: Reply>(
        self,
        request: Result<reqwest::Request, Error>,
    ) -> Result<Response<T>, Error> {
        let mut request = request.map_err(|error| error.of(self.operation))?;
        let mut value = None;
        let expected = self.operation.schema_version;
        let lenient = self.schema_policy() == SchemaPolicy::Warn;
        let mut take = |body: &Bytes| -> Result<(), Unreadable> {
            let decoded = decode::<T>(body, expected, lenient)?;
            if self.holds_raw && decoded.schema_version().is_none() {
                check_version(body, expected, lenient)?;
            }
            value = Some(decoded);
            Ok(())
        };
        let reply = self.execute(&mut request, &mut take).await?;
        match value {
            Some(value) => Ok(Response::new(value, reply)),
            // `execute` succeeds only after `take` did.
            None => {
                Err(Error::new(ErrorKind::Decode, "the reply was not decoded").of(self.operation))
            }
        }
    }

    /// Sends a command and keeps its key with the result.
    ///
    /// # Errors
    /// As [`send`](Self::send); an error with unknown effect hands back the prepared command.
    pub async fn command<T: Reply>(
        mut self,
        request: Result<reqwest::Request, Error>,
    ) -> Result<Receipt<T>, Error> {
        self.ensure_key();
        self.send(request).await.map(Receipt::new)
    }

    /// Turns a command into a form that can be stored and sent later.
    ///
    /// # Errors
    /// When a parameter or the body breaks a rule of the contract.
    pub fn prepare(
        mut self,
        request: Result<reqwest::Request, Error>,
    ) -> Result<PreparedCommand, Error> {
        self.ensure_key();
        let mut request = request.map_err(|error| error.of(self.operation))?;
        self.decorate(&mut request)?;
        self.check_key(&request)?;
        self.prepared_from(&request)
    }

    fn ensure_key(&mut self) {
        if self.operation.safety == Safety::Keyed && self.options.key.is_none() {
            self.options.key = Some(Arc::new(IdempotencyKey::random()));
        }
    }

    fn schema_policy(&self) -> SchemaPolicy {
        self.options
            .schema_policy
            .or(self.client.defaults().schema_policy)
            .unwrap_or(self.client.suite().settings.schema_policy)
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("operation", &self.operation.id)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
