//! The settings of a suite.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::app::App;
use crate::error::Error;
use crate::macros::debug_fields;
use crate::observe::observer::Observer;
use crate::options::{CallOptions, ExactReplay, SchemaPolicy, ScopePolicy};
use crate::policy::random::RandomSource;
use crate::policy::retry::RetryPolicy;
use crate::suite::sources::{Key, SettingSources};
use crate::suite::{Suite, scopes_of};
use crate::token::credentials::CredentialSource;
use crate::token::credentials::{ClientCredentials, IntoCredentials};
use crate::token::policy::TokenPolicy;
use crate::token::source::TokenSource;
use crate::transport::connections::TransportChoice;
use crate::transport::{ConnectionTimeouts, Transport};

/// Builds a [`Suite`](crate::Suite).
///
/// Settings in code override the [`variables`](Self::variables) that the program passes. Those override the environment
/// of the process. The order of the method calls doesn't matter. [`build`](Self::build) reports all configuration
/// errors in one message. See [the guide](crate::guide::configuration) for all settings and their defaults.
#[derive(Default)]
#[must_use = "a builder does nothing until it is built"]
pub struct SuiteBuilder {
    pub(super) sources: SettingSources,
    pub(super) environment: bool,
    pub(super) installation: Option<String>,
    pub(super) label: Option<String>,
    pub(super) scopes: HashMap<App, Result<Vec<String>, Error>>,
    pub(super) authentication: Option<Authentication>,
    pub(super) options: Option<CallOptions>,
    pub(super) max_response_bytes: Option<usize>,
    pub(super) max_response_elements: Option<usize>,
    /// The maximum number of attempts in flight per application; `None` for no limit.
    pub(super) max_in_flight: Option<usize>,
    pub(super) token_policy: Option<Arc<TokenPolicy>>,
    pub(super) retry_budget: Option<u32>,
    pub(super) random: RandomSource,
    pub(super) transport: TransportChoice,
    pub(super) connection_timeouts: ConnectionTimeouts,
    pub(super) user_agent: Option<String>,
    pub(super) observers: Vec<Arc<dyn Observer>>,
    pub(super) insecure_http: bool,
}

pub(super) enum Authentication {
    Credentials(ClientCredentials),
    CredentialSource(Arc<dyn CredentialSource>),
    TokenSource(Arc<dyn TokenSource>),
}

impl Suite {
    /// Builds a suite from environment variables.
    ///
    /// | variable | meaning |
    /// |---|---|
    /// | `SUITE_CLIENT_ID`, `SUITE_CLIENT_SECRET` | the client credential |
    /// | `SUITE_CORE_URL` | the Platform's base URL, whose `/oauth/token` issues tokens by default |
    /// | `SUITE_TOKEN_URL` | the token endpoint, if it is not the Platform's |
    /// | `SUITE_CRM_URL`, `SUITE_CALENDAR_URL`, `SUITE_ACCOUNTING_URL` | the origins of the applications; each is required only by its own client |
    /// | `SUITE_<APP>_AUDIENCE` | the audience of an application, if it is not its origin |
    /// | `SUITE_TOKEN_AUTH_METHOD` | the authentication method: `client_secret_basic` (default) or `client_secret_post` |
    /// | `SUITE_TOKEN_AUDIENCE_FIELD` | the form field for the audience, such as `resource`; `audience` by default |
    ///
    /// The last two variables describe the credential from the same source. If the credential is set in code, they are
    /// ignored. Use [`with_authentication`](ClientCredentials::with_authentication) and
    /// [`with_audience_field`](ClientCredentials::with_audience_field) instead.
    ///
    /// An empty variable counts as missing. All other values are used unchanged, including leading and trailing spaces.
    /// Settings of a [`builder`](Self::builder) override the environment. To read variables with a prefix, set
    /// [`installation`](SuiteBuilder::installation) on a builder.
    ///
    /// # Errors
    /// If variables are missing (the error names all of them) or an address is rejected.
    pub fn from_env() -> Result<Self, Error> {
        Self::builder().environment().build()
    }

    /// Returns a builder for a suite.
    pub fn builder() -> SuiteBuilder {
        SuiteBuilder::default()
    }
}

