//! The options of a call, which are also the defaults of a client, and the headers that a caller may set. Module
//! `client` resolves them.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, header};
use url::Url;

use crate::command::key::IdempotencyKey;
use crate::error::Error;
use crate::macros::debug_fields;
use crate::policy::retry::RetryPolicy;
use crate::request::key::IntoKey;
use crate::secret::redactor::Redactor;

/// The reaction to a response whose `schemaVersion` isn't the version that this SDK was built for. See
/// [the guide](crate::guide::versions).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaPolicy {
    /// Fail with an error that names both versions, so that the program doesn't act on a response it wasn't written
    /// for.
    #[default]
    Refuse,
    /// Log a warning and decode as much as possible.
    Warn,
}

/// Whether a command without a documented key may be retried after a failure with an unknown effect.
///
/// The contract says that an exact resend of a CRM command returns the stored result, but documents no key. By default,
/// the SDK retries such a command only if it is known to be unsent, or if the caller gave it a key. It retries a PUT
/// or DELETE, which HTTP defines as idempotent, unless you forbid it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExactReplay {
    /// The command may be retried.
    Allowed,
    /// The command must not be retried, not even with a key from the caller.
    Forbidden,
}

/// The reaction to a call if the token endpoint granted none of the required scopes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScopePolicy {
    /// Send the call. The service decides, and the granted scopes are only a hint in errors.
    #[default]
    Send,
    /// Fail the call before it is sent.
    Refuse,
}

/// The minimum length of a caller's value to redact. Shorter values occur in most messages by chance.
const SHORTEST_HIDDEN: usize = 4;

/// The options of a call, or the defaults of a client. A call's options override the client's, which override the
/// suite's. [The guide](crate::guide::configuration) lists all settings.
///
/// ```
/// use std::time::Duration;
/// use sdk_core::{CallOptions, SchemaPolicy};
///
/// let defaults = CallOptions::default()
///     .with_timeout(Duration::from_secs(5))
///     .with_schema_policy(SchemaPolicy::Warn)
///     .with_header("x-tenant", "north");
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct CallOptions {
    pub(crate) timeout: Option<Duration>,
    pub(crate) deadline: Option<Duration>,
    pub(crate) retry: Option<RetryPolicy>,
    pub(crate) exact_replay: Option<ExactReplay>,
    pub(crate) schema_policy: Option<SchemaPolicy>,
    pub(crate) scope_policy: Option<ScopePolicy>,
    headers: Vec<(HeaderName, HeaderValue)>,
    query: Vec<(String, String)>,
    /// Whether the call is sent without a token although its operation requires a token.
    pub(crate) without_token: bool,
    pub(crate) key: Option<Arc<IdempotencyKey>>,
    /// The error for an invalid value. The call fails with this error before it is sent.
    invalid: Option<Error>,
}

impl CallOptions {
    /// Limits each attempt, from the first byte sent to the last byte read.
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Limits the entire call, including the token, all attempts and delays.
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Sets the retry policy.
    pub fn with_retry(mut self, retry: RetryPolicy) -> Self {
        self.retry = Some(retry);
        self
    }

    /// Sets whether a command without a documented key may be retried after a failure with an unknown effect.
    pub fn with_exact_replay(mut self, exact_replay: ExactReplay) -> Self {
        self.exact_replay = Some(exact_replay);
        self
    }

    /// Sets the reaction to a response with an unexpected `schemaVersion`.
    pub fn with_schema_policy(mut self, schema_policy: SchemaPolicy) -> Self {
        self.schema_policy = Some(schema_policy);
        self
    }

    /// Sets the reaction to a call whose scopes the token lacks.
    pub fn with_scope_policy(mut self, scope_policy: ScopePolicy) -> Self {
        self.scope_policy = Some(scope_policy);
        self
    }

