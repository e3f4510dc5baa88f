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
use crate::token::credentials::ClientCredentials;
use crate::token::credentials::CredentialSource;
use crate::token::policy::TokenPolicy;
use crate::token::source::TokenSource;
use crate::transport::connections::TransportChoice;
use crate::transport::{ConnectionTimeouts, Transport};

/// Builds a [`Suite`](crate::Suite).
///
/// Addresses, audiences and credentials that are set in code override the [`variables`](Self::variables) that the program
/// passes, and those override the environment of the process, in whatever order the methods are called. [`build`](Self::build)
/// reports all mistakes at once. [The guide](crate::guide::configuration) lists all settings with their defaults.
#[derive(Default)]
#[must_use = "a builder does nothing until it is built"]
pub struct SuiteBuilder {
    pub(super) sources: SettingSources,
    /// Whether the environment of the process is a source.
    pub(super) environment: bool,
    pub(super) installation: Option<String>,
    pub(super) label: Option<String>,
    pub(super) scopes: HashMap<App, Result<Vec<String>, Error>>,
    /// Where tokens come from, if code says so.
    pub(super) authentication: Option<Authentication>,
    pub(super) options: Option<CallOptions>,
    pub(super) max_response_bytes: Option<usize>,
    pub(super) max_response_elements: Option<usize>,
    /// How many attempts of an application may be in flight at once; `None` for any number.
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

/// Where tokens come from.
pub(super) enum Authentication {
    Credentials(ClientCredentials),
    CredentialSource(Arc<dyn CredentialSource>),
    TokenSource(Arc<dyn TokenSource>),
}

impl Suite {
    /// A suite configured by the environment.
    ///
    /// | variable | meaning |
    /// |---|---|
    /// | `SUITE_CLIENT_ID`, `SUITE_CLIENT_SECRET` | the client credential |
    /// | `SUITE_CORE_URL` | base URL of the Platform, which also exchanges the token |
    /// | `SUITE_TOKEN_URL` | the token endpoint, if it is not the Platform's `/oauth/token` |
    /// | `SUITE_CRM_URL`, `SUITE_CALENDAR_URL`, `SUITE_ACCOUNTING_URL` | routed origins, each needed by its client only |
    /// | `SUITE_<APP>_AUDIENCE` | the audience of an application, if it is not its origin |
    /// | `SUITE_TOKEN_AUTH_METHOD` | how the credential is presented: `client_secret_basic` (the default) or `client_secret_post` |
    /// | `SUITE_TOKEN_AUDIENCE_FIELD` | the form field with the audience, such as `resource`, if it is not `audience` |
    ///
    /// The last two belong to the credential that comes from the same place, and are ignored if it is set in code: there,
    /// [`with_authentication`](ClientCredentials::with_authentication) and
    /// [`with_audience_field`](ClientCredentials::with_audience_field) say the same.
    ///
    /// An empty variable counts as missing. All others are taken unchanged, blanks at their ends included. Settings of a
    /// [`builder`](Self::builder) override the environment. With [`installation`](SuiteBuilder::installation), a builder reads
    /// variables with a prefix instead.
    ///
    /// # Errors
    /// When variables are missing, and the error names all of them, or when an address is refused.
    pub fn from_env() -> Result<Self, Error> {
        Self::builder().environment().build()
    }

    /// A builder for a suite.
    pub fn builder() -> SuiteBuilder {
        SuiteBuilder::default()
    }
}

impl SuiteBuilder {
    /// Takes addresses, audiences and the credential from the environment; see
    /// [`Suite::from_env`](crate::Suite::from_env).
    ///
    /// What is set in code overrides it. A credential from code also goes to addresses from the environment, so whoever sets
    /// the environment of the process can redirect it.
    pub fn environment(mut self) -> Self {
        self.environment = true;
        self
    }

    /// Takes variables by the names that [`Suite::from_env`](crate::Suite::from_env) reads, such as those of a configuration
    /// file or a reference server. With an [`installation`](Self::installation), their names have its prefix.
    pub fn variables(mut self, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let source = self.sources.variables.get_or_insert_default();
        source.read(variables);
        self
    }

    /// Takes the variables of one installation of many: for `acme-eu`, [`environment`](Self::environment) and
    /// [`variables`](Self::variables) read `ACME_EU_SUITE_CLIENT_ID` instead of `SUITE_CLIENT_ID`, and no variable without this
    /// prefix. The name is also the [`label`](Self::label), unless you set another.
    ///
    /// The name has 1 to 64 ASCII letters, digits, `-` and `_`. The prefix is the name in upper case with `_` for `-`, so
    /// `acme-eu` and `ACME_EU` read the same variables.
    ///
    /// ```
    /// use sdk_core::Suite;
    ///
    /// let suite = Suite::builder().installation("acme-eu").environment().build();
    /// let error = suite.unwrap_err().to_string();
    /// assert!(error.contains("missing environment variables: ACME_EU_SUITE_CORE_URL, ACME_EU_SUITE_CLIENT_ID"));
    /// ```
    pub fn installation(mut self, name: impl Into<String>) -> Self {
        self.installation = Some(name.into());
        self
    }

