//! What all clients of a suite share.

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
use crate::suite::address::refused;
use crate::token::cache::TokenCache;
use crate::token::source::TokenRequest;
use crate::transport::connections::Connections;

/// Credentials, connection pools, token cache and retry budgets, which its clients share.
///
/// Cloning is cheap and shares everything. [The guide](crate::guide::getting_started) says why a process needs only one.
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
    /// The user agent of all requests.
    pub(crate) agent: Arc<HeaderValue>,
    pub(crate) tokens: TokenCache,
    /// The defaults of calls, unless their client or they themselves set another value.
    pub(crate) options: Arc<CallOptions>,
    pub(crate) max_response_bytes: usize,
    pub(crate) max_response_elements: usize,
    pub(crate) random: RandomSource,
    pub(crate) budgets: RetryBudgets,
    /// The places for the attempts of each application, in the order of [`App::ALL`], if they are limited.
    pub(crate) concurrency: Option<Box<[ConcurrencyLimit; App::ALL.len()]>>,
    pub(crate) calls: AtomicU64,
    pub(crate) attempts: AtomicU64,
    /// The observers, and the label of the installation.
    pub(crate) observers: Observers,
    /// Where tokens are exchanged, unless they come from the caller's own source.
    pub(crate) token_endpoint: Option<Arc<Url>>,
    /// Precedes the names of the suite's variables, such as `ACME_`.
    pub(crate) variable_prefix: Box<str>,
}

/// The settings of each application, in the order of [`App::ALL`].
type Applications = [ApplicationConfig; App::ALL.len()];

/// What an application is set to, small because a process may have many suites.
#[derive(Clone, Debug, Default)]
struct ApplicationConfig {
    url: Option<Arc<Url>>,
    audience: Option<Arc<Audience>>,
    scopes: Box<[String]>,
}

/// An audience of an application's tokens other than its origin.
#[derive(Clone, Debug)]
struct Audience {
    text: String,
    /// The variable or call that set it.
    set_by: String,
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
    /// The label of the installation.
    pub(crate) fn label(&self) -> Option<Arc<str>> {
        self.observers.label().cloned()
    }

    /// Adds the credential and the tokens to what is confidential.
    pub(crate) fn add_secrets_to(&self, redactor: &mut Redactor) {
        self.tokens.add_secrets_to(redactor);
    }
}

impl Suite {
    /// The same suite with tokens of only these scopes for an application: least privilege for a part of a program. The two
    /// share connections, budgets and counters, but not tokens, because their scopes differ.
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
        let scopes = scopes_of("with_scopes", scopes)
            .map_err(|error| error.with_installation(self.shared.label()))?;
        let mut applications = (*self.applications).clone();
        applications[app as usize].scopes = scopes.into();
        Ok(Self {
            shared: Arc::clone(&self.shared),
            applications: Arc::new(applications),
        })
    }

    /// The [label](crate::SuiteBuilder::label) of the installation, if it has one.
    #[must_use]
    pub fn label(&self) -> Option<&str> {
        self.shared.observers.installation()
    }

    /// What all clients together have done.
    pub fn stats(&self) -> Stats {
        Stats {
            calls: self.shared.calls.load(Ordering::Relaxed),
            attempts: self.shared.attempts.load(Ordering::Relaxed),
            token_exchanges: self.shared.tokens.exchanges(),
        }
    }

    /// The base URL of an application.
    pub(crate) fn application_url(&self, app: App) -> Result<&Arc<Url>, Error> {
        self.config(app).url.as_ref().ok_or_else(|| {
            let (variable, call) = (app.url_variable(), app.url_setter());
            let prefix = &self.shared.variable_prefix;
            Error::configuration(format!(
                "the URL of the {app} application is missing: set {prefix}{variable}, or call `{call}` on the builder"
            ))
        })
    }

    /// The audience of an application: its origin unless it is set (assumed: A43).
    ///
    /// # Errors
    /// When another application has the same origin, because a token for one would open the other.
    fn audience(&self, app: App) -> Result<String, Error> {
        if let Some(audience) = &self.config(app).audience {
            return Ok(audience.text.clone());
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

    /// The variable or call that set the audience of an application; `None` if it is the application's origin.
    pub(crate) fn audience_set_by(&self, app: App) -> Option<&str> {
        let audience = self.config(app).audience.as_ref()?;
        Some(&audience.set_by)
    }

    /// The request for an application's tokens.
    ///
    /// # Errors
    /// When the application needs an audience that is not set.
    pub(crate) fn token_request(&self, app: App) -> Result<TokenRequest, Error> {
        let request = TokenRequest::new().with_audience(self.audience(app)?);
        Ok(request.with_scopes(&self.config(app).scopes))
    }

    fn config(&self, app: App) -> &ApplicationConfig {
        &self.applications[app as usize]
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

debug_fields! {
    Suite |it|
    label: it.label(),
    applications: App::all().filter(|app: &App| it.config(*app).url.is_some()).collect::<Vec<_>>(),
    options: it.shared.options, stats: it.stats()
}
