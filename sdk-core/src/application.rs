//! What the contract says of an application, and its operations.

use crate::app::App;
use crate::operation::{Operation, RawOperations};

/// What the contract says of an application, generated from its spec.
#[derive(Debug)]
pub struct Application {
    /// Which one it is.
    pub app: App,
    /// Its title.
    pub title: &'static str,
    /// The version of the contract that this SDK was built from.
    pub contract_version: &'static str,
    /// What it may say of its status, as the contract has it.
    pub statuses: &'static [&'static str],
    /// Whether the contract shows its error envelope. Where it does, what the envelope says of repeats counts.
    pub shows_envelope: bool,
    /// The operation that reports its metadata, where it has one.
    pub metadata: Option<&'static Operation>,
    /// The members that its metadata must have, with the value of each constant; none where they are not shown.
    pub metadata_members: &'static [(&'static str, Option<&'static str>)],
    /// Its operations.
    pub operations: &'static [&'static Operation],
    /// What stands in for operations that are not in the table.
    pub raw: RawOperations,
}

impl Application {
    /// The operation of this id.
    pub(crate) fn operation(&self, id: &str) -> Option<&'static Operation> {
        self.operations
            .iter()
            .copied()
            .find(|operation| operation.id == id)
    }
}