    /// Names the installation, such as `acme`, to tell it from others in the same process: spans and errors of its calls carry
    /// the label, so it must not be secret. It has at most 64 characters.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Sets the Platform's base URL. Its `/oauth/token` exchanges tokens unless [`token_url`](Self::token_url) is set.
    pub fn core_url(mut self, url: impl Into<String>) -> Self {
        self.sources.code.set(Key::Url(App::Platform), url);
        self
    }

    /// Sets the routed origin of an application.
    pub fn application_url(mut self, app: App, url: impl Into<String>) -> Self {
        self.sources.code.set(Key::Url(app), url);
        self
    }

    /// Sets the audience of an application's tokens: its origin by default (assumed: A43).
    pub fn audience(mut self, app: App, audience: impl Into<String>) -> Self {
        self.sources.code.set(Key::Audience(app), audience);
        self
    }

    /// Requests these scopes for an application's tokens. By default, the server grants all that the client may have.
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
    /// Of this call, [`credential_source`](Self::credential_source) and [`token_source`](Self::token_source), the last one
    /// counts.
    pub fn credentials(mut self, credentials: ClientCredentials) -> Self {
        self.authentication = Some(Authentication::Credentials(credentials));
        self
    }

    /// Takes the client credential from a source that is asked at each exchange, in place of
    /// [`credentials`](Self::credentials): for secrets that are rotated while the program runs.
    ///
    /// If the endpoint takes neither the old secret nor what the source gives, exchanges back off like after any failure: the
    /// source is asked again by the first call after at most the cap of the
    /// [`renewal_backoff`](TokenPolicy::renewal_backoff), 30 seconds by default, or twice that if the endpoint asks to wait.
    pub fn credential_source(mut self, source: impl CredentialSource) -> Self {
        self.authentication = Some(Authentication::CredentialSource(Arc::new(source)));
        self
    }

    /// Takes tokens from the caller's own source instead of exchanging a client credential.
    pub fn token_source(mut self, source: impl TokenSource) -> Self {
        self.authentication = Some(Authentication::TokenSource(Arc::new(source)));
        self
    }

    /// Sets lifetimes, margins and backoff of tokens.
    pub fn token_policy(mut self, policy: TokenPolicy) -> Self {
        self.token_policy = Some(Arc::new(policy));
        self
    }

    /// Sets the timeout of each attempt; 10 seconds by default.
    ///
    /// All runtimes share the connection pool. A pooled connection whose runtime nobody drives any more (for example after one
    /// `block_on` per runtime) is dropped only when an attempt over it times out. Each such connection costs an attempt, so
    /// many of them can use up a call's attempts before it gets a live one. An HTTP/2 connection is shared, so calls wait for
    /// it in vain until its runtime is driven again or dropped; the transport of `sdk-transport-hyper` leaves it after
    /// one attempt.
    pub fn timeout(self, timeout: Duration) -> Self {
        self.with(|options| options.with_timeout(timeout))
    }

    /// Sets how long a connection may take to come up; 5 seconds by default. Nothing is sent before, so any call may be
    /// retried: keep it below the timeout of an attempt.
    ///
    /// It has no effect with a finished [`http_client`](Self::http_client), a [`transport`](Self::transport) or
    /// [`transport_of`](Self::transport_of), which make connections by their own settings.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connection_timeouts.connect = timeout;
        self
    }

    /// Sets the deadline of each call; 30 seconds after it begins by default.
    pub fn deadline(self, deadline: Duration) -> Self {
        self.with(|options| options.with_deadline(deadline))
    }

    /// Sets how often calls are attempted, and the waits between attempts.
    pub fn retry(self, policy: RetryPolicy) -> Self {
        self.with(|options| options.with_retry(policy))
    }

    /// Sets the size of the retry budget of each application; 500 by default. Each retry takes 5 out, each success puts 1 back.
    /// All clients of an application share its budget, and the outage of one application costs the others no retry.
    pub fn retry_budget(mut self, capacity: u32) -> Self {
        self.retry_budget = Some(capacity);
        self
    }

    /// Draws waits, margins of tokens and random idempotency keys from this seed, so that a run can be repeated: for tests, on a
    /// runtime of one thread with a paused clock. Suites with one seed use the same keys, which anybody can guess.
    /// [`IdempotencyKey::random`](crate::IdempotencyKey::random) belongs to no suite and stays random.
    #[cfg(feature = "test-util")]
    pub fn seed(mut self, seed: u64) -> Self {
        self.random = RandomSource::seeded(seed);
        self
    }

    /// Limits how many attempts of each application may be in flight at once; without limit by default. It keeps thousands of
    /// calls from using up file descriptors, or from reaching the application all at once.
    ///
    /// Further attempts wait for their turn, first come, first served. The wait counts against the deadline of the call: if it
    /// passes, the call fails as a timeout and was not sent. A call takes a place for each attempt, until its reply was read:
    /// while it waits for a token, or for a retry, others go. Pages that are read ahead, prepared commands and raw calls count
    /// too, token exchanges do not.
    ///
    /// An attempt keeps its place while its runtime stands still or its future is not polled. It gives the place back when
    /// the future or the runtime is dropped. [The guide](crate::guide::configuration) lists all bounds.
    pub fn max_in_flight(mut self, attempts: usize) -> Self {
        self.max_in_flight = Some(attempts);
        self
    }

