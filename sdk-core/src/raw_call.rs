//! Calls without a generated builder.

use std::fmt;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use url::Url;

use crate::call::Call;
use crate::client::ApiClient;
use crate::error::Error;
use crate::json::raw::RawJson;
use crate::json::record::JsonBody;
use crate::macros::debug_fields;
use crate::operation::{Method, Operation};
use crate::options::{CallOptions, ExactReplay, SchemaPolicy};
use crate::policy::retry::RetryPolicy;
use crate::reply::response::Receipt;
use crate::request::check::Check;
use crate::request::draft::{Draft, encode_segment};
use crate::request::key::IntoKey;

/// The target of a raw call: a known operation, or a method and path that this SDK doesn't know yet.
#[derive(Clone)]
#[non_exhaustive]
pub enum RawTarget {
    /// A known operation, with its safety, scopes and route.
    Operation(&'static Operation),
    /// A method and a path below the application's base URL, such as `/api/crm/v1/notes`.
    Path(Method, String),
}

impl fmt::Debug for RawTarget {
    /// Omits a query, which is not allowed in a path and may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operation(operation) => f.debug_tuple("Operation").field(&operation.id).finish(),
            Self::Path(method, path) => {
                let path = path.split(['?', '#']).next().unwrap_or_default();
                f.debug_tuple("Path").field(method).field(&path).finish()
            }
        }
    }
}

impl From<&'static Operation> for RawTarget {
    fn from(operation: &'static Operation) -> Self {
        Self::Operation(operation)
    }
}

impl From<(Method, &str)> for RawTarget {
    fn from((method, path): (Method, &str)) -> Self {
        Self::Path(method, path.to_owned())
    }
}

impl From<(Method, String)> for RawTarget {
    fn from((method, path): (Method, String)) -> Self {
        Self::Path(method, path)
    }
}

/// A call with raw JSON in and out. Token, retries, deadline, key, errors and traces work as in every call.
///
/// With a raw call, you can use a new endpoint before the SDK knows it. If a known operation succeeds with a body that
/// isn't JSON, the result is null and [`Receipt::bytes`] returns the body. The guide describes the
/// [limits of raw paths](crate::guide::versions#call-an-operation-that-the-sdk-lacks).
///
/// ```no_run
/// # async fn example(api: &sdk_core::codegen::ApiClient) -> Result<(), sdk_core::Error> {
/// # let crm = api;
/// use sdk_core::Method;
///
/// let notes = crm.raw_call((Method::Get, "/api/crm/v1/notes")).query("limit", "10").await?;
/// println!("{notes:?}");
/// # Ok(()) }
/// ```
#[derive(Clone)]
#[must_use = "a request does nothing until it is sent: add `.await`"]
pub struct RawCall {
    call: Call,
    client: ApiClient,
    target: RawTarget,
    parameters: Vec<(String, String)>,
    body: Option<JsonBody>,
}

impl ApiClient {
    /// Creates a call with raw JSON, to a known operation or to a method and path.
    pub fn raw_call(&self, target: impl Into<RawTarget>) -> RawCall {
        RawCall::new(self, target.into())
    }
}

impl RawCall {
    pub(crate) fn new(client: &ApiClient, target: RawTarget) -> Self {
        let raw = &client.application().raw;
        let operation = match &target {
            RawTarget::Operation(operation) => operation,
            RawTarget::Path(Method::Get, _) => &raw.read,
            RawTarget::Path(..) => &raw.command,
        };
        Self {
            call: Call::new(client, operation),
            client: client.clone(),
            target,
            parameters: Vec::new(),
            body: None,
        }
    }

    /// Sets a path parameter, such as `reference` in `/people/{reference}`.
    pub fn path(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.parameters.push((name.into(), value.into()));
        self
    }

    /// Sets the JSON body.
    pub fn body(mut self, body: impl Into<JsonBody>) -> Self {
        self.body = Some(body.into());
        self
    }

    /// Limits each attempt, from the first byte sent to the last byte read.
    pub fn timeout(self, timeout: Duration) -> Self {
        self.with(|options| options.with_timeout(timeout))
    }

    /// Limits the entire call, including the token, all attempts and delays.
    pub fn deadline(self, deadline: Duration) -> Self {
        self.with(|options| options.with_deadline(deadline))
    }

    /// Sets the retry policy.
    pub fn retry(self, policy: RetryPolicy) -> Self {
        self.with(|options| options.with_retry(policy))
    }

    /// Sets the reaction to a response with an unexpected `schemaVersion`.
    pub fn schema_policy(self, policy: SchemaPolicy) -> Self {
        self.with(|options| options.with_schema_policy(policy))
    }

