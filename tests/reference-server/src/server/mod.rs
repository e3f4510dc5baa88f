//! The handle of a running server.

mod samples;
mod steer;

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::sync::watch;

use crate::adapters::{InMemoryService, hyper, wiremock};
use crate::app::App;
use crate::builder::Builder;
use crate::client::ClientSpec;
use crate::faults::FaultStrike;
use crate::generated::operations::Operation;
use crate::recorder::RecordedRequest;
use crate::suite::Suite;

/// A running suite: four applications on four ports, or in memory, with one state.
///
/// It stops when it is dropped, wherever that is: nothing waits for the caller's runtime, and requests in flight are
/// aborted. With [`Transport::Hyper`](crate::Transport::Hyper) the ports are free when the drop returns, unless the
/// server is busy for longer than a second; with wiremock, a moment later. [`stop`](ReferenceServer::stop) lets
/// requests finish.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use sdk_reference_server::{App, ReferenceServer};
///
/// let server = ReferenceServer::start().await;
/// assert!(server.url(App::Crm).starts_with("http://127.0.0.1:"));
/// assert_eq!(server.exchanges(), 0);
/// # }
/// ```
pub struct ReferenceServer {
    suite: Arc<Suite>,
    /// Where each application listens, if it does.
    addresses: [Option<SocketAddr>; App::ALL.len()],
    wiremock: wiremock::Running,
    hyper: Option<hyper::Running>,
    /// Keeps the services in memory open.
    memory: watch::Sender<()>,
}

impl ReferenceServer {
    /// Starts a server with the default demo data.
    pub async fn start() -> ReferenceServer {
        ReferenceServer::builder().start().await
    }

    /// A server without sockets and threads, with the default demo data: [`service`](ReferenceServer::service) is the only
    /// way to it. Its applications are at `https://crm.suite.test`, `calendar`, `accounting` and `core`, its clock is
    /// tokio's, and making it needs no runtime.
    ///
    /// # Panics
    /// If the system has no randomness for the key of the tokens.
    #[must_use]
    pub fn in_memory() -> ReferenceServer {
        ReferenceServer::builder().in_memory()
    }

    /// Configures a server before it starts.
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(crate) fn new(
        suite: Arc<Suite>,
        addresses: [Option<SocketAddr>; App::ALL.len()],
        wiremock: wiremock::Running,
        hyper: Option<hyper::Running>,
    ) -> ReferenceServer {
        ReferenceServer {
            suite,
            addresses,
            wiremock,
            hyper,
            memory: watch::Sender::new(()),
        }
    }

    /// The server as a service, which is called and not connected to; any number of them share this server's state. It
    /// outlives the server, but refuses connections from then on. A server on sockets has one too, at the same addresses.
    #[must_use]
    pub fn service(&self) -> InMemoryService {
        InMemoryService::new(Arc::clone(&self.suite), self.memory.subscribe())
    }

    /// Stops accepting connections, gives open requests up to three seconds to finish, and returns when everything is
    /// closed and the request log is printed, unless nobody reads it. With wiremock and in memory, requests are aborted, and the ports of wiremock close a moment later.
    pub fn stop(self) {
        drop(self.wiremock);
        if let Some(running) = self.hyper {
            running.stop_gently();
        }
        if let Some(log) = &self.suite.log {
            log.finish();
        }
    }
}

/// Where it is and who may call it.
impl ReferenceServer {
    /// The base URL of an application, without a trailing slash: its origin, unless [`Builder::public_url`] has a path.
    #[must_use]
    pub fn url(&self, app: App) -> String {
        self.suite.url(app).to_owned()
    }

    /// Where an application listens, whatever its URL; nothing in memory.
    #[must_use]
    pub fn address(&self, app: App) -> Option<SocketAddr> {
        self.addresses[app.index()]
    }

    /// The URL of the CRM.
    #[must_use]
    pub fn crm_url(&self) -> String {
        self.url(App::Crm)
    }

    /// The URL of the Calendar.
    #[must_use]
    pub fn calendar_url(&self) -> String {
        self.url(App::Calendar)
    }

    /// The URL of Accounting.
    #[must_use]
    pub fn accounting_url(&self) -> String {
        self.url(App::Accounting)
    }

    /// The URL of the Platform.
    #[must_use]
    pub fn core_url(&self) -> String {
        self.url(App::Platform)
    }

    /// The control endpoint, if [`Builder::control_port`] asked for one.
    #[must_use]
    pub fn control_url(&self) -> Option<&str> {
        self.suite.control.as_deref()
    }

