//! How a suite is put together.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use secrecy::ExposeSecret;
use url::Url;

use super::layers::{From, Layers, Setting};
use super::settings::Settings;
use super::{ApplicationConfig, Audience, Counters, Shared, Suite, scopes_of};
use crate::config::{self, APPLICATIONS, Purpose};
use crate::credentials::ClientCredentials;
use crate::error::Error;
use crate::options::SchemaPolicy;
use crate::retry::{RetryBudget, RetryPolicy};
use crate::secret::Secret;
use crate::token::{ClientCredentialsSource, TokenCache, TokenPolicy, TokenSource};
use crate::transport::{Clients, Pings};

/// How much may be spent on repeats: 100 in a row, one for five successes in the long run.
const RETRY_BUDGET: u32 = 500;

/// Builds a [`Suite`].
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
    scopes: HashMap<&'static str, Vec<String>>,
    credentials: Option<ClientCredentials>,
    source: Option<Arc<dyn TokenSource>>,
    settings: Settings,
    token_policy: TokenPolicy,
    retry_budget: Option<u32>,
    digest_key: Option<Secret>,
    http: Option<reqwest::ClientBuilder>,
    pings: Pings,
    user_agent: Option<String>,
    insecure_http: bool,
    faults: Vec<Error>,
}

impl SuiteBuilder {
    /// Takes addresses, audiences and the credential from the environment; see [`Suite::from_env`].
    ///
    /// A credential that is set in code does not go to an address from the environment: whoever controls one of the two
    /// would get the other. To have it so, call [`environment_addresses`](Self::environment_addresses).
    pub fn environment(mut self) -> Self {
        self.layers
            .environment
            .get_or_insert_default()
            .read(process_variables());
        self
    }

    /// Takes addresses and audiences from the environment, and lets a credential or token source that is set in code be
    /// used with them: for programs that have their secret from a vault.
    pub fn environment_addresses(mut self) -> Self {
        let credential = [config::CLIENT_ID, config::CLIENT_SECRET];
        let addresses = process_variables().filter(|(name, _)| !credential.contains(&&**name));
        self.layers
            .environment
            .get_or_insert_default()
            .read(addresses);
        self.trusts_environment = true;
        self
    }

    /// Takes these variables, by the names that [`Suite::from_env`] reads: a configuration file's, or those that a reference
    /// server hands out. They count as the program's own.
    pub fn variables(mut self, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        self.layers
            .variables
            .get_or_insert_default()
            .read(variables);
        self
    }

    /// Sets the Platform's base URL, whose `/oauth/token` exchanges the token unless [`token_url`](Self::token_url) says otherwise.
    pub fn core_url(mut self, url: impl Into<String>) -> Self {
        self.layers.code.set_url("platform", url.into());
        self
    }

    /// Sets the routed origin of an application: `crm`, `calendar`, `accounting` or `platform`.
    pub fn application_url(mut self, application: &str, url: impl Into<String>) -> Self {
        if let Some(application) = self.application("application_url", application) {
            self.layers.code.set_url(application, url.into());
        }
        self
    }

    /// Sets the audience of an application's tokens, which is its origin otherwise (assumed: A43).
    pub fn audience(mut self, application: &str, audience: impl Into<String>) -> Self {
        if let Some(application) = self.application("audience", application) {
            self.layers.code.set_audience(application, audience.into());
        }
        self
    }

