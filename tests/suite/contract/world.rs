//! The world of one test: a reference server whose clock stands still, and clients of its four applications.

use sdk_core::{ClientCredentials, Error, PreparedCommand, RawJson, Receipt, Suite};
use sdk_reference_server::{ClientSpec, Operation, RecordedRequest, ReferenceServer, Transport};

use crate::support::{Clients, builder_for};

pub(crate) struct World {
    pub(crate) server: ReferenceServer,
    pub(crate) suite: Suite,
    pub(crate) crm: sdk_crm::Client,
    pub(crate) calendar: sdk_calendar::Client,
    pub(crate) accounting: sdk_accounting::Client,
    pub(crate) platform: sdk_platform::Client,
}

impl World {
    /// The demo data, and a client with all rights.
    pub(crate) async fn start() -> World {
        let server = ReferenceServer::builder()
            .transport(Transport::Hyper)
            .frozen_clock()
            .start()
            .await;
        let suite = builder_for(&server).http_client(http()).build().unwrap();
        World::through(suite, server)
    }

    pub(crate) fn through(suite: Suite, server: ReferenceServer) -> World {
        World {
            crm: suite.crm(),
            calendar: suite.calendar(),
            accounting: suite.accounting(),
            platform: suite.platform(),
            server,
            suite,
        }
    }

    /// The same server through clients of other rights.
    pub(crate) fn with_rights(self, rights: impl FnOnce(ClientSpec) -> ClientSpec) -> World {
        World::through(self.suite_of(rights), self.server)
    }

    /// Has a token for each application.
    pub(crate) async fn prewarm(&self) {
        self.crm.prewarm().await.unwrap();
        self.calendar.prewarm().await.unwrap();
        self.accounting.prewarm().await.unwrap();
        self.platform.prewarm().await.unwrap();
    }

    /// The same server through a client of other rights.
    pub(crate) fn suite_of(&self, rights: impl FnOnce(ClientSpec) -> ClientSpec) -> Suite {
        let (id, secret) = ("narrow-client", "narrow-secret");
        self.server.add_client(rights(ClientSpec::new(id, secret)));
        builder_for(&self.server)
            .http_client(http())
            .credentials(ClientCredentials::new(id, secret))
            .build()
            .unwrap()
    }

    /// The same client as another process has it, which knows nothing of the keys that this one sent.
    pub(crate) fn elsewhere(&self) -> Suite {
        builder_for(&self.server)
            .http_client(http())
            .build()
            .unwrap()
    }

    /// Sends a prepared command with whichever client of a suite it is for.
    pub(crate) async fn send_prepared(
        suite: &Suite,
        command: &PreparedCommand,
    ) -> Result<Receipt<RawJson>, Error> {
        match command.application() {
            "crm" => sdk_crm::Client::new(suite)?.send_prepared(command).await,
            "calendar" => {
                sdk_calendar::Client::new(suite)?
                    .send_prepared(command)
                    .await
            }
            "accounting" => {
                sdk_accounting::Client::new(suite)?
                    .send_prepared(command)
                    .await
            }
            _ => {
                sdk_platform::Client::new(suite)?
                    .send_prepared(command)
                    .await
            }
        }
    }

    /// The last request that the server saw for an operation.
    pub(crate) fn last(&self, operation: Operation) -> RecordedRequest {
        let mut seen = self.server.requests_for(operation);
        seen.pop()
            .unwrap_or_else(|| panic!("the server saw no {}", operation.id()))
    }

    /// The body of that request.
    pub(crate) fn last_body(&self, operation: Operation) -> serde_json::Value {
        serde_json::from_slice(self.last(operation).body()).unwrap()
    }
}

/// Without the certificates of the system: loopback needs none, and reading them takes longer than a test.
pub(crate) fn http() -> reqwest::ClientBuilder {
    reqwest::Client::builder().tls_certs_only([])
}
