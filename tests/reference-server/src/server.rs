//! The handle of a running server.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use crate::adapters::{Transport, hyper};
use crate::app::App;
use crate::builder::Builder;
use crate::client::ClientSpec;
use crate::data::counterparties;
use crate::faults::{Fault, FaultStrike};
use crate::generated::operations::Operation;
use crate::named::Named;
use crate::recorder::RecordedRequest;
use crate::suite::Suite;
use crate::token::registry::{LONGEST_LIFE, Said};

/// A running suite: four applications on four ports, with one state. It stops when it is dropped.
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
    client: ClientSpec,
    serving: Serving,
}

/// What keeps the sockets open.
pub(crate) enum Serving {
    Wiremock(Vec<wiremock::MockServer>),
    Hyper(hyper::Running),
}

impl ReferenceServer {
    /// Starts a server with the default demo data.
    pub async fn start() -> ReferenceServer {
        ReferenceServer::builder().start().await
    }

    /// Sets a server up first.
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(crate) fn new(suite: Arc<Suite>, client: ClientSpec, serving: Serving) -> ReferenceServer {
        ReferenceServer {
            suite,
            client,
            serving,
        }
    }

    /// Accepts no more connections, lets open requests end, and returns when everything is closed.
    pub fn stop(self) {
        match self.serving {
            Serving::Hyper(running) => running.stop_gently(),
            Serving::Wiremock(servers) => drop(servers),
        }
    }
}

/// Where it is and who may call it.
impl ReferenceServer {
    /// The origin of an application, without a trailing slash.
    #[must_use]
    pub fn url(&self, app: App) -> String {
        self.suite.origin(app).to_owned()
    }

    /// The origin of the CRM.
    #[must_use]
    pub fn crm_url(&self) -> String {
        self.url(App::Crm)
    }

    /// The origin of the Calendar.
    #[must_use]
    pub fn calendar_url(&self) -> String {
        self.url(App::Calendar)
    }

    /// The origin of Accounting.
    #[must_use]
    pub fn accounting_url(&self) -> String {
        self.url(App::Accounting)
    }

    /// The origin of the Platform.
    #[must_use]
    pub fn core_url(&self) -> String {
        self.url(App::Platform)
    }

    /// The token endpoint.
    #[must_use]
    pub fn token_url(&self) -> String {
        format!("{}{}", self.core_url(), Operation::ExchangeToken.path())
    }

    /// The audience of an application's tokens.
    #[must_use]
    pub fn audience(&self, app: App) -> String {
        self.suite.audience(app).to_owned()
    }

    /// The id of a client with all rights (or of the one that the builder was given).
    #[must_use]
    pub fn client_id(&self) -> &str {
        &self.client.id
    }

    /// The secret of that client.
    #[must_use]
    pub fn client_secret(&self) -> &str {
        &self.client.secret
    }

    /// The environment variables that point a program at this server.
    #[must_use]
    pub fn environment(&self) -> Vec<(String, String)> {
        let mut variables = vec![
            ("SUITE_CORE_URL".to_owned(), self.core_url()),
            ("SUITE_CRM_URL".to_owned(), self.crm_url()),
            ("SUITE_CALENDAR_URL".to_owned(), self.calendar_url()),
            ("SUITE_ACCOUNTING_URL".to_owned(), self.accounting_url()),
            ("SUITE_CLIENT_ID".to_owned(), self.client.id.clone()),
            ("SUITE_CLIENT_SECRET".to_owned(), self.client.secret.clone()),
        ];
        for app in App::ALL {
            if self.suite.audience(app) != self.suite.origin(app) {
                let name = format!("SUITE_{}_AUDIENCE", app.id().to_ascii_uppercase());
                variables.push((name, self.audience(app)));
            }
        }
        variables
    }

    /// Adds a client, or replaces the one with the same id.
    pub fn add_client(&self, client: ClientSpec) {
        self.suite.add_client(client);
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

    /// How many requests for an operation arrived, whatever became of them.
    ///
    /// # Panics
    /// If given a text that is no `operationId`.
    #[must_use]
    pub fn attempts(&self, operation: impl Named) -> u64 {
        self.suite.counters.attempts(operation.operation())
    }

    /// How many durable changes an operation made; a replay makes none.
    ///
    /// # Panics
    /// If given a text that is no `operationId`.
    #[must_use]
    pub fn commits(&self, operation: impl Named) -> u64 {
        self.suite.counters.commits(operation.operation())
    }

    /// The last requests, oldest first, without their secrets.
    #[must_use]
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.suite.recorder.requests()
    }

    /// The last requests for one operation, oldest first.
    ///
    /// # Panics
    /// If given a text that is no `operationId`.
    #[must_use]
    pub fn requests_for(&self, operation: impl Named) -> Vec<RecordedRequest> {
        let wanted = Some(operation.operation());
        let mut requests = self.requests();
        requests.retain(|request| request.operation == wanted);
        requests
    }

