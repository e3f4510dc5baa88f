//! The world of one test: a reference server whose clock stands still, and clients of its four applications.

use sdk_calendar::SubmitEventCommand;
use sdk_core::{ClientCredentials, Suite};
use sdk_reference_server::{ClientSpec, Operation, RecordedRequest, ReferenceServer, Transport};

use crate::samples::event;
use crate::support::builder_for;

pub(super) struct World {
    pub(super) server: ReferenceServer,
    pub(super) suite: Suite,
    pub(super) crm: sdk_crm::Client,
    pub(super) calendar: sdk_calendar::Client,
    pub(super) accounting: sdk_accounting::Client,
    pub(super) platform: sdk_platform::Client,
}

impl World {
    /// The demo data, and a client with all rights.
    pub(super) async fn start() -> World {
        let server = ReferenceServer::builder()
            .transport(Transport::Hyper)
            .frozen_clock()
            .start()
            .await;
        let suite = builder_for(&server).http_client(http()).build().unwrap();
        World {
            crm: sdk_crm::Client::new(&suite).unwrap(),
            calendar: sdk_calendar::Client::new(&suite).unwrap(),
            accounting: sdk_accounting::Client::new(&suite).unwrap(),
            platform: sdk_platform::Client::new(&suite).unwrap(),
            server,
            suite,
        }
    }

    /// A command that creates an event.
    pub(super) fn kick_off(&self) -> SubmitEventCommand {
        self.calendar.events().command(&event("Kick-off"))
    }

    /// The same server through a client of other rights.
    pub(super) fn suite_of(&self, rights: impl FnOnce(ClientSpec) -> ClientSpec) -> Suite {
        let (id, secret) = ("narrow-client", "narrow-secret");
        self.server.add_client(rights(ClientSpec::new(id, secret)));
        builder_for(&self.server)
            .http_client(http())
            .credentials(ClientCredentials::new(id, secret))
            .build()
            .unwrap()
    }

    /// The same client as another process has it, which knows nothing of the keys that this one sent.
    pub(super) fn elsewhere(&self) -> Suite {
        builder_for(&self.server)
            .http_client(http())
            .build()
            .unwrap()
    }

    /// The last request that the server saw for an operation.
    pub(super) fn last(&self, operation: Operation) -> RecordedRequest {
        let mut seen = self.server.requests_for(operation);
        seen.pop()
            .unwrap_or_else(|| panic!("the server saw no {}", operation.id()))
    }

    /// The body of that request.
    pub(super) fn last_body(&self, operation: Operation) -> serde_json::Value {
        serde_json::from_slice(self.last(operation).body()).unwrap()
    }
}

/// Without the certificates of the system: loopback needs none, and reading them takes longer than a test.
pub(super) fn http() -> reqwest::ClientBuilder {
    reqwest::Client::builder().tls_certs_only([])
}
