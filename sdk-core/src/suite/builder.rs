//! How a suite is put together.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use url::Url;

use super::settings::Settings;
use super::{ApplicationConfig, Counters, Shared, Suite};
use crate::config;
use crate::credentials::ClientCredentials;
use crate::error::Error;
use crate::ledger::KeyLedger;
use crate::options::SchemaPolicy;
use crate::retry::{RetryBudget, RetryPolicy};
use crate::token::{ClientCredentialsSource, TokenCache, TokenPolicy, TokenSource};

/// The applications that the environment can name.
const APPLICATIONS: [&str; 4] = ["platform", "crm", "calendar", "accounting"];

/// How long a connection may take to be made: on loopback and within a region it takes milliseconds.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How much may be spent on repeats: 100 in a row, one for five successes in the long run.
const RETRY_BUDGET: u32 = 500;

/// How many idempotency keys are remembered: minutes of a busy service, in less than half a mebibyte.
const REMEMBERED_KEYS: usize = 4_096;

/// Builds a [`Suite`].
#[derive(Default)]
#[must_use = "a builder does nothing until it is built"]
pub struct SuiteBuilder {
    applications: HashMap<String, ApplicationConfig>,
    token_url: Option<String>,
    credentials: Option<ClientCredentials>,
    source: Option<Arc<dyn TokenSource>>,
    settings: Settings,
    token_policy: TokenPolicy,
    retry_budget: Option<u32>,
    remembered_keys: Option<usize>,
    http: Option<reqwest::ClientBuilder>,
    user_agent: Option<String>,
    insecure_http: bool,
}

