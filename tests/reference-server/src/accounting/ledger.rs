//! The state of Accounting.

use std::collections::VecDeque;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// The number of listed drafts and commands. The contract documents no parameters for these operations.
const SHOWN: usize = 100;

/// The fields of a draft request that the list returns as they were sent.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    pub(crate) counterparty_reference: String,
    billing_profile_reference: Option<String>,
    pub(crate) document_date: Option<Date>,
    pub(crate) due_date: Option<Date>,
    customer_note: Option<String>,
    internal_note: Option<String>,
}

/// An invoice draft in the form of the list.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Draft {
    pub(crate) public_reference: String,
    pub(crate) command_receipt_reference: String,
    pub(crate) status: &'static str,
    #[serde(flatten)]
    pub(crate) request: Request,
    /// With every digit as it was sent.
    pub(crate) tax_amount: Box<RawValue>,
    pub(crate) line_count: usize,
    pub(crate) approval_intent_reference: Option<String>,
    pub(crate) record_version: u64,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    drafts_shown: VecDeque<Draft>,
    committed: VecDeque<Value>,
    pub(crate) drafts: u64,
    pub(crate) imports: u64,
    pub(crate) approvals: u64,
}

impl Ledger {
    pub(crate) fn add_draft(&mut self, draft: Draft) {
        self.drafts += 1;
        self.drafts_shown.push_front(draft);
        self.drafts_shown.truncate(SHOWN);
    }

    /// Newest first.
    pub(crate) fn latest(&self) -> &VecDeque<Draft> {
        &self.drafts_shown
    }

    pub(crate) fn draft_mut(&mut self, reference: &str) -> Option<&mut Draft> {
        self.drafts_shown
            .iter_mut()
            .find(|draft| draft.public_reference == reference)
    }

    pub(super) fn note(&mut self, command: Value) {
        self.committed.push_front(command);
        self.committed.truncate(SHOWN);
    }

    /// Returns the most recent commands in the form of the overview, newest first.
    pub(crate) fn committed(&self) -> &VecDeque<Value> {
        &self.committed
    }
}
