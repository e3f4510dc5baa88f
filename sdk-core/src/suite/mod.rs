//! What all clients of one suite share.

mod builder;
mod settings;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use url::Url;

pub use builder::SuiteBuilder;
pub(crate) use settings::Settings;

use crate::config;
use crate::error::Error;
use crate::ledger::KeyLedger;
use crate::retry::RetryBudget;
use crate::token::{TokenCache, TokenRequest};

/// Credentials, connection pool, token cache and retry budget: shared by all clients made from it.
///
/// Cloning is cheap and shares everything.
///
/// ```no_run
/// # async fn example() -> Result<(), sdk_core::Error> {
/// use sdk_core::{ClientCredentials, Suite};
///
/// let suite = Suite::from_env()?;
/// // or
/// let suite = Suite::builder()
///     .core_url("https://core.example.com")
///     .application_url("crm", "https://crm.example.com")
///     .credentials(ClientCredentials::new("client-id", "client-secret"))
///     .build()?;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Suite {
    pub(crate) shared: Arc<Shared>,
    applications: Arc<HashMap<String, ApplicationConfig>>,
}

/// What every client of the suite uses.
pub(crate) struct Shared {
    pub(crate) http: reqwest::Client,
    pub(crate) tokens: TokenCache,
    pub(crate) settings: Settings,
    pub(crate) budget: RetryBudget,
    pub(crate) keys: KeyLedger,
    pub(crate) counters: Counters,
    insecure_http: bool,
}

#[derive(Clone, Debug, Default)]
struct ApplicationConfig {
    url: Option<String>,
    audience: Option<String>,
    scopes: Vec<String>,
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    calls: AtomicU64,
    attempts: AtomicU64,
}

impl Counters {
    pub(crate) fn call(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn attempt(&self) {
        self.attempts.fetch_add(1, Ordering::Relaxed);
    }
}

/// What a suite has done so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Calls begun.
    pub calls: u64,
    /// Attempts sent for them, repeats included.
    pub attempts: u64,
    /// Token exchanges begun.
    pub token_exchanges: u64,
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
    /// # Errors
    /// When variables are missing, all of them named at once, or hold an address that is refused.
    pub fn from_env() -> Result<Self, Error> {
        Self::builder().environment()?.build()
    }

    /// A builder for a suite.
    pub fn builder() -> SuiteBuilder {
        SuiteBuilder::default()
    }

    /// The same suite whose clients ask for these scopes only in an application's tokens: least privilege for a part of
    /// a program. Connections, budget and counters are shared; tokens are not, because their scopes differ.
    ///
    /// ```no_run
    /// # fn example(suite: &sdk_core::Suite) {
    /// let read_only = suite.with_scopes("crm", ["crm:people:read", "crm:tasks:read"]);
    /// # let _ = read_only;
    /// # }
    /// ```
    #[must_use]
    pub fn with_scopes<S: Into<String>>(
        &self,
        application: &str,
        scopes: impl IntoIterator<Item = S>,
    ) -> Self {
        let mut applications = (*self.applications).clone();
        let config = applications.entry(application.to_owned()).or_default();
        config.scopes = scopes.into_iter().map(Into::into).collect();
        Self {
            shared: Arc::clone(&self.shared),
            applications: Arc::new(applications),
        }
    }

    /// What has been done so far, over all clients.
    pub fn stats(&self) -> Stats {
        Stats {
            calls: self.shared.counters.calls.load(Ordering::Relaxed),
            attempts: self.shared.counters.attempts.load(Ordering::Relaxed),
            token_exchanges: self.shared.tokens.exchanges(),
        }
    }

    pub(crate) fn application_url(&self, application: &str) -> Result<Url, Error> {
        let variable = config::url_variable(application);
        match self
            .applications
            .get(application)
            .and_then(|config| config.url.as_deref())
        {
            Some(text) => config::parse_url(&variable, text, self.shared.insecure_http),
            None => Err(Error::configuration(format!(
                "the URL of the {application} application is missing: set {variable}, or call \
                 `application_url(\"{application}\", …)` on the builder"
            ))),
        }
    }

    /// The token that an application's client asks for: for its exact audience (assumed to be its origin, A43).
    pub(crate) fn token_request(&self, application: &str, url: &Url) -> TokenRequest {
        let config = self.applications.get(application);
        let audience = config
            .and_then(|config| config.audience.clone())
            .unwrap_or_else(|| url.origin().ascii_serialization());
        TokenRequest::new()
            .with_audience(audience)
            .with_scopes(config.map_or(&[][..], |config| &config.scopes))
    }
}

impl fmt::Debug for Suite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Suite")
            .field(
                "applications",
                &self.applications.keys().collect::<Vec<_>>(),
            )
            .field("settings", &self.shared.settings)
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}
