//! What Accounting remembers.

use std::collections::VecDeque;

use serde_json::Value;

/// How many drafts the list shows; it has no documented parameters.
const SHOWN: usize = 50;

/// The state of Accounting.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    latest: VecDeque<Value>,
    pub(crate) drafts: u64,
    pub(crate) imports: u64,
    pub(crate) approvals: u64,
}

impl Ledger {
    pub(crate) fn add_draft(&mut self, draft: Value) {
        self.drafts += 1;
        self.latest.push_front(draft);
        self.latest.truncate(SHOWN);
    }

    /// The latest drafts, newest first.
    pub(crate) fn latest(&self) -> Vec<&Value> {
        self.latest.iter().collect()
    }
}
