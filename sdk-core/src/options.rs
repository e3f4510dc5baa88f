//! Per-call options, and the defaults of a suite.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, header};
use url::Url;

use crate::command::key::IdempotencyKey;
use crate::error::Error;
use crate::error::kind::ErrorKind;
use crate::policy::retry::RetryPolicy;
use crate::secret::confidential::Confidential;

/// What to do with a reply whose `schemaVersion` is not the one that this SDK was built for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaPolicy {
    /// An error that names both versions: a program that was not written for it does not act on it.
    #[default]
    Refuse,
    /// A warning event; what can be decoded is decoded.
    Warn,
}

/// Whether a command without a documented key may be repeated after an ambiguous failure.
///
/// The contract says that an exact replay of a CRM command returns the stored result; it does not show where a key would go.
/// So if nobody says anything, the SDK repeats such a command only when it was provably never sent, or when its caller gave
/// it a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExactReplay {
    /// It may be repeated.
    Allowed,
    /// It may not, not even with a key of the caller's.
    Forbidden,
}

/// What to do with a call of whose scopes the token endpoint said that it granted none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScopePolicy {
    /// It is sent: the service decides, and what a token was granted is only a hint.
    #[default]
    Send,
    /// It is refused before it is sent.
    Refuse,
}

/// Headers that the runtime owns.
const PROTECTED: [HeaderName; 22] = [
    header::AUTHORIZATION,
    header::PROXY_AUTHORIZATION,
    header::COOKIE,
    header::HOST,
    // `SuiteBuilder::user_agent` adds the program's name.
    header::USER_AGENT,
    // What a reply may look like, and what the body is.
    header::ACCEPT,
    header::ACCEPT_ENCODING,
    header::CONTENT_TYPE,
    header::CONTENT_LENGTH,
    header::CONTENT_ENCODING,
    // What is between this client and the next machine.
    header::TRANSFER_ENCODING,
    header::CONNECTION,
    header::EXPECT,
    header::TE,
    header::TRAILER,
    header::UPGRADE,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    HeaderName::from_static("http2-settings"),
    // What would make another request of it: a command out of a read, or one command out of another.
    HeaderName::from_static("x-http-method"),
    HeaderName::from_static("x-http-method-override"),
    HeaderName::from_static("x-method-override"),
];

/// The most headers that a caller may add: far more than anybody needs, and far fewer than any server takes.
const MOST_HEADERS: usize = 128;

/// From this length on a value of the caller's is looked for in what a server says. A shorter one stands in every text.
const SHORTEST_HIDDEN: usize = 4;

/// Headers whose values a server is meant to repeat, so that people find a request again.
const CORRELATING: [&str; 4] = [
    "x-request-id",
    "x-correlation-id",
    "traceparent",
    "tracestate",
];

/// The header of the idempotency key (contract, Endpoints / Calendar and Accounting).
pub(crate) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Options of one call, or the defaults of a client. What is not set is taken from the client, then from the suite.
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
    /// Whether the call goes without a token although its operation takes one.
    pub(crate) without_token: bool,
    pub(crate) key: Option<Arc<IdempotencyKey>>,
    /// What is wrong with a value that was set: the call fails with it before it is sent.
    invalid: Option<Box<str>>,
}

impl CallOptions {
    /// Limits each attempt, from the first byte sent to the last one read.
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Limits the call as a whole: token, attempts and waits.
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Sets how often and how the call is repeated.
    pub fn with_retry(mut self, policy: RetryPolicy) -> Self {
        self.retry = Some(policy);
        self
    }

    /// Says whether a command without a documented key may be repeated after an ambiguous failure.
    pub fn with_exact_replay(mut self, replay: ExactReplay) -> Self {
        self.exact_replay = Some(replay);
        self
    }

    /// Says what to do with a reply of another `schemaVersion`.
    pub fn with_schema_policy(mut self, policy: SchemaPolicy) -> Self {
        self.schema_policy = Some(policy);
        self
    }

    /// Says what to do with a call that the token surely does not open.
    pub fn with_scope_policy(mut self, policy: ScopePolicy) -> Self {
        self.scope_policy = Some(policy);
        self
    }

