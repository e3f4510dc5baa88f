//! State that all clients of a suite share.

pub(crate) mod address;
pub(crate) mod build;
pub(crate) mod builder;
pub(crate) mod sources;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use http::HeaderValue;
use url::Url;

use crate::app::App;
use crate::error::Error;
use crate::macros::debug_fields;
use crate::observe::observers::Observers;
use crate::options::CallOptions;
use crate::policy::budget::RetryBudgets;
use crate::policy::concurrency::ConcurrencyLimit;
use crate::policy::random::RandomSource;
use crate::secret::redactor::Redactor;
use crate::suite::address::invalid_setting;
use crate::token::cache::TokenCache;
use crate::token::source::TokenRequest;
use crate::transport::connections::Connections;

/// Shares credentials, connection pools, the token cache and retry budgets among clients.
///
/// Cloning is cheap and shares everything. See [the guide](crate::guide::getting_started) for why a process needs only
/// one suite.
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
    applications: Arc<Applications>,
}

pub(crate) struct Shared {
    pub(crate) connections: Arc<Connections>,
    pub(crate) agent: Arc<HeaderValue>,
    pub(crate) tokens: TokenCache,
    /// The default call options. A client or a call can override them.
    pub(crate) options: Arc<CallOptions>,
    pub(crate) max_response_bytes: usize,
    pub(crate) max_response_elements: usize,
    pub(crate) random: RandomSource,
    pub(crate) budgets: RetryBudgets,
    /// The limit on concurrent attempts of each application, if any, in the order of [`App::ALL`].
    pub(crate) concurrency: Option<Box<[ConcurrencyLimit; App::ALL.len()]>>,
    pub(crate) calls: AtomicU64,
    pub(crate) attempts: AtomicU64,
    pub(crate) observers: Observers,
    /// The token endpoint; `None` if tokens come from the caller's own source.
    pub(crate) token_endpoint: Option<Arc<Url>>,
    /// The prefix of the suite's variable names, such as `ACME_`.
    pub(crate) variable_prefix: Box<str>,
}

/// The settings of each application, in the order of [`App::ALL`].
type Applications = [ApplicationConfig; App::ALL.len()];

/// The settings of an application. Small, because a process may have many suites.
#[derive(Clone, Debug, Default)]
struct ApplicationConfig {
    url: Option<Arc<Url>>,
    audience: Option<Arc<Audience>>,
    scopes: Box<[String]>,
}

/// An audience of an application's tokens that was set explicitly.
#[derive(Clone, Debug)]
struct Audience {
    value: String,
    set_by: String,
}

/// The number of calls, attempts and token requests of a suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Calls started.
    pub calls: u64,
    /// Attempts of these calls, including retries.
    pub attempts: u64,
    /// Token requests started.
    pub token_exchanges: u64,
}

impl Shared {
    pub(crate) fn label(&self) -> Option<Arc<str>> {
        self.observers.label().cloned()
    }

    pub(crate) fn add_secrets_to(&self, redactor: &mut Redactor) {
        self.tokens.add_secrets_to(redactor);
    }
}

impl Suite {
    /// Returns a suite whose tokens for an application have only these scopes, for least privilege in a part of a
    /// program. Both suites share connections, budgets and counters. They don't share tokens, because the scopes
    /// differ.
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
    /// If no scope is named. A token requested without scopes may have all of them.
    pub fn with_scopes<S: AsRef<str>>(
        &self,
        app: App,
        scopes: impl IntoIterator<Item = S>,
    ) -> Result<Self, Error> {
        let scopes = scopes_of("with_scopes", scopes)
            .map_err(|error| error.with_installation(self.shared.label()))?;
        let mut applications = (*self.applications).clone();
        applications[app as usize].scopes = scopes.into();
        Ok(Self {
            shared: Arc::clone(&self.shared),
            applications: Arc::new(applications),
        })
    }

    /// Returns the [label](crate::SuiteBuilder::label) of the installation, if any.
    #[must_use]
    pub fn label(&self) -> Option<&str> {
        self.shared.observers.installation()
    }

    /// Returns the totals of all clients.
    pub fn stats(&self) -> Stats {
        Stats {
            calls: self.shared.calls.load(Ordering::Relaxed),
            attempts: self.shared.attempts.load(Ordering::Relaxed),
            token_exchanges: self.shared.tokens.exchanges(),
        }
    }

    pub(crate) fn application_url(&self, app: App) -> Result<&Arc<Url>, Error> {
        self.config(app).url.as_ref().ok_or_else(|| {
            let (variable, call) = (app.url_variable(), app.url_setter());
            let prefix = &self.shared.variable_prefix;
            Error::configuration(format!(
                "the URL of the {app} application is missing: set {prefix}{variable}, or call `{call}` on the builder"
            ))
        })
    }

    /// Returns the audience of an application. The default is its origin (assumption A43).
    ///
    /// # Errors
    /// If no audience is set and two applications have the same origin. A token for one application would also be valid
    /// for the other application.
    fn audience(&self, app: App) -> Result<String, Error> {
        if let Some(audience) = &self.config(app).audience {
            return Ok(audience.value.clone());
        }
        let origin = self.application_url(app)?.origin();
        let twin = App::all().find(|other| {
            let url = self.config(*other).url.as_ref();
            *other != app && url.is_some_and(|url| url.origin() == origin)
        });
        if let Some(twin) = twin {
            let (variable, call) = (app.audience_variable(), app.audience_setter());
            let prefix = &self.shared.variable_prefix;
            return Err(Error::configuration(format!(
                "{app} and {twin} have the same origin, so their tokens need different audiences: set {prefix}{variable}, or \
                 call `{call}` on the builder"
            )));
        }
        Ok(origin.ascii_serialization())
    }

    /// Returns the variable or call that set the audience of an application, or `None` if the audience is the origin.
    pub(crate) fn audience_set_by(&self, app: App) -> Option<&str> {
        let audience = self.config(app).audience.as_ref()?;
        Some(&audience.set_by)
    }

    /// Returns the request for an application's tokens.
    ///
    /// # Errors
    /// If the application needs an audience that is not set.
    pub(crate) fn token_request(&self, app: App) -> Result<TokenRequest, Error> {
        let request = TokenRequest::new().with_audience(self.audience(app)?);
        Ok(request.with_scopes(&self.config(app).scopes))
    }

    fn config(&self, app: App) -> &ApplicationConfig {
        &self.applications[app as usize]
    }
}

/// Returns the scopes that were passed to `call`.
///
/// # Errors
/// If there is no scope, or a string is not a scope (RFC 6749, section 3.3).
fn scopes_of<S: AsRef<str>>(
    call: &str,
    scopes: impl IntoIterator<Item = S>,
) -> Result<Vec<String>, Error> {
    let mut named = Vec::new();
    for scope in scopes {
        named.extend(scope.as_ref().split_whitespace().map(str::to_owned));
    }
    if named.is_empty() {
        return Err(invalid_setting(call, "name at least one scope", "none"));
    }
    let is_scope = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\');
    match named.iter().find(|scope| !scope.bytes().all(is_scope)) {
        Some(invalid) => {
            let rule = "name scopes of visible ASCII characters, without quotes and backslashes";
            Err(invalid_setting(call, rule, &format!("{invalid:?}")))
        }
        None => Ok(named),
    }
}

debug_fields! {
    Suite |it|
    label: it.label(),
    applications: App::all().filter(|app: &App| it.config(*app).url.is_some()).collect::<Vec<_>>(),
    options: it.shared.options, stats: it.stats()
}
