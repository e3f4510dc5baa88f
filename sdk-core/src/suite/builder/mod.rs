//! The settings of a suite.

pub(crate) mod build;
mod calls;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::app::App;
use crate::error::Error;
use crate::macros::debug_fields;
use crate::observe::observer::Observer;
use crate::options::{ExactReplay, SchemaPolicy, ScopePolicy};
use crate::policy::chance::Chance;
use crate::policy::retry::RetryPolicy;
use crate::suite::Suite;
use crate::suite::address::refused;
use crate::suite::builder::calls::Calls;
use crate::suite::layers::{Key, Layers};
use crate::suite::scopes_of;
use crate::suite::settings::Settings;
use crate::token::credentials::ClientCredentials;
use crate::token::policy::TokenPolicy;
use crate::token::rotation::CredentialSource;
use crate::token::source::TokenSource;
use crate::transport::Transport;
use crate::transport::connections::Choice;
use crate::transport::waits::Waits;

/// Builds a [`Suite`](crate::Suite).
///
/// Addresses, audiences and credentials that are set in code override the [`variables`](Self::variables) that the program
/// passes, and those override the environment of the process, in whatever order the methods are called. [`build`](Self::build)
/// reports all mistakes at once. [The guide](crate::guide::configuration) lists all settings with their defaults.
#[derive(Default)]
#[must_use = "a builder does nothing until it is built"]
pub struct SuiteBuilder {
    layers: Layers,
    label: Option<String>,
    /// Whether a credential from code may go to addresses from the environment.
    trusts_environment: bool,
    /// Whether the credential may come from the environment.
    credential_from_environment: bool,
    scopes: HashMap<App, Vec<String>>,
    credentials: Option<ClientCredentials>,
    credential_source: Option<Arc<dyn CredentialSource>>,
    source: Option<Arc<dyn TokenSource>>,
    settings: Settings,
    token_policy: Option<Arc<TokenPolicy>>,
    retry_budget: Option<u32>,
    chance: Chance,
    transport: Choice,
    waits: Waits,
    /// The calls that chose the transport, and those that set it up.
    transport_calls: Calls,
    user_agent: Option<String>,
    observers: Vec<Arc<dyn Observer>>,
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
    /// [`builder`](Self::builder) override the environment.
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

/// Declares what a builder takes: each call with what it changes.
macro_rules! setters {
    ($($(#[$meta:meta])* $set:ident($($arg:ident: $type:ty),*) |$it:ident| $change:expr;)*) => {
        impl SuiteBuilder {
            $(
                $(#[$meta])*
                pub fn $set(mut self, $($arg: $type),*) -> Self {
                    let $it = &mut self;
                    $change;
                    self
                }
            )*
        }
    };
}

setters! {
    /// Takes addresses, audiences and the credential from the environment; see
    /// [`Suite::from_env`](crate::Suite::from_env).
    ///
    /// A credential from code does not go to an address from the environment, because whoever controls that address would
    /// get it. To allow this, call [`environment_addresses`](Self::environment_addresses).
    environment() |it| {
        let variables = process_variables(&mut it.faults);
        let environment = it.layers.environment.get_or_insert_default();
        environment.read(variables);
        it.credential_from_environment = true;
    };

    /// Takes addresses and audiences from the environment, and allows a credential, credential source or token source from
    /// code to be used with them: for programs that get their secret from a vault.
    environment_addresses() |it| {
        let credential = Key::CREDENTIAL.map(Key::variable);
        let mut variables = process_variables(&mut it.faults);
        variables.retain(|(name, _)| !credential.contains(&&**name));
        let environment = it.layers.environment.get_or_insert_default();
        environment.read(variables);
        it.trusts_environment = true;
    };

    /// Takes variables by the names that [`Suite::from_env`](crate::Suite::from_env) reads, such as those of a configuration
    /// file or a reference server. A credential among them counts as one from code.
    variables(variables: impl IntoIterator<Item = (String, String)>) |it| {
        let layer = it.layers.variables.get_or_insert_default();
        layer.read(variables);
    };

    /// Names the installation, such as `acme`, to tell it from others in the same process: spans and errors of its calls carry
    /// the label, so it must not be secret. It has at most 64 characters.
    label(label: impl Into<String>) |it| it.label = Some(label.into());

    /// Sets the Platform's base URL. Its `/oauth/token` exchanges tokens unless [`token_url`](Self::token_url) is set.
    core_url(url: impl Into<String>) |it| it.layers.code.set(Key::Url(App::Platform), url);

    /// Sets the routed origin of an application.
    application_url(app: App, url: impl Into<String>) |it| it.layers.code.set(Key::Url(app), url);

    /// Sets the audience of an application's tokens: its origin by default (assumed: A43).
    audience(app: App, audience: impl Into<String>) |it| it.layers.code.set(Key::Audience(app), audience);

    /// Requests these scopes for an application's tokens. By default, the server grants all that the client may have.
    scopes(app: App, scopes: impl IntoIterator<Item = impl AsRef<str>>) |it| {
        match scopes_of("scopes", scopes) {
            Ok(scopes) => drop(it.scopes.insert(app, scopes)),
            Err(fault) => it.faults.push(fault),
        }
    };

    /// Sets the token endpoint. It may have a query (RFC 6749, section 3.2).
    token_url(url: impl Into<String>) |it| it.layers.code.set(Key::TokenUrl, url);

    /// Sets the client credential.
    credentials(credentials: ClientCredentials) |it| {
        it.credentials = Some(credentials);
        it.credential_source = None;
    };

    /// Takes the client credential from a source that is asked at each exchange, in place of
    /// [`credentials`](Self::credentials): for secrets that are rotated while the program runs.
    ///
    /// If the endpoint takes neither the old secret nor what the source gives, exchanges back off like after any failure: the
    /// source is asked again by the first call after at most the cap of the
    /// [`renewal_backoff`](TokenPolicy::renewal_backoff), 30 seconds by default, or twice that if the endpoint asks to wait.
    credential_source(source: impl CredentialSource) |it| {
        it.credential_source = Some(Arc::new(source));
        it.credentials = None;
    };

    /// Takes tokens from the caller's own source instead of exchanging a client credential.
    token_source(source: impl TokenSource) |it| it.source = Some(Arc::new(source));

    /// Sets lifetimes, margins and backoff of tokens.
    token_policy(policy: TokenPolicy) |it| it.token_policy = Some(Arc::new(policy));

    /// Sets the timeout of each attempt; 10 seconds by default.
    ///
    /// All runtimes share the connection pool. A pooled connection whose runtime nobody drives any more (for example after one
    /// `block_on` per runtime) is dropped only when an attempt over it times out. Each such connection costs an attempt, so
    /// many of them can use up a call's attempts before it gets a live one. An HTTP/2 connection is shared, so calls wait for
    /// it in vain until its runtime is driven again or dropped; the transport of `sdk-transport-hyper` leaves it after
    /// one attempt.
    timeout(timeout: Duration) |it| it.settings.attempt_timeout = timeout;

    /// Sets how long a connection may take to come up; 5 seconds by default. Nothing is sent before, so any call may be
    /// retried: keep it below the timeout of an attempt.
    connect_timeout(timeout: Duration) |it| {
        it.waits.connect = timeout;
        it.transport_calls.setting("connect_timeout");
    };

    /// Sets the deadline of each call; 30 seconds after it begins by default.
    deadline(deadline: Duration) |it| it.settings.deadline = deadline;

    /// Sets how often calls are attempted, and the waits between attempts.
    retry(policy: RetryPolicy) |it| it.settings.retry = policy;

    /// Sets the size of the retry budget of each application; 500 by default. Each retry takes 5 out, each success puts 1 back.
    /// All clients of an application share its budget, and the outage of one application costs the others no retry.
    retry_budget(capacity: u32) |it| it.retry_budget = Some(capacity);

    /// Draws waits, margins of tokens and random idempotency keys from this seed, so that a run can be repeated: for tests, on a
    /// runtime of one thread with a paused clock. Suites with one seed use the same keys, which anybody can guess.
    /// [`IdempotencyKey::random`](crate::IdempotencyKey::random) belongs to no suite and stays random.
    #[cfg(feature = "test-util")]
    seed(seed: u64) |it| it.chance = Chance::seeded(seed);

    /// Limits how many attempts of each application may be in flight at once; without limit by default. It keeps thousands of
    /// calls from using up file descriptors, or from reaching the application all at once.
    ///
    /// Further attempts wait for their turn, first come, first served. The wait counts against the deadline of the call: if it
    /// passes, the call fails as a timeout and was not sent. A call takes a place for each attempt, until its reply was read:
    /// while it waits for a token, or for a retry, others go. Pages that are read ahead, prepared commands and raw calls count
    /// too, token exchanges do not.
    ///
    /// The place of an attempt that nobody drives any more (its runtime stands still, or its future is kept and not polled)
    /// stays taken. If that happens to all places of an application, they are replaced two seconds after the longest attempt
    /// must have ended. [The guide](crate::guide::limits) lists all bounds.
    max_in_flight(attempts: usize) |it| it.settings.max_in_flight = Some(attempts);

    /// Limits the size of a decompressed reply; 16 MiB by default.
    max_response_bytes(bytes: usize) |it| it.settings.max_response_bytes = bytes;

    /// Limits how many elements and members a reply may have; 100,000 by default. Even the smallest takes many times more
    /// memory than text.
    max_response_elements(elements: usize) |it| it.settings.max_response_elements = elements;

    /// Sets how to handle replies with another `schemaVersion`.
    schema_policy(policy: SchemaPolicy) |it| it.settings.schema_policy = policy;

    /// Sets whether commands without a documented key may be retried when their effect is unknown.
    exact_replay(replay: ExactReplay) |it| it.settings.exact_replay = Some(replay);

    /// Sets how to handle calls whose scopes the token certainly lacks.
    scope_policy(policy: ScopePolicy) |it| it.settings.scope_policy = policy;

    /// Puts the caller's name before the SDK's in the user agent, such as `billing-service/1.4`.
    user_agent(product: impl Into<String>) |it| it.user_agent = Some(product.into());

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
    #[cfg(feature = "reqwest-013")]
    http_client(client: impl Into<crate::transport::HttpClient>) |it| {
        it.transport = Choice::Http(client.into().0);
        it.transport_calls.choice("http_client");
    };

    /// Sends all calls and token exchanges through the caller's own [transport](crate::transport): a `tower` service with its
    /// layers, a server in memory, a recorder. TLS, proxies, connection pools and decompression are then its own affair, and
    /// plain HTTP goes to loopback by address only.
    transport(transport: impl Transport) |it| {
        it.transport = Choice::Custom(Arc::new(transport));
        it.transport_calls.choice("transport");
    };

    /// Shares the connections of another suite, and with them its TLS and proxy settings: for many installations in one
    /// process. [The guide](crate::guide::installations) says more.
    ///
    /// Nothing else is shared: addresses, credentials, tokens, budgets, counters, limits and the [label](Self::label) are the
    /// new suite's own. What a caller's own HTTP client or transport adds to requests by itself, such as default headers,
    /// cookies or a client certificate, it adds for all of them.
    transport_of(other: &Suite) |it| {
        it.transport = Choice::Shared(Arc::clone(&other.shared.connections));
        it.transport_calls.choice("transport_of");
    };

    /// Sets how long an HTTP/2 connection with requests under way may be silent before it is pinged, and how long it may take
    /// to answer; 4 seconds each by default. If it does not answer, it is dropped, and the next attempt uses another. (An
    /// HTTP/1.1 connection is dropped when its attempt times out.)
    #[cfg(feature = "http2")]
    http2_pings(interval: Duration, timeout: Duration) |it| {
        (it.waits.ping_interval, it.waits.ping_timeout) = (interval, timeout);
        it.transport_calls.setting("http2_pings");
    };

    /// Adds an [`Observer`], which is told what the suite does. Several are told one after the other, in the order in which
    /// they were added.
    observer(observer: impl Observer) |it| it.observers.push(Arc::new(observer));

    /// Allows plain HTTP to other hosts than loopback. Tokens and secrets are then sent in the clear.
    allow_insecure_http() |it| it.insecure_http = true;
}

/// The suite's variables in the environment of the process. One that is not UTF-8 is a mistake.
fn process_variables(faults: &mut Vec<Error>) -> Vec<(String, String)> {
    let named =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
    let mut variables = Vec::new();
    for (name, value) in named.filter(|(name, _)| name.starts_with("SUITE_")) {
        match value.into_string() {
            Ok(value) => variables.push((name, value)),
            Err(_) => faults.push(refused(&name, "be UTF-8", "other bytes")),
        }
    }
    variables
}

debug_fields! { SuiteBuilder |it| layers: it.layers, settings: it.settings }