    /// Adds a header. A name or value that HTTP does not allow, or a header that the SDK owns, fails the call before
    /// it is sent.
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        let refused = |rule: &str, value: &str| {
            let error = Error::invalid(&format!("header {name}"), rule, value);
            Some(error.message().into())
        };
        match (name.parse::<HeaderName>(), HeaderValue::from_str(value)) {
            (Ok(name), _) if name == IDEMPOTENCY_KEY => {
                self.invalid = refused("be set by `idempotency_key` of the call", "a header");
            }
            (Ok(name), _) if PROTECTED.contains(&name) => {
                self.invalid = refused("be left to the SDK", "one from the caller");
            }
            (Ok(_), _) if self.headers.len() >= MOST_HEADERS => {
                let rule = format!("be one of at most {MOST_HEADERS}");
                self.invalid = refused(&rule, "one more");
            }
            (Ok(name), Ok(value)) if value.to_str().is_ok() => self.headers.push((name, value)),
            (Ok(_), _) => {
                self.invalid = refused("have visible ASCII characters only", "another text");
            }
            (Err(_), _) => {
                self.invalid = refused("have a name of HTTP token characters", "another text");
            }
        }
        self
    }

    /// Adds a query parameter that the SDK does not know yet, or does not take yet with this value: nothing about it is
    /// checked but that the call does not have it already.
    pub fn with_query(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.query.push((name.into(), value.into()));
        self
    }

    /// Sends calls without a token, whatever their operations take.
    #[doc(hidden)]
    pub fn without_token(mut self) -> Self {
        self.without_token = true;
        self
    }

    /// Takes a key, or notes why there is none.
    pub(crate) fn set_key<K>(&mut self, key: K)
    where
        K: TryInto<IdempotencyKey, Error: Into<Error>>,
    {
        match key.try_into() {
            Ok(key) => self.key = Some(Arc::new(key)),
            Err(error) => self.invalid = Some(error.into().message().into()),
        }
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        match self.invalid.as_deref() {
            None => Ok(()),
            Some(message) => Err(Error::new(ErrorKind::InvalidInput, message)),
        }
    }

    /// Checks that a request does not have one of the query parameters already: two of them say nothing.
    pub(crate) fn check_query(&self, url: &Url) -> Result<(), Error> {
        if self.query.is_empty() || url.query().is_none() {
            return Ok(());
        }
        let twice = self
            .query
            .iter()
            .find(|(name, _)| url.query_pairs().any(|(own, _)| own == *name));
        match twice {
            None => Ok(()),
            Some((name, _)) => Err(Error::invalid_unseen(
                name,
                "be set once, by its own method or by `query`",
            )),
        }
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

    /// Has the values that `Debug` does not show kept out of texts; but for those that exist to be repeated.
    pub(crate) fn confide(&self, confidential: &mut Confidential) {
        let headers = self.headers.iter();
        let own = headers.filter(|(name, _)| !CORRELATING.contains(&name.as_str()));
        for value in own.filter_map(|(_, value)| value.to_str().ok()) {
            confide(value, confidential);
        }
        for (_, value) in &self.query {
            confide(value, confidential);
        }
    }

    /// The headers as text, which they are: others are refused.
    pub(crate) fn headers(&self) -> Vec<(String, String)> {
        self.headers
            .iter()
            .filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())))
            .collect()
    }
}

impl fmt::Debug for CallOptions {
    /// Names of headers and parameters, never their values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallOptions")
            .field("timeout", &self.timeout)
            .field("deadline", &self.deadline)
            .field("retry", &self.retry)
            .field("exact_replay", &self.exact_replay)
            .field("schema_policy", &self.schema_policy)
            .field("scope_policy", &self.scope_policy)
            .field(
                "headers",
                &self
                    .headers
                    .iter()
                    .map(|(name, _)| name)
                    .collect::<Vec<_>>(),
            )
            .field(
                "query",
                &self.query.iter().map(|(name, _)| name).collect::<Vec<_>>(),
            )
            .field("keyed", &self.key.is_some())
            .finish_non_exhaustive()
    }
}

/// Has a caller's value kept out of texts.
pub(crate) fn confide(value: &str, confidential: &mut Confidential) {
    if value.len() >= SHORTEST_HIDDEN {
        confidential.add(value);
    }
}