    /// Adds a header. The call fails before it is sent if the SDK sets this header itself.
    pub fn header(self, name: &str, value: &str) -> Self {
        self.with(|options| options.with_header(name, value))
    }

    /// Adds a query parameter that this version doesn't know yet. Its value isn't checked. The call fails before it is
    /// sent if it already has this parameter. A name that is added twice here is sent twice.
    pub fn query(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.with(|options| options.with_query(name, value))
    }

    /// Sends the call without a token, to an endpoint that requires no token, such as a readiness probe.
    pub fn without_token(self) -> Self {
        self.with(CallOptions::without_token)
    }

    /// Sets whether this command may be retried after a failure with an unknown effect. See [`ExactReplay`].
    pub fn exact_replay(self, replay: ExactReplay) -> Self {
        self.with(|options| options.with_exact_replay(replay))
    }

    /// Sends an `Idempotency-Key` although the contract documents no key. Use this if you know that the service accepts
    /// keys. The command may then be retried, unless `exact_replay` forbids it. A malformed key fails the call before
    /// it is sent.
    pub fn idempotency_key(self, key: impl IntoKey) -> Self {
        self.with(|options| options.with_idempotency_key(key))
    }

    fn with(mut self, change: impl FnOnce(CallOptions) -> CallOptions) -> Self {
        self.call.change(change);
        self
    }

    /// Turns the call into a command that can be stored and sent later.
    ///
    /// # Errors
    /// If the call is a read, or if the path, parameters or options are invalid.
    pub fn prepare(self) -> Result<crate::PreparedCommand, Error> {
        if !self.call.operation().safety.is_command() {
            let message = "a read cannot be prepared: send it directly";
            return Err(self.call.failed(Error::prepared(message)));
        }
        let request = self.request();
        self.call.prepare(request)
    }

    /// Sends the request.
    ///
    /// # Errors
    /// The errors of every call.
    pub async fn send(self) -> Result<Receipt<RawJson>, Error> {
        self.sending().await
    }

    fn sending(self) -> impl Future<Output = Result<Receipt<RawJson>, Error>> + Send + 'static {
        let request = self.request();
        self.call.command(request)
    }

    fn request(&self) -> Result<Draft, Error> {
        let (method, path) = match &self.target {
            RawTarget::Operation(operation)
                if operation.application != self.client.application().app =>
            {
                let rule = format!("belong to {}", self.client.application().app);
                let found = format!("{}.{}", operation.application, operation.id);
                return Err(Error::invalid("operation", &rule, &found));
            }
            RawTarget::Operation(operation) => (operation.method, self.filled(operation.route)?),
            RawTarget::Path(method, path) => (*method, self.filled(path)?),
        };
        let text = format!("{}{path}", self.client.endpoint().base());
        let url = Url::parse(&text).map_err(|error| {
            Error::invalid("path", "be a valid path", &error.to_string()).with_cause(error)
        })?;
        let draft = Draft::new(method, url);
        Ok(match &self.body {
            Some(body) => draft.json(Bytes::copy_from_slice(body.as_str().as_bytes())),
            None => draft,
        })
    }

    /// Fills the parameters into the path, each as one segment.
    fn filled(&self, route: &str) -> Result<String, Error> {
        let check = Check::new(self.call.operation());
        if route.contains(['?', '#']) {
            let rule = "have no query or fragment (`query` adds parameters)";
            return Err(Error::invalid("path", rule, "a query or fragment"));
        }
        for (name, _) in &self.parameters {
            if !route.contains(&format!("/{{{name}}}")) {
                let rule = "be a parameter of the path";
                return Err(Error::invalid(name, rule, &format!("the path {route}")));
            }
        }
        let mut filled = String::with_capacity(route.len());
        for segment in route
            .strip_prefix('/')
            .ok_or_else(|| Error::invalid("path", "begin with a slash", route))?
            .split('/')
        {
            filled.push('/');
            let parameter = segment
                .strip_prefix('{')
                .and_then(|rest| rest.strip_suffix('}'));
            if let Some(name) = parameter {
                let value = self.parameters.iter().find(|(own, _)| own == name);
                let Some((_, value)) = value else {
                    return Err(Error::invalid(name, "be set with `path`", "nothing"));
                };
                check.segment(name, value)?;
                filled.push_str(&encode_segment(value));
            } else {
                check.segment("path", segment)?;
                filled.push_str(segment);
            }
        }
        Ok(filled)
    }
}

impl IntoFuture for RawCall {
    type Output = Result<Receipt<RawJson>, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.sending())
    }
}

// Omits parameters and body, which may be confidential.
debug_fields! {
    RawCall |it|
    call: it.call, target: it.target,
    body_bytes: it.body.as_ref().map(|body| body.as_str().len())
}
