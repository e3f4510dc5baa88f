//! What all clients of a suite share.

pub(crate) mod address;
pub(crate) mod builder;
pub(crate) mod layers;
pub(crate) mod settings;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use http::HeaderValue;
use url::Url;

use crate::app::App;
use crate::error::Error;
use crate::observe::watcher::Watcher;
use crate::policy::budget::RetryBudget;
use crate::secret::confidential::Confidential;
use crate::secret::value::Secret;
use crate::suite::address::refused;
use crate::suite::settings::Settings;
use crate::token::cache::TokenCache;
use crate::token::credentials::ClientCredentials;
use crate::token::source::TokenRequest;
use crate::transport::connections::Connections;

/// Credentials, connection pools, token cache and retry budget, which its clients share.
///
/// Cloning is cheap and shares everything.
///
/// ```no_run
/// # async fn example() -> Result<(), sdk_core::Error> {
/// use sdk_core::{App, ClientCredentials, Suite};
///
/// let suite = Suite::from_env()?;
/// // or
/// let suite = Suite::builder()
///     .core_url("https://core.example.com")
///     .application_url(App::Crm, "https://crm.example.com")
///     .credentials(ClientCredentials::new("client-id", "client-secret"))
///     .build()?;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Suite {
    pub(crate) shared: Arc<Shared>,
    applications: Arc<HashMap<App, ApplicationConfig>>,
}

pub(crate) struct Shared {
    pub(crate) connections: Arc<Connections>,
    /// The user agent of all requests.
    pub(crate) agent: HeaderValue,
    pub(crate) tokens: TokenCache,
    pub(crate) settings: Settings,
    pub(crate) budget: RetryBudget,
    pub(crate) counters: Counters,
    pub(crate) watcher: Watcher,
    /// Where tokens are exchanged, unless they come from the caller's own source.
    pub(crate) token_endpoint: Option<Url>,
    /// What no text may show, whatever a server repeats.
    pub(crate) credentials: Option<ClientCredentials>,
    /// The key for the digests of filters in checkpoints.
    pub(crate) digest_key: Option<Secret>,
}

#[derive(Clone, Debug, Default)]
struct ApplicationConfig {
    url: Option<Url>,
    audience: Option<Audience>,
    scopes: Vec<String>,
}

/// The audience of an application's tokens.
#[derive(Clone, Debug)]
pub(crate) struct Audience {
    pub(crate) text: String,
    /// The variable or call that set it; `None` if it is the application's origin, by default.
    pub(crate) set_by: Option<String>,
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

/// What a suite has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Calls that began.
    pub calls: u64,
    /// Attempts for them, retries included.
    pub attempts: u64,
    /// Token exchanges that began.
    pub token_exchanges: u64,
}

impl Shared {
    /// Adds the credential and the tokens to what is confidential.
    pub(crate) fn confide(&self, confidential: &mut Confidential) {
        if let Some(credentials) = &self.credentials {
            credentials.confide(confidential);
        }
        self.tokens.confide(confidential);
    }
}

impl Suite {
    /// The same suite with tokens of only these scopes for an application: least privilege for a part of a program. The two
    /// share connections, budget and counters, but not tokens, because their scopes differ.
    ///
    /// ```no_run
    /// # fn example(suite: &sdk_core::Suite) -> Result<(), sdk_core::Error> {
    /// use sdk_core::App;
    ///
    /// let read_only = suite.with_scopes(App::Crm, ["crm:people:read", "crm:tasks:read"])?;
    /// # let _ = read_only;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// When no scope is named, because a token that is requested without any may have all of them.
    pub fn with_scopes<S: AsRef<str>>(
        &self,
        app: App,
        scopes: impl IntoIterator<Item = S>,
    ) -> Result<Self, Error> {
        let scopes = scopes_of("with_scopes", scopes)?;
        let mut applications = (*self.applications).clone();
        applications.entry(app).or_default().scopes = scopes;
        Ok(Self {
            shared: Arc::clone(&self.shared),
            applications: Arc::new(applications),
        })
    }

    /// What all clients together have done.
    pub fn stats(&self) -> Stats {
        Stats {
            calls: self.shared.counters.calls.load(Ordering::Relaxed),
            attempts: self.shared.counters.attempts.load(Ordering::Relaxed),
            token_exchanges: self.shared.tokens.exchanges(),
        }
    }

    /// The base URL of an application.
    pub(crate) fn application_url(&self, app: App) -> Result<&Url, Error> {
        let config = self.applications.get(&app);
        let url = config.and_then(|config| config.url.as_ref());
        url.ok_or_else(|| {
            let (variable, call) = (app.url_variable(), app.url_setter());
            Error::configuration(format!(
                "the URL of the {app} application is missing: set {variable}, or call `{call}` on the builder"
            ))
        })
    }

    /// The audience of an application: its origin unless it is set (assumed: A43).
    ///
    /// # Errors
    /// When another application has the same origin, because a token for one would open the other.
    pub(crate) fn audience(&self, app: App) -> Result<Audience, Error> {
        let config = self.applications.get(&app);
        if let Some(audience) = config.and_then(|config| config.audience.clone()) {
            return Ok(audience);
        }
        let origin = self.application_url(app)?.origin();
        let twin = self.applications.iter().find(|(name, other)| {
            let other = other.url.as_ref();
            **name != app && other.is_some_and(|url| url.origin() == origin)
        });
        if let Some((twin, _)) = twin {
            let (variable, call) = (app.audience_variable(), app.audience_setter());
            return Err(Error::configuration(format!(
                "{app} and {twin} have the same origin, so their tokens need different audiences: set {variable}, or call \
                 `{call}` on the builder"
            )));
        }
        Ok(Audience {
            text: origin.ascii_serialization(),
            set_by: None,
        })
    }

    /// The request for an application's tokens.
    pub(crate) fn token_request(&self, app: App, audience: &Audience) -> TokenRequest {
        let config = self.applications.get(&app);
        TokenRequest::new()
            .with_audience(&*audience.text)
            .with_scopes(config.map_or(&[][..], |config| &config.scopes))
    }
}

/// The scopes that were passed to `call`.
///
/// # Errors
/// When there is none, or one is not a scope (RFC 6749, section 3.3).
fn scopes_of<S: AsRef<str>>(
    call: &str,
    scopes: impl IntoIterator<Item = S>,
) -> Result<Vec<String>, Error> {
    let mut named = Vec::new();
    for scope in scopes {
        named.extend(scope.as_ref().split_whitespace().map(str::to_owned));
    }
    if named.is_empty() {
        return Err(refused(call, "name at least one scope", "none"));
    }
    let is_scope = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\');
    match named.iter().find(|scope| !scope.bytes().all(is_scope)) {
        Some(odd) => {
            let rule = "name scopes of visible ASCII characters, without quotes and backslashes";
            Err(refused(call, rule, &format!("{odd:?}")))
        }
        None => Ok(named),
    }
}

impl fmt::Debug for Suite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let applications: Vec<_> = self.applications.keys().collect();
        f.debug_struct("Suite")
            .field("applications", &applications)
            .field("settings", &self.shared.settings)
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}