    /// Limits the size of a decompressed reply; 16 MiB by default.
    pub fn max_response_bytes(mut self, bytes: usize) -> Self {
        self.max_response_bytes = Some(bytes);
        self
    }

    /// Limits how many elements and members a reply may have; 100,000 by default. Even the smallest takes many times more
    /// memory than text.
    pub fn max_response_elements(mut self, elements: usize) -> Self {
        self.max_response_elements = Some(elements);
        self
    }

    /// Sets how to handle replies with another `schemaVersion`.
    pub fn schema_policy(self, policy: SchemaPolicy) -> Self {
        self.with(|options| options.with_schema_policy(policy))
    }

    /// Sets whether commands without a documented key may be retried when their effect is unknown.
    pub fn exact_replay(self, replay: ExactReplay) -> Self {
        self.with(|options| options.with_exact_replay(replay))
    }

    /// Sets how to handle calls whose scopes the token certainly lacks.
    pub fn scope_policy(self, policy: ScopePolicy) -> Self {
        self.with(|options| options.with_scope_policy(policy))
    }

    /// Puts the caller's name before the SDK's in the user agent, such as `billing-service/1.4`.
    pub fn user_agent(mut self, product: impl Into<String>) -> Self {
        self.user_agent = Some(product.into());
        self
    }

    /// Sets the caller's own HTTP client, with its proxies, root certificates and pool sizes: a builder, or a client that
    /// exists already.
    ///
    /// In a builder, the suite turns redirects and the client's own retries off, sets the
    /// [connect timeout](Self::connect_timeout) and HTTP/2 pings (`http2_pings`), and binds names such as `localhost` to
    /// loopback.
    ///
    /// In a client that exists already it can change nothing. Build one of reqwest with `redirect::Policy::none()` and
    /// `retry::never()`. A call whose reply comes from another address than it was sent to fails and names the redirect. Bodies
    /// are not taken along, but headers have been sent by then. A redirect that leads back to the same address goes unnoticed,
    /// and what the error then says about the effect of a command may be wrong. Plain HTTP goes to loopback by address only,
    /// such as `127.0.0.1`.
    ///
    /// Without this call, plain HTTP to loopback bypasses every proxy that the environment names. The caller's own client of
    /// reqwest uses them for loopback too, unless it is built with `no_proxy`.
    ///
    /// Of this call, [`transport`](Self::transport) and [`transport_of`](Self::transport_of), the last one counts.
    #[cfg(feature = "reqwest-013")]
    pub fn http_client(mut self, client: impl Into<crate::transport::HttpClient>) -> Self {
        self.transport = TransportChoice::Http(client.into().0);
        self
    }

    /// Sends all calls and token exchanges through the caller's own [transport](crate::transport): a `tower` service with its
    /// layers, a server in memory, a recorder. TLS, proxies, connection pools and decompression are then its own affair, and
    /// plain HTTP goes to loopback by address only.
    pub fn transport(mut self, transport: impl Transport) -> Self {
        self.transport = TransportChoice::Custom(Arc::new(transport));
        self
    }

    /// Shares the connections of another suite, and with them its TLS and proxy settings: for many installations in one
    /// process. [The guide](crate::guide::installations) says more.
    ///
    /// Nothing else is shared: addresses, credentials, tokens, budgets, counters, limits and the [label](Self::label) are the
    /// new suite's own. What a caller's own HTTP client or transport adds to requests by itself, such as default headers,
    /// cookies or a client certificate, it adds for all of them.
    pub fn transport_of(mut self, other: &Suite) -> Self {
        self.transport = TransportChoice::Shared(Arc::clone(&other.shared.connections));
        self
    }

    /// Sets how long an HTTP/2 connection with requests under way may be silent before it is pinged, and how long it may take
    /// to answer; 4 seconds each by default. If it does not answer, it is dropped, and the next attempt uses another. (An
    /// HTTP/1.1 connection is dropped when its attempt times out.) It has no effect where [`connect_timeout`](Self::connect_timeout)
    /// has none.
    #[cfg(feature = "http2")]
    pub fn http2_pings(mut self, interval: Duration, timeout: Duration) -> Self {
        (
            self.connection_timeouts.ping_interval,
            self.connection_timeouts.ping_timeout,
        ) = (interval, timeout);
        self
    }

    /// Adds an [`Observer`], which is told what the suite does. Several are told one after the other, in the order in which
    /// they were added.
    pub fn observer(mut self, observer: impl Observer) -> Self {
        self.observers.push(Arc::new(observer));
        self
    }

    /// Allows plain HTTP to other hosts than loopback. Tokens and secrets are then sent in the clear.
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
