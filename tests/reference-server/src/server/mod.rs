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

/// A running suite: four applications on four ports or in memory, with shared state.
///
/// Dropping the server stops it and aborts requests in flight. You can drop it anywhere, because the drop doesn't wait
/// for the caller's runtime. With [`Transport::Hyper`](crate::Transport::Hyper), the ports are free when the drop
/// returns, unless the server is busy for longer than a second. With wiremock, they are free a moment later. To let
/// requests finish, call [`stop`](ReferenceServer::stop).
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
    /// The address that each application listens on; `None` if the server runs in memory.
    addresses: [Option<SocketAddr>; App::ALL.len()],
    wiremock: wiremock::Running,
    hyper: Option<hyper::Running>,
    /// Open while the in-memory services may accept requests.
    memory: watch::Sender<()>,
}

impl ReferenceServer {
    /// Starts a server with the default demo data.
    pub async fn start() -> ReferenceServer {
        ReferenceServer::builder().start().await
    }

    /// Builds a server without sockets or threads, with the default demo data. Clients reach it only through
    /// [`service`](ReferenceServer::service). The applications are at `https://crm.suite.test`, `calendar`,
    /// `accounting` and `core`. The server uses tokio's clock. You can build it outside a runtime.
    ///
    /// # Panics
    /// If the system has no randomness for the token signing key.
    #[must_use]
    pub fn in_memory() -> ReferenceServer {
        ReferenceServer::builder().in_memory()
    }

    /// Returns a builder, to configure a server before it starts.
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

    /// Returns an in-process service that calls the server directly. All services of a server share its state. A
    /// service can outlive the server, but then it refuses connections. A server on sockets also has a service, which
    /// accepts the same URLs.
    #[must_use]
    pub fn service(&self) -> InMemoryService {
        InMemoryService::new(Arc::clone(&self.suite), self.memory.subscribe())
    }

    /// Stops accepting connections and gives open requests up to three seconds to finish. Returns when every connection
    /// is closed and the request log is printed. If nothing reads the log, waits at most a second for the log. With
    /// wiremock and in memory, requests are aborted. wiremock's ports close a moment later.
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

/// URLs, credentials and clients.
impl ReferenceServer {
    /// Returns the base URL of an application, without a trailing slash. This is its origin, unless
    /// [`Builder::public_url`] sets a URL with a path.
    #[must_use]
    pub fn url(&self, app: App) -> String {
        self.suite.url(app).to_owned()
    }

    /// Returns the address that an application listens on, which can differ from its URL. `None` for in-memory servers.
    #[must_use]
    pub fn address(&self, app: App) -> Option<SocketAddr> {
        self.addresses[app.index()]
    }

    /// Returns the URL of the CRM.
    #[must_use]
    pub fn crm_url(&self) -> String {
        self.url(App::Crm)
    }

    /// Returns the URL of the Calendar.
    #[must_use]
    pub fn calendar_url(&self) -> String {
        self.url(App::Calendar)
    }

    /// Returns the URL of Accounting.
    #[must_use]
    pub fn accounting_url(&self) -> String {
        self.url(App::Accounting)
    }

    /// Returns the URL of the Platform.
    #[must_use]
    pub fn core_url(&self) -> String {
        self.url(App::Platform)
    }

    /// Returns the URL of the control endpoint, if [`Builder::control_port`] opened it.
    #[must_use]
    pub fn control_url(&self) -> Option<&str> {
        self.suite.control.as_deref()
    }

    /// Returns the URL of the token endpoint.
    #[must_use]
    pub fn token_url(&self) -> String {
        self.suite.token_url()
    }

    /// Returns the audience of an application's tokens.
    #[must_use]
    pub fn audience(&self, app: App) -> String {
        self.suite.audience(app).to_owned()
    }

    /// Returns the ID of the default client. It has all rights, unless [`Builder::client`] set another client.
    #[must_use]
    pub fn client_id(&self) -> &str {
        &self.suite.settings.client.id
    }

    /// Returns the secret of the default client.
    #[must_use]
    pub fn client_secret(&self) -> &str {
        &self.suite.settings.client.secret
    }

    /// Returns the environment variables that point a program at this server. You can pass them to the SDK directly:
    /// `Suite::builder().variables(server.environment()).build()`. They don't reflect changes made by
    /// [`Builder::contradict`].
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

    /// Adds a client, or replaces the client with the same ID.
    ///
    /// # Panics
    /// If the ID or the secret is empty, if no operation needs one of the scopes, or if the actor doesn't exist.
    pub fn add_client(&self, client: ClientSpec) {
        if let Err(problem) = self.suite.add_client(client) {
            panic!("{problem}");
        }
    }

    /// Removes a client and returns whether it existed. Afterwards, the server rejects the client's tokens.
    pub fn remove_client(&self, id: &str) -> bool {
        self.suite.registry().clients.remove(id).is_some()
    }

    /// Replaces the secret of a client, effective immediately. The client's rights, actor and tokens remain unchanged.
    ///
    /// # Panics
    /// If there is no client with this ID.
    pub fn rotate_secret(&self, id: &str, secret: impl Into<String>) {
        match self.suite.registry().clients.get_mut(id) {
            Some(client) => client.spec.secret = secret.into(),
            None => panic!("no client {id:?}"),
        }
    }
}

/// Counts, recorded requests and the fault log.
impl ReferenceServer {
    /// Returns the number of issued tokens. To count token requests, including rejected requests, use
    /// `attempts(Operation::ExchangeToken)`.
    #[must_use]
    pub fn exchanges(&self) -> u64 {
        self.suite.counters.exchanges()
    }

    /// Returns the number of requests for an operation, whatever their outcome.
    ///
    /// # Panics
    /// If the string is not an `operationId`.
    #[must_use]
    pub fn attempts(&self, operation: impl AsRef<str>) -> u64 {
        self.suite.counters.of(self.suite.named(operation)).attempts
    }

    /// Returns the number of durable changes that an operation made. A replay makes no change.
    ///
    /// # Panics
    /// If the string is not an `operationId`.
    #[must_use]
    pub fn commits(&self, operation: impl AsRef<str>) -> u64 {
        self.suite.counters.of(self.suite.named(operation)).commits
    }

    /// Returns the most recent requests, oldest first, with secrets redacted.
    #[must_use]
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.suite.recorder.requests()
    }

    /// Returns the most recent requests for one operation, oldest first.
    ///
    /// # Panics
    /// If the string is not an `operationId`.
    #[must_use]
    pub fn requests_for(&self, operation: impl AsRef<str>) -> Vec<RecordedRequest> {
        let wanted = Some(&*self.suite.named(operation).id);
        let mut requests = self.requests();
        requests.retain(|request| request.operation_id() == wanted);
        requests
    }

    /// Returns the strikes of faults, oldest first.
    #[must_use]
    pub fn fault_log(&self) -> Vec<FaultStrike> {
        self.suite.faults.log()
    }
}

/// Returns the `operationId`. The server's methods accept it or the `operationId` of any other document.
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