    /// Asks for these scopes in an application's tokens; without this call, the server grants what the client may have.
    pub fn scopes<S: AsRef<str>>(
        mut self,
        application: &str,
        scopes: impl IntoIterator<Item = S>,
    ) -> Self {
        if let Some(application) = self.application("scopes", application) {
            match scopes_of("scopes", scopes) {
                Ok(scopes) => drop(self.scopes.insert(application, scopes)),
                Err(fault) => self.faults.push(fault),
            }
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
    /// more (one `block_on` after another, each on a runtime of its own) is only left when an attempt over it times out.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.settings.attempt_timeout = timeout;
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

    /// Limits how many elements and members a reply may have, however small they are; 500,000 by default. Each takes memory
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

    /// Lets commands without a documented key be repeated after an ambiguous failure; see
    /// [`CallOptions::replay_exact`](crate::CallOptions::replay_exact).
    pub fn replay_exact(mut self, replay: bool) -> Self {
        self.settings.replay_exact = replay;
        self
    }

    /// Refuses calls before they are sent when the token endpoint said that it granted none of their scopes. Off by
    /// default: the service decides.
    pub fn refuse_missing_scopes(mut self, refuse: bool) -> Self {
        self.settings.refuse_missing_scopes = refuse;
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
    /// user agent and the [pings](Self::http2_pings) of HTTP/2, and binds names such as `localhost` to loopback.
    ///
    /// Without this call, plain HTTP to loopback goes through no proxy, whatever the environment says. A builder of the
    /// caller's says itself which proxies there are: one that is left as it comes follows the environment for loopback too,
    /// unless [`no_proxy`](reqwest::ClientBuilder::no_proxy) is called on it.
    pub fn http_client(mut self, builder: reqwest::ClientBuilder) -> Self {
        self.http = Some(builder);
        self
    }

    /// Sets after what time of silence an HTTP/2 connection with requests under way is asked whether it is still there, and
    /// how long it may take to answer; 4 seconds each by default. A connection that does not answer is left, and the next
    /// attempt uses another. (A connection of HTTP/1.1 is left when its attempt times out.)
    #[cfg(feature = "http2")]
    pub fn http2_pings(mut self, interval: Duration, timeout: Duration) -> Self {
        self.pings = Pings { interval, timeout };
        self
    }

    /// Allows plain HTTP to hosts that are not loopback. Tokens and secrets then travel in the clear.
    pub fn allow_insecure_http(mut self) -> Self {
        self.insecure_http = true;
        self
    }

    /// Checks everything and builds the suite. Nothing is sent and nothing is started.
    ///
    /// # Errors
    /// When a name, an address or a credential is refused or missing; all such mistakes are told at once.
    pub fn build(mut self) -> Result<Suite, Error> {
        let mut faults = std::mem::take(&mut self.faults);
        let applications = self.applications(&mut faults);
        let tokens = self.tokens_from(&mut faults);
        faults.extend(self.crossed());
        let mut addresses: Vec<Url> = applications
            .values()
            .filter_map(|application| application.url.clone())
            .collect();
        if let Some(TokensFrom::Exchange { endpoint, .. }) = &tokens {
            addresses.push(endpoint.clone());
        }
        if self.http.is_none() {
            faults.extend(config::without_tls(&addresses, HAS_TLS));
        }
        let Some(tokens) = tokens.filter(|_| faults.is_empty()) else {
            return Err(Error::all(faults));
        };
        let clients = Clients::build(self.http.take(), &self.agent(), &addresses, self.pings)?;
        let mut own = None;
        let source = match tokens {
            TokensFrom::Source(source) => source,
            TokensFrom::Exchange {
                credentials,
                endpoint,
            } => {
                let proxy = clients.proxy_for(&endpoint);
                let client = clients.client_for(&endpoint)?;
                let policy = &self.token_policy;
                own = Some(credentials.clone());
                let source = ClientCredentialsSource::new(client, endpoint, credentials, policy);
                Arc::new(source.through(proxy))
            }
        };
        let shared = Shared {
            clients,
            tokens: TokenCache::new(source, self.token_policy),
            settings: self.settings,
            budget: RetryBudget::new(self.retry_budget.unwrap_or(RETRY_BUDGET)),
            counters: Counters::default(),
            credentials: own,
            digest_key: self.digest_key,
        };
        Ok(Suite {
            shared: Arc::new(shared),
            applications: Arc::new(applications),
        })
    }

    fn application(&mut self, call: &str, name: &str) -> Option<&'static str> {
        config::application(call, name)
            .map_err(|fault| self.faults.push(fault))
            .ok()
    }

    /// The applications as they are configured.
    fn applications(
        &mut self,
        faults: &mut Vec<Error>,
    ) -> HashMap<&'static str, ApplicationConfig> {
        let scopes = std::mem::take(&mut self.scopes);
        let mut applications = HashMap::new();
        for application in APPLICATIONS {
            let url = self.layers.url(application).and_then(|url| {
                config::parse_url(&url.name, url.value, Purpose::Base, self.insecure_http)
                    .map_err(|fault| faults.push(fault))
                    .ok()
            });
            let audience = self.layers.audience(application).and_then(|audience| {
                let checked = config::check_audience(&audience.name, audience.value);
                checked.map_err(|fault| faults.push(fault)).ok()?;
                Some(Audience {
                    text: audience.value.to_owned(),
                    set_by: Some(audience.name),
                })
            });
            let scopes = scopes.get(application).cloned().unwrap_or_default();
            let config = ApplicationConfig {
                url,
                audience,
                scopes,
            };
            applications.insert(application, config);
        }
        applications
    }

    /// Where tokens come from, if that is said without a mistake.
    fn tokens_from(&self, faults: &mut Vec<Error>) -> Option<TokensFrom> {
        if let Some(source) = &self.source {
            return Some(TokensFrom::Source(Arc::clone(source)));
        }
        let credentials = self.credentials.clone().or_else(|| {
            let id = self.layers.client_id()?.value;
            let secret = self.layers.client_secret()?.value;
            Some(ClientCredentials::new(id, secret.clone()))
        });
        let endpoint = self
            .layers
            .token_url()
            .map(|url| (url, "", Purpose::TokenEndpoint));
        let endpoint = endpoint.or_else(|| {
            let core = self.layers.url("platform")?;
            Some((core, "/oauth/token", Purpose::Base))
        });
        faults.extend(self.missing(credentials.is_some(), endpoint.is_some()));
        let credentials = credentials?;
        let (url, path, purpose) = endpoint?;
        for (empty, what) in [
            (credentials.id().is_empty(), "client id"),
            (credentials.secret().expose_secret().is_empty(), "secret"),
        ] {
            if empty {
                let rule = format!("`credentials` must have a {what}: got an empty one");
                faults.push(Error::configuration(rule));
            }
        }
        match config::parse_url(&url.name, url.value, purpose, self.insecure_http) {
            Ok(mut endpoint) => {
                let base = endpoint.path().trim_end_matches('/');
                if !path.is_empty() {
                    endpoint.set_path(&format!("{base}{path}"));
                }
                Some(TokensFrom::Exchange {
                    credentials,
                    endpoint,
                })
            }
            Err(fault) => {
                // A core URL that is refused was told already.
                if purpose == Purpose::TokenEndpoint {
                    faults.push(fault);
                }
                None
            }
        }
    }

    /// What lacks for an exchange of the credential, all of it at once.
    fn missing(&self, has_credentials: bool, has_endpoint: bool) -> Option<Error> {
        let missing: Vec<&str> = [
            (config::CORE_URL, has_endpoint),
            (
                config::CLIENT_ID,
                has_credentials || self.layers.client_id().is_some(),
            ),
            (
                config::CLIENT_SECRET,
                has_credentials || self.layers.client_secret().is_some(),
            ),
        ]
        .into_iter()
        .filter_map(|(name, present)| (!present).then_some(name))
        .collect();
        let message = if missing.is_empty() {
            return None;
        } else if self.layers.has_variables() {
            format!("missing environment variables: {}", missing.join(", "))
        } else if has_credentials {
            format!(
                "the token endpoint is missing: call `core_url` or `token_url`, or set {} or {}",
                config::CORE_URL,
                config::TOKEN_URL
            )
        } else {
            "neither `credentials` nor a `token_source` is set".to_owned()
        };
        Some(Error::configuration(message))
    }

    /// Whether a credential of the program's own would go to an address from the environment, though nobody said that it may.
    fn crossed(&self) -> Option<Error> {
        let from_environment =
            |setting: &Setting<&str>| setting.from == From::Environment && !self.trusts_environment;
        let own = self.source.is_some()
            || self.credentials.is_some()
            || self
                .layers
                .client_secret()
                .is_some_and(|secret| secret.from != From::Environment);
        let urls = APPLICATIONS.iter().map(|name| self.layers.url(name));
        let address = std::iter::once(self.layers.token_url())
            .chain(urls)
            .flatten()
            .find(from_environment)
            .filter(|_| own)?;
        Some(Error::configuration(format!(
            "the credential is set in code and {} in the environment: if the credential may go there, call \
             `environment_addresses`; otherwise set the address in code",
            address.name
        )))
    }

    fn agent(&self) -> String {
        let sdk = concat!("suite-sdk-rust/", env!("CARGO_PKG_VERSION"));
        match &self.user_agent {
            Some(product) => format!("{product} {sdk}"),
            None => sdk.to_owned(),
        }
    }
}

/// Where the suite's tokens come from.
enum TokensFrom {
    Source(Arc<dyn TokenSource>),
    Exchange {
        credentials: ClientCredentials,
        endpoint: Url,
    },
}

/// Whether this build can speak TLS by itself.
const HAS_TLS: bool = cfg!(any(feature = "rustls", feature = "native-tls"));

/// The environment as far as it is text: no other variable counts.
fn process_variables() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

impl fmt::Debug for SuiteBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SuiteBuilder")
            .field("layers", &self.layers)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
