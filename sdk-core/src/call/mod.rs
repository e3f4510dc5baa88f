//! Runs a call: its attempts, the waits between them, and its result. No other module sends requests.
//!
//! The module `request` builds the content of requests, and `reply` decodes responses.

mod attempt;
mod classify;
mod run;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http::Uri;
use url::form_urlencoded;

use crate::client::limits::Limits;
use crate::client::{ApiClient, Endpoint};
use crate::command::key::IdempotencyKey;
use crate::command::prepared::{CommandFlags, PreparedCommand, VERSION};
use crate::error::Error;
use crate::macros::debug_fields;
use crate::observe::active::CallSpan;
use crate::operation::{Operation, Replay, Safety};
use crate::options::{self, CallOptions, ExactReplay, SchemaPolicy};
use crate::reply::decode::{DecodeRules, FromResponse, ResponseHead, receive};
use crate::reply::response::{Receipt, Response};
use crate::request::check::Check;
use crate::request::draft::Draft;
use crate::secret::redactor::Redactor;
use crate::text::{TextKind, counted};

/// A call under construction: client, operation and options. Generated builders contain it.
#[derive(Clone)]
pub struct Call {
    pub(crate) client: ApiClient,
    pub(crate) operation: &'static Operation,
    pub(crate) options: CallOptions,
    /// The stored command, if this call resends it. Its request is complete.
    pub(crate) stored: Option<Arc<PreparedCommand>>,
}

impl Call {
    /// Creates a call of an operation.
    #[must_use]
    pub fn new(client: &ApiClient, operation: &'static Operation) -> Self {
        Self {
            client: client.clone(),
            operation,
            options: CallOptions::default(),
            stored: None,
        }
    }

