//! How a suite is put together.

pub(crate) mod build;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::app::App;
use crate::error::Error;
use crate::options::{ExactReplay, SchemaPolicy, ScopePolicy};
use crate::policy::retry::RetryPolicy;
use crate::secret::value::Secret;
use crate::suite::Suite;
use crate::suite::layers::Layers;
use crate::suite::settings::Settings;
use crate::suite::{address, scopes_of};
use crate::token::credentials::ClientCredentials;
use crate::token::policy::TokenPolicy;
use crate::token::source::TokenSource;
#[cfg(feature = "reqwest-013")]
use crate::transport::HttpClient;
use crate::transport::clients::Waits;

/// Builds a [`Suite`](crate::Suite).
///
/// What is set in code counts before the variables that the program hands over ([`variables`](Self::variables)), and those
/// before the environment of the process, for addresses, audiences and credentials alike and in whatever order the methods
/// are called. Mistakes are remembered and told by [`build`](Self::build), all at once.
#[derive(Default)]
#[must_use = "a builder does nothing until it is built"]
pub struct SuiteBuilder {
    layers: Layers,
    /// Whether the caller said that its own credential may go to addresses from the environment.
    trusts_environment: bool,
    /// Whether the environment may give the credential.
    credential_from_environment: bool,
    scopes: HashMap<App, Vec<String>>,
    credentials: Option<ClientCredentials>,
    source: Option<Arc<dyn TokenSource>>,
    settings: Settings,
    token_policy: TokenPolicy,
    retry_budget: Option<u32>,
    digest_key: Option<Secret>,
    http: Option<reqwest::ClientBuilder>,
    waits: Waits,
    user_agent: Option<String>,
    insecure_http: bool,
    faults: Vec<Error>,
}

impl Suite {
    /// A suite configured by the environment.
    ///
    /// | variable | meaning |
    /// |---|---|
    /// | `SUITE_CLIENT_ID`, `SUITE_CLIENT_SECRET` | the client credential |
    /// | `SUITE_CORE_URL` | base URL of the Platform, which also exchanges the token |
    /// | `SUITE_TOKEN_URL` | the token endpoint, when it is not the Platform's `/oauth/token` |
    /// | `SUITE_CRM_URL`, `SUITE_CALENDAR_URL`, `SUITE_ACCOUNTING_URL` | routed origins; each is needed by its client only |
    /// | `SUITE_<APP>_AUDIENCE` | the audience of an application, when it is not its origin |
    ///
    /// An empty variable counts as missing; all others are taken as given, blanks at their ends included. What a
    /// [`builder`](Self::builder) sets in code counts before the environment.
    ///
    /// # Errors
    /// When variables are missing, all of them named at once, or hold an address that is refused.
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
    /// A credential that is set in code does not go to an address from the environment: whoever controls one of the two
    /// would get the other. To have it so, call [`environment_addresses`](Self::environment_addresses).
    pub fn environment(mut self) -> Self {
        let variables = process_variables(&mut self.faults);
        let environment = self.layers.environment.get_or_insert_default();
        environment.read(variables);
        self.credential_from_environment = true;
        self
    }

    /// Takes addresses and audiences from the environment, and lets a credential or token source that is set in code be
    /// used with them: for programs that have their secret from a vault.
    pub fn environment_addresses(mut self) -> Self {
        let credential = [address::CLIENT_ID, address::CLIENT_SECRET];
        let mut variables = process_variables(&mut self.faults);
        variables.retain(|(name, _)| !credential.contains(&&**name));
        let environment = self.layers.environment.get_or_insert_default();
        environment.read(variables);
        self.trusts_environment = true;
        self
    }

    /// Takes these variables, by the names that [`Suite::from_env`](crate::Suite::from_env) reads: a configuration file's, or
    /// those that a reference server hands out. They count as the program's own.
    pub fn variables(mut self, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        self.layers
            .variables
            .get_or_insert_default()
            .read(variables);
        self
    }

    /// Sets the Platform's base URL, whose `/oauth/token` exchanges the token unless [`token_url`](Self::token_url) says otherwise.
    pub fn core_url(mut self, url: impl Into<String>) -> Self {
        self.layers.code.set_url(App::Platform, url.into());
        self
    }

    /// Sets the routed origin of an application.
    pub fn application_url(mut self, app: App, url: impl Into<String>) -> Self {
        self.layers.code.set_url(app, url.into());
        self
    }

    /// Sets the audience of an application's tokens, which is its origin otherwise (assumed: A43).
    pub fn audience(mut self, app: App, audience: impl Into<String>) -> Self {
        self.layers.code.set_audience(app, audience.into());
        self
    }

    /// Asks for these scopes in an application's tokens; without this call, the server grants what the client may have.
    pub fn scopes<S: AsRef<str>>(mut self, app: App, scopes: impl IntoIterator<Item = S>) -> Self {
        match scopes_of("scopes", scopes) {
            Ok(scopes) => drop(self.scopes.insert(app, scopes)),
            Err(fault) => self.faults.push(fault),
        }
        self
    }

    /// Sets the token endpoint. It may have a query (RFC 6749, section 3.2).
    pub fn token_url(mut self, url: impl Into<String>) -> Self {
        self.layers.code.set_token_url(url.into());
        self
    }

