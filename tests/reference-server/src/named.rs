//! Operations by name.

use crate::generated::operations::Operation;

/// Something that names an operation: the operation itself, or its `operationId`.
pub trait Named {
    /// The operation that is named.
    fn operation(self) -> Operation;
}

impl Named for Operation {
    fn operation(self) -> Operation {
        self
    }
}

impl Named for &str {
    /// # Panics
    /// If there is no such operation, since a test would otherwise count nothing and pass.
    fn operation(self) -> Operation {
        Operation::named(self).unwrap_or_else(|| panic!("unknown operation {self:?}"))
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
