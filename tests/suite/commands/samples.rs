//! Commands that many of these tests send.

use sdk_accounting::types::{ImportMode, ImportRunCreate, InvoiceDraftCreate};
use sdk_reference_server::ReferenceServer;

use crate::samples;

pub(super) use crate::samples::{event, tax};

/// A draft with one line, for a counterparty of the server's.
pub(super) fn draft(server: &ReferenceServer) -> InvoiceDraftCreate {
    samples::draft(&server.sample_counterparty(), 1)
}

pub(super) fn run() -> ImportRunCreate {
    samples::import("ledger", ImportMode::FullHistory)
}