    /// Returns the operation.
    #[must_use]
    pub fn operation(&self) -> &'static Operation {
        self.operation
    }

    pub(crate) fn failed(&self, error: Error) -> Error {
        error
            .with_operation(self.operation)
            .with_installation(self.client.label())
    }

    /// Returns the endpoint of the request.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        self.client.endpoint()
    }

    /// Changes the options of this call.
    pub fn change(&mut self, change: impl FnOnce(CallOptions) -> CallOptions) {
        self.options = change(std::mem::take(&mut self.options));
    }

    /// Sets a header that is a parameter of the operation. If the client or the call also sets it, the call fails
    /// before it is sent, because the service would read a list of two values.
    pub fn set_header(&mut self, name: &str, value: &str) {
        if self.client.defaults().has_header(name) || self.options.has_header(name) {
            let rule =
                "be set only once, by its own method or argument, not in the client's defaults";
            let error = Error::invalid(&format!("header {name}"), rule, "two values");
            self.change(|options| options.invalid(error));
        } else {
            self.change(|options| options.with_header(name, value));
        }
    }

    fn is_authenticated(&self) -> bool {
        let without = self.options.without_token || self.client.defaults().without_token;
        self.operation.authenticated && !without
    }

    /// Returns the checks for the operation's parameters.
    #[must_use]
    pub fn check(&self) -> Check<'static> {
        Check::new(self.operation)
    }

    /// Sends a request and decodes its response.
    ///
    /// # Errors
    /// For any result other than a decoded 2xx response.
    pub fn send<T: FromResponse>(
        self,
        draft: Result<Draft, Error>,
    ) -> impl Future<Output = Result<Response<T>, Error>> + Send + 'static {
        self.deliver(draft, |response| response)
    }

    /// Sends a command and returns its result with its idempotency key.
    ///
    /// # Errors
    /// Like [`send`](Self::send). The error contains the prepared command, unless the application rejected it.
    pub fn command<T: FromResponse>(
        mut self,
        draft: Result<Draft, Error>,
    ) -> impl Future<Output = Result<Receipt<T>, Error>> + Send + 'static {
        self.ensure_key();
        self.deliver(draft, Receipt::new)
    }

    /// Converts a command into a form that can be stored and sent later.
    ///
    /// # Errors
    /// If a parameter or the body breaks a rule of the contract.
    pub fn prepare(mut self, draft: Result<Draft, Error>) -> Result<PreparedCommand, Error> {
        self.ensure_key();
        let prepared = draft.and_then(|mut draft| {
            self.apply_options(&mut draft)?;
            self.prepared_from(&draft, SystemTime::now(), false)
        });
        prepared.map_err(|error| self.failed(error))
    }

    /// Returns the path and query of a request, including the options' query, relative to the base URL. The base URL
    /// may differ in another process.
    pub(crate) fn target(&self, draft: Result<Draft, Error>) -> Result<String, Error> {
        let target = draft.and_then(|mut draft| {
            self.apply_options(&mut draft)?;
            Ok(self.relative(&draft).to_owned())
        });
        target.map_err(|error| self.failed(error))
    }

    fn relative<'a>(&self, draft: &'a Draft) -> &'a str {
        let base = self.client.endpoint().base();
        let path = draft.url.as_str().strip_prefix(base);
        path.unwrap_or_else(|| draft.url.path())
    }

    /// Checks the options of client and call, and adds their query parameters to the draft.
    pub(super) fn apply_options(&self, draft: &mut Draft) -> Result<(), Error> {
        let all = [self.client.defaults(), &self.options];
        all.iter().try_for_each(|options| options.check())?;
        if self.stored.is_none() {
            all.iter()
                .try_for_each(|options| options.check_query(&draft.url))?;
            for options in all {
                options.apply_query(&mut draft.url);
            }
        }
        check_length(draft.url.as_str())
    }

    /// Returns the future of a call. The future owns all parts of the call. Passing them to a nested future by value
    /// would double the size and copy them twice per call.
    fn deliver<T: FromResponse, R: 'static>(
        self,
        draft: Result<Draft, Error>,
        wrap: fn(Response<T>) -> R,
    ) -> impl Future<Output = Result<R, Error>> + Send + 'static {
        let mut draft = draft;
        async move {
            let draft = match &mut draft {
                Ok(draft) => draft,
                Err(error) => return Err(self.fail_locally(error)),
            };
            let mut value = None;
            let limits = self.client.limits(&self.options);
            let mut decode =
                |head: ResponseHead<'_>, body: &Bytes, redact: &dyn Fn(&str) -> String| {
                    let rules = self.decode_rules(&limits);
                    let (decoded, mismatch) = receive::<T>(head, body, rules, redact)?;
                    value = Some(decoded);
                    Ok(mismatch)
                };
            let reply = self.execute(draft, &limits, &mut decode).await;
            let reply = reply.map_err(|error| self.failed(error))?;
            // `execute` succeeds only if `decode` did.
            value
                .map(|value| wrap(Response::new(value, reply)))
                .ok_or_else(|| self.failed(Error::decode("the response was not decoded")))
        }
    }

    fn decode_rules(&self, limits: &Limits) -> DecodeRules {
        DecodeRules {
            schema_version: self.operation.schema_version,
            lenient: limits.schema_policy == SchemaPolicy::Warn,
            max_elements: self.client.suite().max_response_elements,
            accept: self.operation.accept,
            statuses: self.operation.statuses,
        }
    }

    fn begin(&self) -> CallSpan<'_> {
        let suite = self.client.suite();
        suite.calls.fetch_add(1, Ordering::Relaxed);
        CallSpan::begin(&suite.observers, self.operation)
    }

    /// Returns the error for a call that fails before its first step. The call is counted, and observers are notified.
    fn fail_locally(&self, error: &Error) -> Error {
        let error = self.failed(error.clone());
        self.begin().end(0, &Err(error.clone()), &str::to_owned);
        error
    }

    fn ensure_key(&mut self) {
        if self.operation.safety == Safety::Keyed && self.options.key.is_none() {
            let random = &self.client.suite().random;
            self.options.key = Some(Arc::new(IdempotencyKey::drawn_from(random)));
        }
    }

    /// Returns the command as prepared or first sent at `at`. It includes the client's default headers, so that a later
    /// resend doesn't depend on them. For a stored command, only `sent` can change.
    fn prepared_from(
        &self,
        request: &Draft,
        at: SystemTime,
        sent: bool,
    ) -> Result<PreparedCommand, Error> {
        if let Some(stored) = &self.stored {
            let stored = (**stored).clone();
            return Ok(if sent { stored.into_sent() } else { stored });
        }
        // A form contains the client's secret, and a stored command would be sent as JSON.
        if request.is_form {
            let message = "a call with a form body cannot be prepared: send it directly";
            return Err(Error::prepared(message));
        }
        let mut headers = self.client.defaults().headers();
        headers.extend(self.options.headers());
        let body = std::str::from_utf8(request.body.as_deref().unwrap_or_default());
        let body =
            body.map_err(|error| Error::prepared("the body is not UTF-8").with_cause(error))?;
        let since = at.duration_since(UNIX_EPOCH).ok();
        let command = PreparedCommand {
            version: VERSION,
            application: self.operation.application.name().to_owned(),
            operation: self.operation.id.to_owned(),
            method: request.method.as_str().to_owned(),
            audience: self.client.audience().map(str::to_owned),
            path: self.relative(request).to_owned(),
            idempotency_key: self.options.key.clone(),
            headers,
            body: body.to_owned(),
            prepared_at: since.and_then(|since| u64::try_from(since.as_millis()).ok()),
            flags: self.command_flags(sent),
            digest: String::new(),
        };
        Ok(command.digested())
    }

    fn command_flags(&self, sent: bool) -> CommandFlags {
        let exact_replay = self.options.exact_replay;
        CommandFlags {
            sent,
            replay_shown: self.operation.replay != Replay::Undocumented,
            without_token: !self.is_authenticated() && self.operation.authenticated,
            replay_exact: exact_replay.map(|replay| replay == ExactReplay::Allowed),
        }
    }

    /// Returns a redactor for the credential, the tokens, the key, and the caller's values in headers and query.
    pub(super) fn redactor(&self) -> Redactor {
        let suite = self.client.suite();
        let mut redactor = Redactor::default();
        suite.add_secrets_to(&mut redactor);
        if let Some(key) = &self.options.key {
            redactor.add(key.as_str());
        }
        for options in [self.client.defaults(), &self.options] {
            options.add_secrets_to(&mut redactor);
        }
        // The caller set the query of a stored command when preparing it.
        if let Some((_, query)) = self
            .stored
            .as_ref()
            .and_then(|it| it.path().split_once('?'))
        {
            for (_, value) in form_urlencoded::parse(query.as_bytes()) {
                options::add_secrets_to(&value, &mut redactor);
            }
        }
        redactor
    }

    /// Returns the [`redactor`](Self::redactor) with the secrets in a request and its response.
    pub(super) fn redactor_with(&self, draft: &Draft, body: &[u8]) -> Redactor {
        let mut redactor = self.redactor();
        draft.add_secrets_to(&mut redactor);
        if self.operation.secret_response {
            redactor.add_secrets_of_reply(body);
        }
        redactor
    }

    pub(crate) fn response_error<T>(&self, error: Error, response: &Response<T>) -> Error {
        let redactor = self.redactor();
        let id = response.request_id();
        response
            .failed(error.redacted(&redactor))
            .with_headers(response.headers(), &redactor)
            .with(|parts| parts.request_id = id.map(|id| redactor.line(TextKind::RequestId, id)))
    }
}

debug_fields! { Call |it| operation: it.operation.id, options: it.options }

/// Checks that a URL can be sent, so that a URL that is too long fails before a token is requested.
fn check_length(url: &str) -> Result<(), Error> {
    // `Uri` defines the limit. It copies the string it parses, so short URLs are not parsed here.
    const SHORT: usize = 8 * 1024;
    if url.len() <= SHORT {
        return Ok(());
    }
    let parsed = url.parse::<Uri>().map(drop);
    parsed.map_err(|error| {
        let length = counted(url.len(), "byte");
        Error::invalid("URL", "be short enough to be sent", &length).with_cause(error)
    })
}
