//! One call: attempts, waits, and what comes of them.

mod attempt;
mod classify;
mod command;
mod observe;
mod outgoing;
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
use crate::runtime::{ApiClient, Check, Draft, Endpoint, Reply, Unreadable, check_version, decode};

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
    pub fn send<T: Reply>(
        self,
        draft: Result<Draft, Error>,
    ) -> impl Future<Output = Result<Response<T>, Error>> + Send + 'static {
        self.deliver(draft, |response| response)
    }

    /// Sends a command and keeps its key with the result.
    ///
    /// # Errors
    /// As [`send`](Self::send); an error with unknown effect hands back the prepared command.
    pub fn command<T: Reply>(
        mut self,
        draft: Result<Draft, Error>,
    ) -> impl Future<Output = Result<Receipt<T>, Error>> + Send + 'static {
        self.ensure_key();
        self.deliver(draft, Receipt::new)
    }

    /// Sends what was prepared, with the key that it has.
    fn replay<T: Reply>(
        self,
        draft: Draft,
    ) -> impl Future<Output = Result<Receipt<T>, Error>> + Send + 'static {
        self.deliver(Ok(draft), Receipt::new)
    }

    /// The future of a call. It is the only one that owns what the call needs, and uses it where it lies: one that handed
    /// it on would be twice the size, and each call copy it twice.
    fn deliver<T: Reply, R: 'static>(
        self,
        draft: Result<Draft, Error>,
        wrap: fn(Response<T>) -> R,
    ) -> impl Future<Output = Result<R, Error>> + Send + 'static {
        let mut draft = draft.map_err(Some);
        async move {
            let undecoded =
                || Error::new(ErrorKind::Decode, "the reply was not decoded").of(self.operation);
            let draft = match &mut draft {
                Ok(draft) => draft,
                // Taken once: a future that has ended is not polled again.
                Err(refused) => {
                    return Err(refused
                        .take()
                        .map_or_else(undecoded, |error| error.of(self.operation)));
                }
            };
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
            let reply = self.execute(draft, &mut take).await?;
            // `execute` succeeds only after `take` did.
            value
                .map(|value| wrap(Response::new(value, reply)))
                .ok_or_else(undecoded)
        }
    }

    /// Turns a command into a form that can be stored and sent later.
    ///
    /// # Errors
    /// When a parameter or the body breaks a rule of the contract.
    pub fn prepare(mut self, draft: Result<Draft, Error>) -> Result<PreparedCommand, Error> {
        self.ensure_key();
        let mut draft = draft.map_err(|error| error.of(self.operation))?;
        self.decorate(&mut draft)?;
        self.check_key(&draft)?;
        self.prepared_from(&draft)
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
