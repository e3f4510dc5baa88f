//! The runtime of an application's client, which its calls share, and its endpoint.

pub(crate) mod limits;

use std::sync::{Arc, OnceLock};

use tokio::time::timeout_at;
use url::Url;

use crate::client::limits::Limits;
use crate::error::Error;
use crate::error::kind::Effect;
use crate::macros::debug_fields;
use crate::observe::active::Server;
use crate::observe::events::WaitReason;
use crate::operation::{Application, Method};
use crate::options::CallOptions;
use crate::policy::budget::RetryBudget;
use crate::policy::concurrency::ConcurrencyLimit;
use crate::request::draft::Draft;
use crate::suite::{Shared, Suite};
use crate::text::one_line;
use crate::token::bearer::BearerToken;
use crate::token::entry::TokenEntry;
use crate::token::error::{TokenError, TokenErrorKind};
use crate::transport::connections::Sender;
use crate::transport::error::describe_target;

/// The runtime of an application's client. Cloning is cheap and shares everything.
#[derive(Clone)]
pub struct ApiClient(Arc<ClientInner>);

#[derive(Clone)]
struct ClientInner {
    suite: Suite,
    endpoint: Endpoint,
    tokens: Arc<TokenEntry>,
    /// Shared, because it is rarely set and large.
    defaults: Arc<CallOptions>,
}

impl ApiClient {
    /// Creates a client for one of the suite's applications.
    ///
    /// # Errors
    /// If the application's URL is not set.
    pub fn new(suite: &Suite, application: &'static Application) -> Result<Self, Error> {
        Self::of(suite, application).map_err(|error| error.with_installation(suite.shared.label()))
    }

    fn of(suite: &Suite, application: &'static Application) -> Result<Self, Error> {
        let url = Arc::clone(suite.application_url(application.app)?);
        let request = suite.token_request(application.app)?;
        let tokens = suite.shared.tokens.entry_of(Some(application.app), request);
        let sender = suite.shared.connections.sender_for(&url)?;
        let proxy = suite.shared.connections.proxy_for(&url)?;
        let endpoint = Endpoint::new(sender, url, proxy, application);
        Ok(Self(Arc::new(ClientInner {
            suite: suite.clone(),
            endpoint,
            tokens,
            defaults: CallOptions::unset(),
        })))
    }

    /// Returns this client with different default options for its calls.
    #[must_use]
    pub fn with_defaults(&self, defaults: CallOptions) -> Self {
        let inner = ClientInner::clone(&self.0);
        let defaults = Arc::new(defaults);
        Self(Arc::new(ClientInner { defaults, ..inner }))
    }

    /// Returns the application.
    #[must_use]
    pub fn application(&self) -> &'static Application {
        self.0.endpoint.application()
    }

    /// Returns the endpoint to which it sends requests.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.0.endpoint
    }

    /// Obtains the token before the first call, within the deadline of a call.
    ///
    /// A failure doesn't affect later calls, which obtain the token themselves. A process with many installations
    /// should report the failure and continue to start. See
    /// [the guide](crate::guide::installations#start-while-an-installation-is-down).
    ///
    /// # Errors
    /// If no token can be obtained in time.
    pub async fn prewarm(&self) -> Result<(), Error> {
        self.token_in_time().await.map(drop)
    }

    /// Returns the label of the installation, if any.
    #[must_use]
    pub fn installation(&self) -> Option<&str> {
        self.suite().observers.installation()
    }

    pub(crate) fn suite(&self) -> &Shared {
        &self.0.suite.shared
    }

    pub(crate) fn label(&self) -> Option<Arc<str>> {
        self.suite().label()
    }

    /// Returns the application's retry budget, which all its clients share.
    pub(crate) fn budget(&self) -> &RetryBudget {
        self.suite().budgets.of(self.application().app)
    }

    pub(crate) fn tokens(&self) -> &Arc<TokenEntry> {
        &self.0.tokens
    }

    /// Returns the limit on the application's concurrent attempts, if any.
    pub(crate) fn concurrency_limit(&self) -> Option<&ConcurrencyLimit> {
        let limits = self.suite().concurrency.as_ref()?;
        Some(&limits[self.application().app as usize])
    }

    pub(crate) fn defaults(&self) -> &CallOptions {
        &self.0.defaults
    }

    pub(crate) fn audience(&self) -> Option<&str> {
        self.0.tokens.request().audience()
    }

    /// Waits for a token, at most until the default deadline of this client's calls.
    pub(crate) async fn token_in_time(&self) -> Result<Arc<BearerToken>, Error> {
        Error::without_runtime().map_err(|error| error.with_installation(self.label()))?;
        let limits = self.limits(&CallOptions::default());
        let (app, observers) = (self.application().app, &self.suite().observers);
        let _waiting = observers.wait(WaitReason::Token, app, None);
        self.in_time(&limits, self.0.tokens.bearer()).await
    }

    /// Returns the limits of a call with these options that begins now.
    pub(crate) fn limits(&self, options: &CallOptions) -> Limits {
        Limits::resolve([options, &self.0.defaults, &self.suite().options])
    }

    /// Waits for a token until the deadline of a call.
    pub(crate) async fn in_time<T>(
        &self,
        limits: &Limits,
        wait: impl Future<Output = Result<T, TokenError>>,
    ) -> Result<T, Error> {
        let Ok(ended) = timeout_at(limits.deadline, wait).await else {
            let endpoint = self.suite().token_endpoint.as_deref();
            let from = endpoint.map(|url| format!(" from {}", describe_target(url, None)));
            let (total, from) = (limits.total, from.unwrap_or_default());
            let message = format!(
                "the deadline of the call passed after {total:?} while it waited for a token{from}"
            );
            let error = Error::timeout(Effect::NotSent, message);
            return Err(error.with_installation(self.label()));
        };
        ended.map_err(|error| self.token_error(error).with_installation(self.label()))
    }

    /// Converts a token error into a call error. If the token request was rejected, the error names the audience, which
    /// may be a default.
    pub(crate) fn token_error(&self, error: TokenError) -> Error {
        // A server that rejects the client or the scopes doesn't mean the audience.
        let blames_other = matches!(error.code(), Some("invalid_client" | "invalid_scope"));
        let may_be_audience = error.kind() == TokenErrorKind::Refused && !blames_other;
        let error = error.into_error();
        if may_be_audience {
            error.with_hint(self.audience_hint())
        } else {
            error
        }
    }

    /// Returns a hint with the audience of the token and the setting that sets it.
    pub(crate) fn audience_hint(&self) -> String {
        let app = self.application().app;
        let set_by = self.0.suite.audience_set_by(app);
        let (variable, call) = (app.audience_variable(), app.audience_setter());
        let prefix = &self.suite().variable_prefix;
        let audience = one_line(self.audience().unwrap_or_default());
        match set_by {
            Some(set_by) => format!("the token is for the audience {audience}, set by `{set_by}`"),
            None => format!(
                "the token is for the audience {audience}, the origin of the application; if that is wrong, set {prefix}{variable}, \
                 or call `{call}`"
            ),
        }
    }
}

