//! The types that a caller writes for the page and the command, for any type of text and of instant.

use serde::{Deserialize, Serialize};

/// A page of opportunities.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Page<T, I> {
    pub schema_version: String,
    pub items: Vec<Opportunity<T, I>>,
    pub next_cursor: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Opportunity<T, I> {
    pub public_reference: T,
    pub title: T,
    pub stage: Stage,
    pub owner: Option<Owner<T>>,
    pub organization: Option<Organization<T>>,
    pub person_reference: Option<T>,
    pub value_min_minor: Option<i64>,
    pub value_max_minor: Option<i64>,
    pub currency: Option<T>,
    pub updated_at: I,
    pub record_version: u64,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    New,
    ReviewNeeded,
    Exploring,
    Qualified,
    SolutionShaping,
    ProposalOrDecision,
    Won,
    Deferred,
    ClosedNotProceeding,
    #[serde(other)]
    Unknown,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Owner<T> {
    pub actor_reference: T,
    pub display_name: T,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Organization<T> {
    pub public_reference: T,
    pub name: T,
}

impl<T, I> Page<T, I> {
    /// The sum of the versions of all records.
    pub fn versions(&self) -> u64 {
        self.items.iter().map(|item| item.record_version).sum()
    }
}

/// A command that creates an event.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EventCommand<I> {
    pub operation: String,
    pub collection_reference: String,
    pub title: String,
    pub location: String,
    pub starts_at: I,
    pub ends_at: I,
    pub timezone: String,
    pub all_day: bool,
    pub attendee_actor_references: Vec<String>,
    pub check_conflicts: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandResult {
    pub schema_version: String,
    pub operation: String,
    pub outcome: String,
    pub public_reference: String,
    pub record_version: u64,
    pub replayed: bool,
}
