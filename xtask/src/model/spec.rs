//! The model of a spec.

use super::app::App;
use super::operation::Operation;
use super::schema::Schemas;

#[derive(Debug)]
pub(crate) struct Spec {
    pub(crate) app: &'static App,
    pub(crate) title: String,
    pub(crate) version: String,
    /// The statuses that its server may report, which are the lifecycle of the contract and the runtime status.
    pub(crate) statuses: Vec<String>,
    /// The ID of the operation that reports metadata.
    pub(crate) metadata: Option<String>,
    /// Whether the contract documents the envelope of its errors.
    pub(crate) documents_envelope: bool,
    /// Groups that have operations, in the order of `tags`.
    pub(crate) groups: Vec<Group>,
    pub(crate) operations: Vec<Operation>,
    pub(crate) skipped: Vec<Skipped>,
    pub(crate) schemas: Schemas,
}

#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) description: String,
}

/// An operation that `x-sdk-skip` leaves out.
#[derive(Debug)]
pub(crate) struct Skipped {
    pub(crate) route: String,
    pub(crate) reason: String,
}

impl Spec {
    pub(crate) fn file(&self) -> String {
        self.app.spec()
    }

    pub(crate) fn metadata_operation(&self) -> Option<&Operation> {
        let id = self.metadata.as_deref()?;
        self.operations.iter().find(|operation| operation.id == id)
    }
}

pub(crate) fn all(specs: &[Spec]) -> impl Iterator<Item = (&Spec, &Operation)> {
    let of = |spec| move |operation| (spec, operation);
    specs
        .iter()
        .flat_map(move |spec| spec.operations.iter().map(of(spec)))
}
