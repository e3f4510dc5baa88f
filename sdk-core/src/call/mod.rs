//! One call: its attempts, the waits between them, and its result. Nothing else sends.
//!
//! What a request contains belongs in `request`, what a reply contains in `reply`.

pub(crate) mod attempt;
pub(crate) mod classify;
pub(crate) mod outgoing;
pub(crate) mod prepare;
pub(crate) mod progress;
pub(crate) mod refusal;
pub(crate) mod send;
pub(crate) mod turn;
pub(crate) mod unreached;
pub(crate) mod verdict;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::SystemTime;

use bytes::Bytes;

use crate::client::ApiClient;
use crate::client::endpoint::Endpoint;
use crate::client::limits::Limits;
use crate::command::key::IdempotencyKey;
use crate::command::prepared::PreparedCommand;
use crate::error::Error;
use crate::macros::debug_fields;
use crate::observe::call::CallWatch;
use crate::operation::{Operation, Safety};
use crate::options::{CallOptions, SchemaPolicy};
use crate::reply::decode::Terms;
use crate::reply::receive::{Head, Receive, receive};
use crate::reply::response::{Receipt, Response};
use crate::request::check::Check;
use crate::request::draft::Draft;

/// A call under construction: client, operation and options. Generated builders hold one.
#[derive(Clone)]
pub struct Call {
    pub(crate) client: ApiClient,
    pub(crate) operation: &'static Operation,
    pub(crate) options: CallOptions,
    /// The stored command, if this call replays one. Its request is complete.
    pub(crate) stored: Option<Arc<PreparedCommand>>,
}

impl Call {
    /// A call of an operation.
    #[must_use]
    pub fn new(client: &ApiClient, operation: &'static Operation) -> Self {
        Self {
            client: client.clone(),
            operation,
            options: CallOptions::default(),
            stored: None,
        }
    }

    /// The operation.
    #[must_use]
    pub fn operation(&self) -> &'static Operation {
        self.operation
    }

    /// An error of this call, with its operation and installation.
    pub(crate) fn failed(&self, error: Error) -> Error {
        error
            .with_operation(self.operation)
            .with_installation(self.client.label())
    }

    /// Where the request goes.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        self.client.endpoint()
    }

    /// Changes the options of this call.
    pub fn change(&mut self, change: impl FnOnce(CallOptions) -> CallOptions) {
        self.options = change(std::mem::take(&mut self.options));
    }

    /// Sets a header that is a parameter of the operation. If the client or the call sets it too, the service would read a
    /// list of two values, so the call fails before it is sent.
    pub fn set_header(&mut self, name: &str, value: &str) {
        if self.client.defaults().has_header(name) || self.options.has_header(name) {
            let rule =
                "be set once, by its own method or argument, and not among the client's defaults";
            let error = Error::invalid(&format!("header {name}"), rule, "it twice");
            self.change(|options| options.refused(error));
        } else {
            self.change(|options| options.with_header(name, value));
        }
    }

    /// Whether the call is sent with a token.
    fn is_authenticated(&self) -> bool {
        let without = self.options.without_token || self.client.defaults().without_token;
        self.operation.authenticated && !without
    }

    /// Checks for the operation's parameters.
    #[must_use]
    pub fn check(&self) -> Check<'static> {
        Check::new(self.operation)
    }

    /// Sends a request and decodes its reply.
    ///
    /// # Errors
    /// Any result other than a decoded 2xx reply.
    pub fn send<T: Receive>(
        self,
        draft: Result<Draft, Error>,
    ) -> impl Future<Output = Result<Response<T>, Error>> + Send + 'static {
        self.deliver(draft, |response| response)
    }

    /// Sends a command and returns its key with the result.
    ///
    /// # Errors
    /// As [`send`](Self::send). An error that was not a refusal contains the prepared command.
    pub fn command<T: Receive>(
        mut self,
        draft: Result<Draft, Error>,
    ) -> impl Future<Output = Result<Receipt<T>, Error>> + Send + 'static {
        self.ensure_key();
        self.deliver(draft, Receipt::new)
    }

    /// The future of a call. Only this future owns what the call needs; passing it on by value would double the size and copy
    /// it twice per call.
    fn deliver<T: Receive, R: 'static>(
        self,
        draft: Result<Draft, Error>,
        wrap: fn(Response<T>) -> R,
    ) -> impl Future<Output = Result<R, Error>> + Send + 'static {
        let mut draft = draft;
        async move {
            let draft = match &mut draft {
                Ok(draft) => draft,
                Err(refused) => return Err(self.refused(refused)),
            };
            let mut value = None;
            let limits = self.client.limits(&self.options);
            let mut take = |head: Head<'_>, body: &Bytes, shown: &dyn Fn(&str) -> String| {
                let terms = self.terms(&limits);
                let (decoded, mismatch) = receive::<T>(head, body, terms, shown)?;
                value = Some(decoded);
                Ok(mismatch)
            };
            let reply = self.execute(draft, &limits, &mut take).await;
            let reply = reply.map_err(|error| self.failed(error))?;
            // `execute` succeeds only if `take` did.
            value
                .map(|value| wrap(Response::new(value, reply)))
                .ok_or_else(|| self.failed(Error::decode("the reply was not decoded")))
        }
    }

    /// What a reply is checked against.
    fn terms(&self, limits: &Limits) -> Terms {
        Terms {
            schema_version: self.operation.schema_version,
            lenient: limits.schema_policy == SchemaPolicy::Warn,
            max_elements: limits.max_elements,
            accept: self.operation.accept,
            statuses: self.operation.statuses,
        }
    }

    /// The error of a call that is refused before anything is sent: a call that ended, too.
    fn refused(&self, refused: &Error) -> Error {
        self.client.suite().calls.fetch_add(1, Ordering::Relaxed);
        let error = self.failed(refused.clone());
        let watch = CallWatch::begin(&self.client.suite().watcher, self.operation);
        watch.end(&Err(error.clone()), &str::to_owned);
        error
    }

    /// Turns a command into a form that can be stored and sent later.
    ///
    /// # Errors
    /// If a parameter or the body breaks a rule of the contract.
    pub fn prepare(mut self, draft: Result<Draft, Error>) -> Result<PreparedCommand, Error> {
        self.ensure_key();
        let prepared = draft.and_then(|mut draft| {
            self.decorate(&mut draft)?;
            self.prepared_from(&draft, SystemTime::now(), false)
        });
        prepared.map_err(|error| self.failed(error))
    }

    fn ensure_key(&mut self) {
        if self.operation.safety == Safety::Keyed && self.options.key.is_none() {
            let chance = &self.client.suite().chance;
            self.options.key = Some(Arc::new(IdempotencyKey::drawn_from(chance)));
        }
    }
}

debug_fields! { Call |it| operation: it.operation.id, options: it.options }