/// The setters of all calls, for whatever has a method `with` that changes the options.
#[doc(hidden)]
#[macro_export]
macro_rules! option_setters {
    () => {
        /// Limits each attempt, from the first byte sent to the last one read.
        pub fn timeout(self, timeout: ::std::time::Duration) -> Self {
            self.with(|options| options.with_timeout(timeout))
        }

        /// Limits the call as a whole: token, attempts and waits.
        pub fn deadline(self, deadline: ::std::time::Duration) -> Self {
            self.with(|options| options.with_deadline(deadline))
        }

        /// Sets how often and how the call is repeated.
        pub fn retry(self, policy: $crate::RetryPolicy) -> Self {
            self.with(|options| options.with_retry(policy))
        }

        /// Says what to do with a reply of another `schemaVersion`.
        pub fn schema_policy(self, policy: $crate::SchemaPolicy) -> Self {
            self.with(|options| options.with_schema_policy(policy))
        }
    };
    (command) => {
        /// Says whether this command may be repeated after an ambiguous failure; see
        /// [`ExactReplay`]($crate::ExactReplay).
        pub fn exact_replay(self, replay: $crate::ExactReplay) -> Self {
            self.with(|options| options.with_exact_replay(replay))
        }
    };
}

/// Adds the per-call options and `IntoFuture` to a builder with a `call: Call` field and a `send` method.
#[doc(hidden)]
#[macro_export]
macro_rules! call_options {
    ($builder:ident => $output:ty) => {
        impl $builder {
            $crate::option_setters!();

            /// Adds a header. Headers that the SDK sets itself are refused when the request is sent.
            pub fn header(self, name: &str, value: &str) -> Self {
                self.with(|options| options.with_header(name, value))
            }

            /// Adds a query parameter that this version does not know yet. Its value is not checked. One that the call has of
            /// its own is refused when the request is sent; the same name twice through here is sent twice.
            pub fn query(self, name: impl Into<String>, value: impl Into<String>) -> Self {
                self.with(|options| options.with_query(name, value))
            }

            /// Sends the call without a token, for a service that is known to want none: a readiness probe, say.
            pub fn without_token(self) -> Self {
                self.with($crate::CallOptions::without_token)
            }

            fn with(
                mut self,
                change: impl FnOnce($crate::CallOptions) -> $crate::CallOptions,
            ) -> Self {
                self.call.change(change);
                self
            }
        }

        impl ::std::future::IntoFuture for $builder {
            type Output = ::std::result::Result<$output, $crate::Error>;
            type IntoFuture =
                ::std::pin::Pin<Box<dyn ::std::future::Future<Output = Self::Output> + Send>>;

            fn into_future(self) -> Self::IntoFuture {
                Box::pin(self.sending())
            }
        }
    };
}

/// [`call_options!`] for a command without a documented key.
#[doc(hidden)]
#[macro_export]
macro_rules! command_options {
    ($builder:ident => $output:ty) => {
        $crate::call_options!($builder => $output);

        impl $builder {
            $crate::option_setters!(command);

            /// Sends an `Idempotency-Key`, also where the contract shows none: for callers who know that the service takes
            /// one. With it the command may be repeated, unless `exact_replay` forbids it. A text that is no key
            /// fails the call before it is sent.
            pub fn idempotency_key<K>(mut self, key: K) -> Self
            where
                K: TryInto<$crate::IdempotencyKey, Error: Into<$crate::Error>>,
            {
                self.call.set_key(key);
                self
            }
        }
    };
}

/// [`call_options!`] for a command with an `Idempotency-Key`.
#[doc(hidden)]
#[macro_export]
macro_rules! keyed_command_options {
    ($builder:ident => $output:ty) => {
        $crate::call_options!($builder => $output);

        impl $builder {
            /// Sets the `Idempotency-Key`. Without it the command gets a random one, which every attempt reuses and
            /// the receipt shows. A text that is no key fails the call before it is sent.
            pub fn idempotency_key<K>(mut self, key: K) -> Self
            where
                K: TryInto<$crate::IdempotencyKey, Error: Into<$crate::Error>>,
            {
                self.call.set_key(key);
                self
            }
        }
    };
}