debug_fields! { ApiClient |it| application: it.application().app, base: it.0.endpoint.base(), tokens: it.0.tokens }

/// The address of an application and its sender.
#[derive(Clone)]
pub struct Endpoint {
    sender: Sender,
    url: Arc<Url>,
    proxy: Option<Arc<str>>,
    server: Server,
    application: &'static Application,
    /// The URLs of routes without parameters, created on the first use of any of them.
    fixed: OnceLock<Arc<[Fixed]>>,
}

/// A route without parameters, and its URL after the first use.
type Fixed = (&'static str, OnceLock<Box<Url>>);

impl Endpoint {
    pub(crate) fn new(
        sender: Sender,
        url: Arc<Url>,
        proxy: Option<String>,
        application: &'static Application,
    ) -> Self {
        Self {
            server: Server::of(&url),
            sender,
            url,
            proxy: proxy.map(Arc::from),
            application,
            fixed: OnceLock::new(),
        }
    }

    pub(crate) fn sender(&self) -> &Sender {
        &self.sender
    }

    pub(crate) fn application(&self) -> &'static Application {
        self.application
    }

    pub(crate) fn server(&self) -> &Server {
        &self.server
    }

    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    /// Without its credential.
    pub(crate) fn proxy(&self) -> Option<&str> {
        self.proxy.as_deref()
    }

    /// Returns the base URL without a trailing slash.
    #[must_use]
    pub fn base(&self) -> &str {
        self.url.as_str().trim_end_matches('/')
    }

    /// Begins a `Get` request of an escaped path, which starts with a slash.
    #[must_use]
    pub fn get(&self, path: &str) -> Draft {
        Draft::new(Method::Get, self.at(path))
    }

    /// Begins a `Post` request of an escaped path, which starts with a slash.
    #[must_use]
    pub fn post(&self, path: &str) -> Draft {
        Draft::new(Method::Post, self.at(path))
    }

    /// Begins a `Put` request of an escaped path, which starts with a slash.
    #[must_use]
    pub fn put(&self, path: &str) -> Draft {
        Draft::new(Method::Put, self.at(path))
    }

    /// Begins a `Patch` request of an escaped path, which starts with a slash.
    #[must_use]
    pub fn patch(&self, path: &str) -> Draft {
        Draft::new(Method::Patch, self.at(path))
    }

    /// Begins a `Delete` request of an escaped path, which starts with a slash.
    #[must_use]
    pub fn delete(&self, path: &str) -> Draft {
        Draft::new(Method::Delete, self.at(path))
    }

    fn at(&self, path: &str) -> Url {
        let fixed = self.fixed.get_or_init(|| self.routes());
        match fixed.iter().find(|(route, _)| *route == path) {
            Some((_, url)) => Url::clone(url.get_or_init(|| Box::new(self.joined(path)))),
            None => self.joined(path),
        }
    }

    fn routes(&self) -> Arc<[Fixed]> {
        let routes = self.application.operations.iter().map(|it| it.route);
        let fixed = routes.filter(|route| !route.contains('{'));
        fixed.map(|route| (route, OnceLock::new())).collect()
    }

    fn joined(&self, path: &str) -> Url {
        let mut url = Url::clone(&self.url);
        match self.url.path() {
            "/" => url.set_path(path),
            prefix => url.set_path(&[prefix.trim_end_matches('/'), path].concat()),
        }
        url
    }
}

debug_fields! { Endpoint |it| base: it.base() }