    /// Sets the client credential.
    pub fn credentials(mut self, credentials: ClientCredentials) -> Self {
        self.credentials = Some(credentials);
        self
    }

    /// Takes tokens from the caller's own source instead of exchanging a client credential.
    pub fn token_source(mut self, source: impl TokenSource) -> Self {
        self.source = Some(Arc::new(source));
        self
    }

    /// Sets lifetimes, margins and backoff of tokens.
    pub fn token_policy(mut self, policy: TokenPolicy) -> Self {
        self.token_policy = policy;
        self
    }

    /// Limits each attempt; 10 seconds by default.
    ///
    /// The connection pool is one for all runtimes. A pooled connection that was made on a runtime which nobody drives any
    /// more (one `block_on` after another, each on a runtime of its own) is only left when an attempt over it times out. Each
    /// such connection costs one attempt: after many of them a call can be out of attempts before it meets a live one.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.settings.attempt_timeout = timeout;
        self
    }

    /// Limits the time until a connection stands; 5 seconds by default. When it is up, nothing was sent, and any call may be
    /// sent again: keep it below the time of an attempt.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.waits.connect = timeout;
        self
    }

    /// Limits each call as a whole; 30 seconds by default.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.settings.deadline = deadline;
        self
    }

    /// Sets how often and how calls are repeated.
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.settings.retry = policy;
        self
    }

    /// Sets the size of the retry budget; each repeat takes 5 out, each success puts 1 back. 500 by default.
    pub fn retry_budget(mut self, capacity: u32) -> Self {
        self.retry_budget = Some(capacity);
        self
    }

    /// Limits the size of a reply after decompression; 16 MiB by default.
    pub fn max_response_bytes(mut self, bytes: usize) -> Self {
        self.settings.max_response_bytes = bytes;
        self
    }

    /// Limits how many elements and members a reply may have, however small they are; 100,000 by default. Each takes memory
    /// of its own, many times what it takes in the text.
    pub fn max_response_elements(mut self, elements: usize) -> Self {
        self.settings.max_response_elements = elements;
        self
    }

    /// Says what to do with replies of another `schemaVersion`.
    pub fn schema_policy(mut self, policy: SchemaPolicy) -> Self {
        self.settings.schema_policy = policy;
        self
    }

    /// Says whether commands without a documented key may be repeated after an ambiguous failure.
    pub fn exact_replay(mut self, replay: ExactReplay) -> Self {
        self.settings.exact_replay = Some(replay);
        self
    }

    /// Says what to do with calls that the token surely does not open.
    pub fn scope_policy(mut self, policy: ScopePolicy) -> Self {
        self.settings.scope_policy = policy;
        self
    }

    /// Keys the digests of filters that stand in a [`Checkpoint`](crate::Checkpoint), so that nobody who reads one can
    /// guess what was searched for. All processes that resume each other's walks need the same key.
    pub fn digest_key(mut self, key: impl Into<Secret>) -> Self {
        self.digest_key = Some(key.into());
        self
    }

    /// Puts the caller's name before the SDK's in the user agent, such as `billing-service/1.4`.
    pub fn user_agent(mut self, product: impl Into<String>) -> Self {
        self.user_agent = Some(product.into());
        self
    }

    /// Takes the caller's own HTTP configuration: proxies, roots, pool sizes. The suite switches redirects off, sets the
    /// user agent, the [time for connecting](Self::connect_timeout) and the pings of HTTP/2 (`http2_pings`), and binds
    /// names such as `localhost` to loopback.
    ///
    /// Without this call, plain HTTP to loopback goes through no proxy, whatever the environment says. A builder of the
    /// caller's says itself which proxies there are: one that is left as it comes follows the environment for loopback too,
    /// unless `no_proxy` is called on it.
    #[cfg(feature = "reqwest-013")]
    pub fn http_client(mut self, client: impl Into<HttpClient>) -> Self {
        self.http = Some(client.into().0);
        self
    }

    /// Sets after what time of silence an HTTP/2 connection with requests under way is asked whether it is still there, and
    /// how long it may take to answer; 4 seconds each by default. A connection that does not answer is left, and the next
    /// attempt uses another. (A connection of HTTP/1.1 is left when its attempt times out.)
    #[cfg(feature = "http2")]
    pub fn http2_pings(mut self, interval: Duration, timeout: Duration) -> Self {
        (self.waits.ping_interval, self.waits.ping_timeout) = (interval, timeout);
        self
    }

    /// Allows plain HTTP to hosts that are not loopback. Tokens and secrets then travel in the clear.
    pub fn allow_insecure_http(mut self) -> Self {
        self.insecure_http = true;
        self
    }
}

/// The environment of the process. A variable of the suite's that is no text is a mistake; no other one counts.
fn process_variables(faults: &mut Vec<Error>) -> Vec<(String, String)> {
    let named =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
    let mut variables = Vec::new();
    for (name, value) in named.filter(|(name, _)| name.starts_with("SUITE_")) {
        match value.into_string() {
            Ok(value) => variables.push((name, value)),
            Err(_) => faults.push(Error::configuration(format!(
                "`{name}` must be text in UTF-8"
            ))),
        }
    }
    variables
}

impl fmt::Debug for SuiteBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SuiteBuilder")
            .field("layers", &self.layers)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