    /// The token endpoint.
    #[must_use]
    pub fn token_url(&self) -> String {
        self.suite.token_url()
    }

    /// The audience of an application's tokens.
    #[must_use]
    pub fn audience(&self, app: App) -> String {
        self.suite.audience(app).to_owned()
    }

    /// The id of the default client, which has all rights unless [`Builder::client`] set another one.
    #[must_use]
    pub fn client_id(&self) -> &str {
        &self.suite.settings.client.id
    }

    /// The secret of that client.
    #[must_use]
    pub fn client_secret(&self) -> &str {
        &self.suite.settings.client.secret
    }

    /// The environment variables that point a program at this server. The SDK takes them directly:
    /// `Suite::builder().variables(server.environment()).build()`. They do not give away what
    /// [`Builder::contradict`] changed.
    #[must_use]
    pub fn environment(&self) -> Vec<(String, String)> {
        let of_app = |app: App| (app.short().to_ascii_uppercase() + "_URL", self.url(app));
        let credential = [
            ("CLIENT_ID".to_owned(), self.client_id().to_owned()),
            ("CLIENT_SECRET".to_owned(), self.client_secret().to_owned()),
        ];
        let mut variables: Vec<(String, String)> = App::platform_first()
            .map(of_app)
            .chain(credential)
            .map(|(name, value)| (format!("SUITE_{name}"), value))
            .collect();
        for app in App::all() {
            let chosen = self.suite.settings.audiences.get(&app);
            if let Some(audience) = chosen.filter(|chosen| *chosen != self.suite.base(app).origin())
            {
                let name = format!("SUITE_{}_AUDIENCE", app.id().to_ascii_uppercase());
                variables.push((name, audience.clone()));
            }
        }
        variables
    }

    /// Adds a client, or replaces the one with the same id.
    ///
    /// # Panics
    /// If the id or the secret is empty, no operation needs one of the scopes, or there is no such actor.
    pub fn add_client(&self, client: ClientSpec) {
        if let Err(problem) = self.suite.add_client(client) {
            panic!("{problem}");
        }
    }

    /// Removes a client, whose tokens are refused from now on, and returns whether there was one.
    pub fn remove_client(&self, id: &str) -> bool {
        self.suite.registry().clients.remove(id).is_some()
    }

    /// Replaces the secret of a client at once. Its rights, its actor and its tokens stay.
    ///
    /// # Panics
    /// If there is no client with this id.
    pub fn rotate_secret(&self, id: &str, secret: impl Into<String>) {
        match self.suite.registry().clients.get_mut(id) {
            Some(client) => client.spec.secret = secret.into(),
            None => panic!("no client {id:?}"),
        }
    }
}

/// What it saw.
impl ReferenceServer {
    /// How many tokens were issued. Requests for tokens, refused ones included, are
    /// `attempts(Operation::ExchangeToken)`.
    #[must_use]
    pub fn exchanges(&self) -> u64 {
        self.suite.counters.exchanges()
    }

    /// How many requests for an operation arrived, whatever their outcome.
    ///
    /// # Panics
    /// If the text is not an `operationId`.
    #[must_use]
    pub fn attempts(&self, operation: impl AsRef<str>) -> u64 {
        self.suite.counters.of(self.suite.named(operation)).attempts
    }

    /// How many durable changes an operation made; a replay makes none.
    ///
    /// # Panics
    /// If the text is not an `operationId`.
    #[must_use]
    pub fn commits(&self, operation: impl AsRef<str>) -> u64 {
        self.suite.counters.of(self.suite.named(operation)).commits
    }

    /// The last requests, oldest first, with secrets redacted.
    #[must_use]
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.suite.recorder.requests()
    }

    /// The last requests for one operation, oldest first.
    ///
    /// # Panics
    /// If the text is not an `operationId`.
    #[must_use]
    pub fn requests_for(&self, operation: impl AsRef<str>) -> Vec<RecordedRequest> {
        let wanted = Some(&*self.suite.named(operation).id);
        let mut requests = self.requests();
        requests.retain(|request| request.operation_id() == wanted);
        requests
    }

    /// Which faults struck which requests, oldest first.
    #[must_use]
    pub fn fault_log(&self) -> Vec<FaultStrike> {
        self.suite.faults.log()
    }
}

/// The `operationId`, by which this server's methods take an operation of any document.
impl AsRef<str> for Operation {
    fn as_ref(&self) -> &str {
        self.id()
    }
}

impl fmt::Debug for ReferenceServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReferenceServer")
            .field("origins", &App::each(|app| self.url(app)))
            .field("transport", &self.transport())
            .finish_non_exhaustive()
    }
}