impl SuiteBuilder {
    /// Fills in everything that the environment says; see [`Suite::from_env`].
    ///
    /// # Errors
    /// When the credential or every address for the token exchange is missing, all missing variables named at once.
    pub fn environment(self) -> Result<Self, Error> {
        // Variables that are not text cannot be among those that count.
        self.variables(std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        }))
    }

    /// Fills in what these variables say, by the names that [`Suite::from_env`] reads: a configuration file's, or those
    /// that a reference server hands out.
    ///
    /// # Errors
    /// As [`environment`](Self::environment).
    pub fn variables(
        mut self,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, Error> {
        let mut variables: HashMap<String, String> = variables
            .into_iter()
            .map(|(name, value)| (name, value.trim().to_owned()))
            .filter(|(name, value)| name.starts_with("SUITE_") && !value.is_empty())
            .collect();
        for application in APPLICATIONS {
            let config = self.applications.entry(application.to_owned()).or_default();
            let url = variables.remove(&config::url_variable(application));
            let audience = variables.remove(&config::audience_variable(application));
            config.url = url.or(config.url.take());
            config.audience = audience.or(config.audience.take());
        }
        self.token_url = variables.remove(config::TOKEN_URL).or(self.token_url);
        if self.source.is_some() || self.credentials.is_some() {
            return Ok(self);
        }
        let id = variables.remove(config::CLIENT_ID);
        let secret = variables.remove(config::CLIENT_SECRET);
        let has_token_url = self.token_url.is_some() || self.applications["platform"].url.is_some();
        let missing: Vec<&str> = [
            (config::CORE_URL, has_token_url),
            (config::CLIENT_ID, id.is_some()),
            (config::CLIENT_SECRET, secret.is_some()),
        ]
        .into_iter()
        .filter_map(|(name, present)| (!present).then_some(name))
        .collect();
        match (id, secret) {
            (Some(id), Some(secret)) if missing.is_empty() => {
                Ok(self.credentials(ClientCredentials::new(id, secret)))
            }
            _ => Err(Error::configuration(format!(
                "missing environment variables: {}",
                missing.join(", ")
            ))),
        }
    }

    /// Sets the Platform's base URL, whose `/oauth/token` exchanges the token unless [`token_url`](Self::token_url) says otherwise.
    pub fn core_url(self, url: impl Into<String>) -> Self {
        self.application_url("platform", url)
    }

    /// Sets the routed origin of an application: `crm`, `calendar`, `accounting` or `platform`.
    pub fn application_url(mut self, application: &str, url: impl Into<String>) -> Self {
        self.applications
            .entry(application.to_owned())
            .or_default()
            .url = Some(url.into());
        self
    }

    /// Sets the audience of an application's tokens, which is its origin otherwise (assumed: A43).
    pub fn audience(mut self, application: &str, audience: impl Into<String>) -> Self {
        self.applications
            .entry(application.to_owned())
            .or_default()
            .audience = Some(audience.into());
        self
    }

    /// Asks for these scopes in an application's tokens; without any, the server grants what the client may have.
    pub fn scopes<S: Into<String>>(
        mut self,
        application: &str,
        scopes: impl IntoIterator<Item = S>,
    ) -> Self {
        let config = self.applications.entry(application.to_owned()).or_default();
        config.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the token endpoint.
    pub fn token_url(mut self, url: impl Into<String>) -> Self {
        self.token_url = Some(url.into());
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

    /// Sets how many of the last idempotency keys are remembered, so that a key that goes out with another body is
    /// refused before it is sent ([`ErrorKind::KeyReused`](crate::ErrorKind::KeyReused)). 4,096 by default, of which only
    /// hashes are kept; 0 leaves it to the service.
    pub fn remember_keys(mut self, count: usize) -> Self {
        self.remembered_keys = Some(count);
        self
    }

    /// Limits the size of a reply after decompression; 16 MiB by default.
    pub fn max_response_bytes(mut self, bytes: usize) -> Self {
        self.settings.max_response_bytes = bytes;
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

    /// Puts the caller's name before the SDK's in the user agent, such as `billing-service/1.4`.
    pub fn user_agent(mut self, product: impl Into<String>) -> Self {
        self.user_agent = Some(product.into());
        self
    }

    /// Takes the caller's own HTTP configuration: proxies, roots, pool sizes. The suite switches redirects off and
    /// sets the user agent.
    pub fn http_client(mut self, builder: reqwest::ClientBuilder) -> Self {
        self.http = Some(builder);
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
    /// When an address is refused, or there is neither a credential nor a token source.
    pub fn build(mut self) -> Result<Suite, Error> {
        for (application, config) in &self.applications {
            if let Some(url) = &config.url {
                config::parse_url(&config::url_variable(application), url, self.insecure_http)?;
            }
        }
        let http = self.build_http()?;
        let source = match (&self.source, &self.credentials) {
            (Some(source), _) => Arc::clone(source),
            (None, Some(credentials)) => Arc::new(ClientCredentialsSource::new(
                http.clone(),
                self.token_endpoint()?,
                credentials.clone(),
                &self.token_policy,
            )),
            (None, None) => {
                return Err(Error::configuration(
                    "neither `credentials` nor a `token_source` is set",
                ));
            }
        };
        let shared = Shared {
            http,
            tokens: TokenCache::new(source, self.token_policy),
            settings: self.settings,
            budget: RetryBudget::new(self.retry_budget.unwrap_or(RETRY_BUDGET)),
            keys: KeyLedger::new(self.remembered_keys.unwrap_or(REMEMBERED_KEYS)),
            counters: Counters::default(),
            insecure_http: self.insecure_http,
        };
        Ok(Suite {
            shared: Arc::new(shared),
            applications: Arc::new(self.applications),
        })
    }

    fn token_endpoint(&self) -> Result<Url, Error> {
        if let Some(url) = &self.token_url {
            return config::parse_url(config::TOKEN_URL, url, self.insecure_http);
        }
        let core = self
            .applications
            .get("platform")
            .and_then(|config| config.url.as_deref())
            .ok_or_else(|| {
                Error::configuration(format!(
                    "the token endpoint is missing: set {} or {}",
                    config::CORE_URL,
                    config::TOKEN_URL
                ))
            })?;
        let mut url = config::parse_url(config::CORE_URL, core, self.insecure_http)?;
        let path = format!("{}/oauth/token", url.path().trim_end_matches('/'));
        url.set_path(&path);
        Ok(url)
    }

    fn build_http(&mut self) -> Result<reqwest::Client, Error> {
        let sdk = concat!("suite-sdk-rust/", env!("CARGO_PKG_VERSION"));
        let agent = self
            .user_agent
            .as_ref()
            .map_or_else(|| sdk.to_owned(), |product| format!("{product} {sdk}"));
        let builder = self
            .http
            .take()
            .unwrap_or_else(|| reqwest::Client::builder().connect_timeout(CONNECT_TIMEOUT));
        builder
            .user_agent(agent)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| {
                Error::configuration("the HTTP client cannot be built").source(error.without_url())
            })
    }
}

impl fmt::Debug for SuiteBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SuiteBuilder")
            .field(
                "applications",
                &self.applications.keys().collect::<Vec<_>>(),
            )
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
