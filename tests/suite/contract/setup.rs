//! The server and the clients of one test: a reference server with a frozen clock, and a client for each application.

use sdk_core::{ClientCredentials, Suite};
use sdk_reference_server::{ClientSpec, Operation, RecordedRequest, ReferenceServer, Transport};

use crate::fixtures::reaching;
use crate::support::{Clients, builder_for};

pub(crate) struct Setup {
    pub(crate) server: ReferenceServer,
    pub(crate) suite: Suite,
    pub(crate) crm: sdk_crm::Client,
    pub(crate) calendar: sdk_calendar::Client,
    pub(crate) accounting: sdk_accounting::Client,
    pub(crate) platform: sdk_platform::Client,
}

impl Setup {
    /// Returns a server in memory with the demo data, and clients with all rights.
    pub(super) fn in_memory() -> Setup {
        let server = ReferenceServer::builder().frozen_clock().in_memory();
        Setup::through(reaching(&server).build().unwrap(), server)
    }

    /// Returns the same as [`Setup::in_memory`], over sockets.
    pub(crate) async fn start() -> Setup {
        let server = ReferenceServer::builder()
            .transport(Transport::Hyper)
            .frozen_clock()
            .start()
            .await;
        // Loopback needs no certificates, and reading the system's certificates takes longer than a test.
        let http = reqwest::Client::builder().tls_certs_only([]);
        let suite = builder_for(&server).http_client(http).build().unwrap();
        Setup::through(suite, server)
    }

    pub(crate) fn through(suite: Suite, server: ReferenceServer) -> Setup {
        Setup {
            crm: suite.crm(),
            calendar: suite.calendar(),
            accounting: suite.accounting(),
            platform: suite.platform(),
            server,
            suite,
        }
    }

    /// Returns the same server with clients that have other rights.
    pub(super) fn with_rights(self, rights: impl FnOnce(ClientSpec) -> ClientSpec) -> Setup {
        Setup::through(self.suite_of(rights), self.server)
    }

    pub(crate) async fn prewarm(&self) {
        self.crm.prewarm().await.unwrap();
        self.calendar.prewarm().await.unwrap();
        self.accounting.prewarm().await.unwrap();
        self.platform.prewarm().await.unwrap();
    }

    /// Returns the suite of a client with other rights.
    pub(super) fn suite_of(&self, rights: impl FnOnce(ClientSpec) -> ClientSpec) -> Suite {
        let (id, secret) = ("narrow-client", "narrow-secret");
        self.server.add_client(rights(ClientSpec::new(id, secret)));
        reaching(&self.server)
            .credentials(ClientCredentials::new(id, secret))
            .build()
            .unwrap()
    }

    /// Returns the suite of another process: the same client, but without knowledge of earlier keys.
    pub(super) fn elsewhere(&self) -> Suite {
        reaching(&self.server).build().unwrap()
    }

    pub(super) fn last(&self, operation: Operation) -> RecordedRequest {
        let mut seen = self.server.requests_for(operation);
        seen.pop()
            .unwrap_or_else(|| panic!("the server received no {}", operation.id()))
    }

    /// Returns the query of the last request, or an empty string.
    pub(super) fn last_query(&self, operation: Operation) -> String {
        self.last(operation).query.unwrap_or_default()
    }

    pub(super) fn last_body(&self, operation: Operation) -> serde_json::Value {
        serde_json::from_slice(self.last(operation).body()).unwrap()
    }
}
