//! Commands: keys, receipts, bodies, lost replies and stored commands.
//!
//! `fault_NN_…` tests row NN of `faults/FAULTS.md`.

mod approval;
mod bodies;
mod keys;
mod lost_replies;
mod parked;
mod receipts;
mod sending;
pub(crate) mod stored;

use sdk_core::SuiteBuilder;
use sdk_reference_server::{Operation, ReferenceServer};
use serde_json::{Value, json};

use crate::fixtures::in_memory;
use crate::support::Clients;

/// A server and clients of its applications.
struct Stage {
    server: ReferenceServer,
    crm: sdk_crm::Client,
    calendar: sdk_calendar::Client,
    accounting: sdk_accounting::Client,
}

impl Stage {
    fn start() -> Stage {
        let (server, suite) = in_memory();
        Self::of(server, suite)
    }

    fn of(server: ReferenceServer, suite: SuiteBuilder) -> Stage {
        let suite = suite.suite();
        Stage {
            crm: suite.crm(),
            calendar: suite.calendar(),
            accounting: suite.accounting(),
            server,
        }
    }

    /// Returns the last body that the server received for an operation.
    fn sent(&self, operation: Operation) -> String {
        let seen = self.server.requests_for(operation).pop().unwrap();
        String::from_utf8(seen.body().to_vec()).unwrap()
    }
}

fn review(server: &ReferenceServer) -> Value {
    json!({"submissionReference": server.sample_intake_submission(), "decision": "accept"})
}