impl SuiteBuilder {
    /// Reads addresses, audiences and the credential from the environment. [`Suite::from_env`](crate::Suite::from_env)
    /// lists the variables.
    ///
    /// Settings in code override the environment. A credential from code is also sent to addresses from the
    /// environment, so anyone who controls the process environment can redirect the credential.
    pub fn environment(mut self) -> Self {
        self.environment = true;
        self
    }

    /// Reads the variables that [`Suite::from_env`](crate::Suite::from_env) lists from these pairs, for instance from a
    /// configuration file or a reference server. With an [`installation`](Self::installation), the names have its
    /// prefix.
    pub fn variables(mut self, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let source = self.sources.variables.get_or_insert_default();
        source.read(variables);
        self
    }

    /// Reads the variables of one installation. For `acme-eu`, [`environment`](Self::environment) and
    /// [`variables`](Self::variables) read `ACME_EU_SUITE_CLIENT_ID` instead of `SUITE_CLIENT_ID`, and ignore variables
    /// without this prefix. The name is also the [`label`](Self::label), unless you set a different label.
    ///
    /// The name has 1 to 64 ASCII letters, digits, `-` and `_`. The prefix is the name in upper case with `_` for `-`,
    /// so `acme-eu` and `ACME_EU` read the same variables.
    ///
    /// ```
    /// use sdk_core::Suite;
    ///
    /// let suite = Suite::builder().installation("acme-eu").environment().build();
    /// let error = suite.unwrap_err().to_string();
    /// assert!(error.contains("missing environment variables: ACME_EU_SUITE_CORE_URL, "));
    /// ```
    pub fn installation(mut self, name: impl Into<String>) -> Self {
        self.installation = Some(name.into());
        self
    }

    /// Sets a label, such as `acme`, that distinguishes this installation from others in the same process. Spans and
    /// errors contain the label, so it must not be secret. It has at most 64 characters.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Sets the Platform's base URL. Tokens are requested from its `/oauth/token`, unless
    /// [`token_url`](Self::token_url) is set.
    pub fn core_url(mut self, url: impl Into<String>) -> Self {
        self.sources.code.set(Key::Url(App::Platform), url);
        self
    }

    /// Sets the origin to which requests for an application are routed.
    pub fn application_url(mut self, app: App, url: impl Into<String>) -> Self {
        self.sources.code.set(Key::Url(app), url);
        self
    }

    /// Sets the audience of an application's tokens. The default is the application's origin (assumption A43).
    pub fn audience(mut self, app: App, audience: impl Into<String>) -> Self {
        self.sources.code.set(Key::Audience(app), audience);
        self
    }

    /// Requests only these scopes for an application's tokens. By default, the server grants all scopes that the client
    /// may have.
    pub fn scopes(mut self, app: App, scopes: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        self.scopes.insert(app, scopes_of("scopes", scopes));
        self
    }

    /// Sets the token endpoint. It may have a query (RFC 6749, section 3.2).
    pub fn token_url(mut self, url: impl Into<String>) -> Self {
        self.sources.code.set(Key::TokenUrl, url);
        self
    }

    /// Sets the client credential.
    ///
    /// [`credential_source`](Self::credential_source) and [`token_source`](Self::token_source) replace this setting,
    /// and this call replaces theirs: the last call counts.
    pub fn credentials(mut self, credentials: impl IntoCredentials) -> Self {
        self.authentication = Some(Authentication::Credentials(credentials.into()));
        self
    }

    /// Sets a source that returns the client credential for each token request, for secrets that are rotated while the
    /// program runs. It replaces [`credentials`](Self::credentials).
    ///
    /// If the endpoint rejects both the old secret and the source's current secret, token requests back off as after
    /// any failure. The first call after the backoff asks the source again. The backoff is at most the cap of the
    /// [`renewal_backoff`](TokenPolicy::renewal_backoff), 30 seconds by default, or twice that if the endpoint sends
    /// `Retry-After`.
    pub fn credential_source(mut self, source: impl CredentialSource) -> Self {
        self.authentication = Some(Authentication::CredentialSource(Arc::new(source)));
        self
    }

    /// Obtains tokens from your own source instead of requesting them with a client credential.
    pub fn token_source(mut self, source: impl TokenSource) -> Self {
        self.authentication = Some(Authentication::TokenSource(Arc::new(source)));
        self
    }