    /// Which faults struck which requests, oldest first.
    #[must_use]
    pub fn fault_log(&self) -> Vec<FaultStrike> {
        self.suite.faults.log()
    }
}

/// What it does wrong on purpose.
impl ReferenceServer {
    /// A fault of one operation; it does nothing until it is given an effect.
    ///
    /// # Panics
    /// If given a text that is no `operationId`.
    pub fn fault(&self, operation: impl Named) -> Fault {
        Fault::register(&self.suite, Some(operation.operation()), self.breakable())
    }

    /// A fault of every operation.
    pub fn fault_everywhere(&self) -> Fault {
        Fault::register(&self.suite, None, self.breakable())
    }

    /// Takes all faults out of force.
    pub fn clear_faults(&self) {
        self.suite.faults.clear();
    }

    /// How long tokens issued from now on live, at most the documented 300 seconds.
    pub fn set_token_lifetime(&self, lifetime: Duration) {
        self.suite.registry().lifetime = lifetime.min(LONGEST_LIFE);
    }

    /// What `expires_in` says from now on, whatever the truth: `0`, `-1`, `3600`, `"soon"`.
    pub fn token_expires_in(&self, value: impl Into<Value>) {
        self.suite.registry().said = Said::Lie(value.into());
    }

    /// Leaves `expires_in` out from now on.
    pub fn omit_expires_in(&self) {
        self.suite.registry().said = Said::Nothing;
    }

    /// Lets `expires_in` say the truth again.
    pub fn honest_expires_in(&self) {
        self.suite.registry().said = Said::Truth;
    }

    /// Revokes every token issued so far.
    pub fn revoke_tokens(&self) {
        self.suite.registry().revoke_all();
    }

    fn breakable(&self) -> bool {
        self.transport() == Transport::Hyper
    }
}

/// Its clock and its data.
impl ReferenceServer {
    /// The time by the server's clock, which starts at 2026-01-15T09:00:00Z.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.suite.clock.now()
    }

    /// Moves the server's clock forward: tokens age, tasks become overdue.
    pub fn advance(&self, by: Duration) {
        self.suite.clock.advance(by);
    }

    /// Which HTTP server answers.
    #[must_use]
    pub fn transport(&self) -> Transport {
        match self.serving {
            Serving::Wiremock(_) => Transport::Wiremock,
            Serving::Hyper(_) => Transport::Hyper,
        }
    }

    /// A person, the first of the list, with a timeline of 250 entries.
    #[must_use]
    pub fn sample_person(&self) -> String {
        self.suite.store().people.reference(0)
    }

    /// An organization.
    #[must_use]
    pub fn sample_organization(&self) -> String {
        self.suite.store().organizations.reference(0)
    }

    /// An opportunity in which work goes on.
    #[must_use]
    pub fn sample_opportunity(&self) -> String {
        let store = self.suite.store();
        let open = store.opportunities.rows(0).find(|(_, row)| row.is_open());
        store
            .opportunities
            .reference(open.map_or(0, |(index, _)| index))
    }

    /// A task that is not done, owned by the default client's actor.
    #[must_use]
    pub fn sample_task(&self) -> String {
        let store = self.suite.store();
        let mine = store
            .tasks
            .rows(0)
            .find(|(_, row)| !row.is_final() && row.owner == Some(0));
        store.tasks.reference(mine.map_or(0, |(index, _)| index))
    }

    /// An intake submission that waits for a review.
    #[must_use]
    pub fn sample_intake_submission(&self) -> String {
        let store = self.suite.store();
        let waiting = store
            .intake
            .rows(0)
            .find(|(_, row)| row.status == "review_needed");
        store
            .intake
            .reference(waiting.map_or(0, |(index, _)| index))
    }

    /// The actor for whom the default client acts.
    #[must_use]
    pub fn sample_actor(&self) -> String {
        self.suite.store().actors.reference(0)
    }

    /// An active financial counterparty.
    #[must_use]
    pub fn sample_counterparty(&self) -> String {
        self.suite.store().counterparties.reference(0)
    }

    /// A financial counterparty for whom no invoice may be drafted.
    #[must_use]
    pub fn archived_counterparty(&self) -> String {
        self.suite
            .store()
            .counterparties
            .reference(counterparties::COUNT - 1)
    }

    /// The application, resource type and record of an active publication.
    #[must_use]
    pub fn sample_publication(&self) -> (String, String, String) {
        (
            "crm".to_owned(),
            "organization".to_owned(),
            self.suite.store().organizations.reference(0),
        )
    }
}

impl fmt::Debug for ReferenceServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReferenceServer")
            .field(
                "environment",
                &[
                    self.core_url(),
                    self.crm_url(),
                    self.calendar_url(),
                    self.accounting_url(),
                ],
            )
            .field("transport", &self.transport())
            .finish_non_exhaustive()
    }
}