    /// Adds a header. The call fails before it is sent if the name or value is invalid, or if the SDK sets this header
    /// itself.
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        match parse_header(name, value, self.headers.len()) {
            Ok(header) => self.headers.push(header),
            Err(error) => self.invalid = Some(error),
        }
        self
    }

    /// Adds a query parameter that the SDK doesn't know yet, or whose value it would reject. The SDK checks only that
    /// the call doesn't already have this parameter.
    pub fn with_query(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.query.push((name.into(), value.into()));
        self
    }

    /// Sends calls without a token.
    #[doc(hidden)]
    pub fn without_token(mut self) -> Self {
        self.without_token = true;
        self
    }

    /// Sets the idempotency key.
    #[doc(hidden)]
    pub fn with_idempotency_key(mut self, key: impl IntoKey) -> Self {
        match key.into_key() {
            Ok(key) => self.key = Some(Arc::new(key)),
            Err(error) => self.invalid = Some(error),
        }
        self
    }

    /// Options that set nothing. All clients without defaults share them.
    pub(crate) fn unset() -> Arc<Self> {
        static UNSET: LazyLock<Arc<CallOptions>> = LazyLock::new(Arc::default);
        Arc::clone(&UNSET)
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        self.invalid.clone().map_or(Ok(()), Err)
    }

    /// Checks that a request doesn't already have one of the query parameters, because a duplicate would be ambiguous.
    pub(crate) fn check_query(&self, url: &Url) -> Result<(), Error> {
        if self.query.is_empty() || url.query().is_none() {
            return Ok(());
        }
        let twice = self
            .query
            .iter()
            .find(|(name, _)| url.query_pairs().any(|(own, _)| own == *name));
        twice.map_or(Ok(()), |(name, _)| {
            let rule = "be set once, with its own method or with `query`";
            Err(Error::invalid(name, rule, "it twice"))
        })
    }

    pub(crate) fn has_header(&self, name: &str) -> bool {
        let is_it = |(own, _): &(HeaderName, HeaderValue)| own.as_str().eq_ignore_ascii_case(name);
        self.headers.iter().any(is_it)
    }

    pub(crate) fn invalid(mut self, error: Error) -> Self {
        self.invalid = Some(error);
        self
    }

    pub(crate) fn apply_headers(&self, headers: &mut HeaderMap) {
        for (name, value) in &self.headers {
            headers.append(name.clone(), value.clone());
        }
    }

    pub(crate) fn apply_query(&self, url: &mut Url) {
        if !self.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&self.query);
        }
    }

    /// Adds the values that `Debug` hides to the redactor, except values that servers are supposed to repeat.
    pub(crate) fn add_secrets_to(&self, redactor: &mut Redactor) {
        let headers = self.headers.iter();
        let own = headers.filter(|(name, _)| !is_correlating(name));
        for value in own.filter_map(|(_, value)| value.to_str().ok()) {
            add_secrets_to(value, redactor);
        }
        for (_, value) in &self.query {
            add_secrets_to(value, redactor);
        }
    }

    /// The headers as strings. `with_header` rejects values that aren't.
    pub(crate) fn headers(&self) -> Vec<(String, String)> {
        self.headers
            .iter()
            .filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())))
            .collect()
    }
}

// Prints the names of headers and parameters, but not their values.
debug_fields! {
    CallOptions |it|
    timeout: it.timeout, deadline: it.deadline, retry: it.retry, exact_replay: it.exact_replay,
    schema_policy: it.schema_policy, scope_policy: it.scope_policy,
    headers: it.headers.iter().map(|(name, _)| name).collect::<Vec<_>>(),
    query: it.query.iter().map(|(name, _)| name).collect::<Vec<_>>(), keyed: it.key.is_some()
}

pub(crate) fn add_secrets_to(value: &str, redactor: &mut Redactor) {
    if value.len() >= SHORTEST_HIDDEN {
        redactor.add(value);
    }
}

/// The header of the idempotency key (contract, Endpoints / Calendar and Accounting).
pub(crate) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Headers that only the SDK sets.
const PROTECTED: [HeaderName; 22] = [
    header::AUTHORIZATION,
    header::PROXY_AUTHORIZATION,
    header::COOKIE,
    header::HOST,
    // Set with `SuiteBuilder::user_agent`.
    header::USER_AGENT,
    // These describe the body and the response.
    header::ACCEPT,
    header::ACCEPT_ENCODING,
    header::CONTENT_TYPE,
    header::CONTENT_LENGTH,
    header::CONTENT_ENCODING,
    // These control the connection to the next hop.
    header::TRANSFER_ENCODING,
    header::CONNECTION,
    header::EXPECT,
    header::TE,
    header::TRAILER,
    header::UPGRADE,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    HeaderName::from_static("http2-settings"),
    // These could turn a read into a command, or a command into another command.
    HeaderName::from_static("x-http-method"),
    HeaderName::from_static("x-http-method-override"),
    HeaderName::from_static("x-method-override"),
];

/// Headers that servers are supposed to repeat, so that operators can find a request.
const CORRELATING: [&str; 4] = [
    "x-request-id",
    "x-correlation-id",
    "traceparent",
    "tracestate",
];

/// The maximum number of headers from the caller: more than any program needs, and fewer than the limit of any server.
const MOST: usize = 128;

/// Validates a header from a caller who has already set `count` headers.
pub(crate) fn parse_header(
    name: &str,
    value: &str,
    count: usize,
) -> Result<(HeaderName, HeaderValue), Error> {
    let invalid = |rule: &str, found: &str| {
        let name = format!("header {name}");
        Err(Error::invalid(&name, rule, found))
    };
    let Ok(header) = name.parse::<HeaderName>() else {
        return invalid("have a valid HTTP header name", "an invalid name");
    };
    if header == IDEMPOTENCY_KEY {
        return invalid("be set with `idempotency_key` on the call", "a header");
    }
    if PROTECTED.contains(&header) {
        return invalid(
            "not be set by the caller, because the SDK sets it",
            "a value",
        );
    }
    if count >= MOST {
        let rule = format!("be one of at most {MOST} headers");
        return invalid(&rule, "one more");
    }
    match HeaderValue::from_str(value) {
        Ok(value) if value.to_str().is_ok() => Ok((header, value)),
        _ => invalid("have only visible ASCII characters", "other characters"),
    }
}

/// Whether the value of a header may appear in errors, because servers are supposed to repeat it.
fn is_correlating(name: &HeaderName) -> bool {
    CORRELATING.contains(&name.as_str())
}