    /// Sets the token policy: lifetimes, renewal margins and backoff.
    pub fn token_policy(mut self, policy: TokenPolicy) -> Self {
        self.token_policy = Some(Arc::new(policy));
        self
    }

    /// Sets the timeout of each attempt; 10 seconds by default.
    ///
    /// All runtimes share the connection pool. If a runtime is no longer driven, for example after one `block_on` per
    /// runtime, its pooled connections stay in the pool until an attempt over them times out. Each such connection
    /// costs an attempt, so several of them can use up all attempts of a call. Calls share an HTTP/2 connection, so
    /// they fail until its runtime is driven again or dropped. The transport of `sdk-transport-hyper` abandons such a
    /// connection after one attempt.
    pub fn timeout(self, timeout: Duration) -> Self {
        self.with(|options| options.with_timeout(timeout))
    }

    /// Sets the timeout for opening a connection; 5 seconds by default. Nothing is sent before the connection is open,
    /// so any call may be retried after this timeout. Keep it below the timeout of an attempt.
    ///
    /// It has no effect with a finished [`http_client`](Self::http_client), a [`transport`](Self::transport) or
    /// [`transport_of`](Self::transport_of), which use their own settings.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connection_timeouts.connect = timeout;
        self
    }

    /// Sets the deadline of each call, measured from its start; 30 seconds by default.
    pub fn deadline(self, deadline: Duration) -> Self {
        self.with(|options| options.with_deadline(deadline))
    }

    /// Sets the number of attempts and the delays between them.
    pub fn retry(self, policy: RetryPolicy) -> Self {
        self.with(|options| options.with_retry(policy))
    }

    /// Sets the size of the retry budget of each application; 500 by default. Each retry takes 5, and each success
    /// returns 1. All clients of an application share its budget. An outage of one application doesn't affect the
    /// budgets of other applications.
    pub fn retry_budget(mut self, capacity: u32) -> Self {
        self.retry_budget = Some(capacity);
        self
    }

    /// Seeds delays, token margins and random idempotency keys, so that a test run can be repeated on a single-threaded
    /// runtime with a paused clock. Suites with the same seed generate the same keys, so others can predict them. The
    /// seed doesn't affect [`IdempotencyKey::random`](crate::IdempotencyKey::random), which belongs to no suite.
    #[cfg(feature = "test-util")]
    pub fn seed(mut self, seed: u64) -> Self {
        self.random = RandomSource::seeded(seed);
        self
    }

    /// Limits the number of concurrent attempts per application; unlimited by default. The limit keeps thousands of
    /// concurrent calls from using up file descriptors or overloading the application.
    ///
    /// Further attempts wait in order of arrival. The wait counts against the call's deadline. If the deadline passes
    /// first, the call fails with a timeout and is not sent. A call occupies a slot during each attempt, until the
    /// response is read. It occupies no slot while it waits for a token or a retry. Pages that are read ahead, prepared
    /// commands and raw calls count too. Token requests don't.
    ///
    /// An attempt occupies its slot even if its runtime is blocked or its future is not polled. Dropping the future or
    /// the runtime frees the slot. See [the guide](crate::guide::configuration) for all limits.
    pub fn max_in_flight(mut self, attempts: usize) -> Self {
        self.max_in_flight = Some(attempts);
        self
    }

    /// Limits the size of a decompressed response; 16 MiB by default.
    pub fn max_response_bytes(mut self, bytes: usize) -> Self {
        self.max_response_bytes = Some(bytes);
        self
    }

    /// Limits the number of elements and fields of a response; 100,000 by default. Even the smallest element takes many
    /// times more memory than its JSON.
    pub fn max_response_elements(mut self, elements: usize) -> Self {
        self.max_response_elements = Some(elements);
        self
    }

    /// Sets how to handle responses with a different `schemaVersion`.
    pub fn schema_policy(self, policy: SchemaPolicy) -> Self {
        self.with(|options| options.with_schema_policy(policy))
    }

    /// Sets whether a command without a documented idempotency key may be retried if its effect is unknown.
    pub fn exact_replay(self, replay: ExactReplay) -> Self {
        self.with(|options| options.with_exact_replay(replay))
    }

    /// Sets how to handle calls whose required scopes are missing from the token.
    pub fn scope_policy(self, policy: ScopePolicy) -> Self {
        self.with(|options| options.with_scope_policy(policy))
    }

    /// Prepends a product, such as `billing-service/1.4`, to the SDK's user agent.
    pub fn user_agent(mut self, product: impl Into<String>) -> Self {
        self.user_agent = Some(product.into());
        self
    }

    /// Sets your own HTTP client, with its proxies, root certificates and pool sizes. Pass a builder or a finished
    /// client.
    ///
    /// For a builder, the SDK disables redirects and the client's own retries. It also sets the [connect
    /// timeout](Self::connect_timeout) and HTTP/2 pings (`http2_pings`), and resolves names such as `localhost` to
    /// loopback addresses only.
    ///
    /// The SDK can't configure a finished client. Build a finished reqwest client with `redirect::Policy::none()` and
    /// `retry::never()`. If a response comes from a different address than the request's, the call fails and the error
    /// names the redirect. By then, the client has sent the headers to the new address, but not the body. A redirect
    /// back to the same address goes undetected, and the error may then report a wrong effect of a command. A finished
    /// client may use plain HTTP only to loopback addresses such as `127.0.0.1`, not to names.
    ///
    /// Without this call, plain HTTP to loopback bypasses all environment proxies. Your own reqwest client uses them
    /// for loopback too, unless you build it with `no_proxy`.
    ///
    /// [`transport`](Self::transport) and [`transport_of`](Self::transport_of) replace this setting, and this call
    /// replaces theirs: the last call counts.
    #[cfg(feature = "reqwest-013")]
    pub fn http_client(mut self, client: impl Into<crate::transport::HttpClient>) -> Self {
        self.transport = TransportChoice::Http(client.into().0);
        self
    }

    /// Sends all calls and token requests through your own [transport](crate::transport), such as a `tower` service
    /// with its layers, a server in memory, or a recorder. The transport is then responsible for TLS, proxies,
    /// connection pools and decompression. Plain HTTP is allowed only to loopback addresses, not to names.
    pub fn transport(mut self, transport: impl Transport) -> Self {
        self.transport = TransportChoice::Custom(Arc::new(transport));
        self
    }

    /// Shares the connections of another suite, with its TLS and proxy settings, for many installations in one process.
    /// See [the guide](crate::guide::installations).
    ///
    /// The new suite shares nothing else. It has its own addresses, credentials, tokens, budgets, counters, limits and
    /// [label](Self::label). A custom HTTP client or transport might add default headers, cookies or a client
    /// certificate on its own, and then adds them to the requests of all suites that share it.
    pub fn transport_of(mut self, other: &Suite) -> Self {
        self.transport = TransportChoice::Shared(Arc::clone(&other.shared.connections));
        self
    }

    /// Sets how long an HTTP/2 connection with requests in flight may be silent before the SDK pings it, and the
    /// timeout of the ping; 4 seconds each by default. If the ping times out, the connection is dropped, and the next
    /// attempt uses a new connection. An HTTP/1.1 connection is dropped when its attempt times out. This setting has no
    /// effect where [`connect_timeout`](Self::connect_timeout) has none.
    #[cfg(feature = "http2")]
    pub fn http2_pings(mut self, interval: Duration, timeout: Duration) -> Self {
        (
            self.connection_timeouts.ping_interval,
            self.connection_timeouts.ping_timeout,
        ) = (interval, timeout);
        self
    }

    /// Adds an [`Observer`], which receives the suite's events. Observers are called one after the other, in the order
    /// in which they were added.
    pub fn observer(mut self, observer: impl Observer) -> Self {
        self.observers.push(Arc::new(observer));
        self
    }

    /// Allows plain HTTP to hosts other than loopback. Tokens and secrets are then sent unencrypted.
    pub fn allow_insecure_http(mut self) -> Self {
        self.insecure_http = true;
        self
    }

    fn with(mut self, change: impl FnOnce(CallOptions) -> CallOptions) -> Self {
        self.options = Some(change(self.options.unwrap_or_default()));
        self
    }
}

debug_fields! { SuiteBuilder |it| sources: it.sources, options: it.options }
