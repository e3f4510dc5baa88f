//! An application and its operations, by the contract.

use crate::app::App;
use crate::operation::{Operation, RawOperations};

/// An application, generated from its spec.
#[derive(Debug)]
pub struct Application {
    /// Which one it is.
    pub app: App,
    /// Its title.
    pub title: &'static str,
    /// The version of the contract that this SDK was built from.
    pub contract_version: &'static str,
    /// The values of its status, by the contract.
    pub statuses: &'static [&'static str],
    /// Whether the contract shows its error envelope. If so, its `retryable` counts.
    pub shows_envelope: bool,
    /// The operation that reports its metadata, if there is one.
    pub metadata: Option<&'static Operation>,
    /// The required members of its metadata, with the values of constants; empty if the contract does not show them.
    pub metadata_members: &'static [(&'static str, Option<&'static str>)],
    /// Its operations.
    pub operations: &'static [&'static Operation],
    /// The stand-ins for paths without an operation.
    pub raw: RawOperations,
}

impl Application {
    /// The operation with this id.
    pub(crate) fn operation(&self, id: &str) -> Option<&'static Operation> {
        let mut operations = self.operations.iter().copied();
        operations.find(|operation| operation.id == id)
    }
}
