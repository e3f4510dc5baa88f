//! Operations by name.

use crate::generated::operations::Operation;

/// Something that names an operation: the operation itself, or its `operationId`. A name that the server does not know makes
/// it panic, since a test would otherwise count nothing and pass.
pub trait Named {
    /// The `operationId` of the operation that is named.
    fn operation_id(self) -> String;
}

impl Named for Operation {
    fn operation_id(self) -> String {
        self.id().to_owned()
    }
}

impl Named for &str {
    fn operation_id(self) -> String {
        self.to_owned()
    }
}

impl Operation {
    /// The operation with that `operationId`.
    #[must_use]
    pub fn named(id: &str) -> Option<Operation> {
        Operation::ALL
            .into_iter()
            .find(|operation| operation.id() == id)
    }
}
