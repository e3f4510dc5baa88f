//! The server and the clients of one test: a reference server whose clock stands still, and a client of each application.

use sdk_core::{ClientCredentials, Suite};
use sdk_reference_server::{ClientSpec, Operation, RecordedRequest, ReferenceServer, Transport};

use crate::fixtures::reaching;
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
    /// The demo data in memory, and a client with all rights.
    pub(super) fn in_memory() -> World {
        let server = ReferenceServer::builder().frozen_clock().in_memory();
        World::through(reaching(&server).build().unwrap(), server)
    }

    /// [`World::in_memory`], but over sockets.
    pub(crate) async fn start() -> World {
        let server = ReferenceServer::builder()
            .transport(Transport::Hyper)
            .frozen_clock()
            .start()
            .await;
        // Loopback needs no certificates, and reading those of the system takes longer than a test.
        let http = reqwest::Client::builder().tls_certs_only([]);
        let suite = builder_for(&server).http_client(http).build().unwrap();
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

    /// The same server through clients with other rights.
    pub(super) fn with_rights(self, rights: impl FnOnce(ClientSpec) -> ClientSpec) -> World {
        World::through(self.suite_of(rights), self.server)
    }

    /// Has a token for each application.
    pub(crate) async fn prewarm(&self) {
        self.crm.prewarm().await.unwrap();
        self.calendar.prewarm().await.unwrap();
        self.accounting.prewarm().await.unwrap();
        self.platform.prewarm().await.unwrap();
    }

    /// The suite of a client with other rights.
    pub(super) fn suite_of(&self, rights: impl FnOnce(ClientSpec) -> ClientSpec) -> Suite {
        let (id, secret) = ("narrow-client", "narrow-secret");
        self.server.add_client(rights(ClientSpec::new(id, secret)));
        reaching(&self.server)
            .credentials(ClientCredentials::new(id, secret))
            .build()
            .unwrap()
    }

    /// The suite that another process has: the same client, which knows nothing of the keys that this one sent.
    pub(super) fn elsewhere(&self) -> Suite {
        reaching(&self.server).build().unwrap()
    }

    /// The last request that the server received for an operation.
    pub(super) fn last(&self, operation: Operation) -> RecordedRequest {
        let mut seen = self.server.requests_for(operation);
        seen.pop()
            .unwrap_or_else(|| panic!("the server received no {}", operation.id()))
    }

    /// The query of that request, empty if it has none.
    pub(super) fn last_query(&self, operation: Operation) -> String {
        self.last(operation).query.unwrap_or_default()
    }

    /// The body of that request.
    pub(super) fn last_body(&self, operation: Operation) -> serde_json::Value {
        serde_json::from_slice(self.last(operation).body()).unwrap()
    }
}
