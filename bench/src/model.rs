//! The types that a caller writes for the page and the command, for any type of text and of instant.

use std::fmt::Debug;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::clients::Seen;
use crate::payload::command;

/// The types that most callers choose.
#[cfg(feature = "peers")]
pub mod usual {
    pub use super::CommandResult;

    type Instant = chrono::DateTime<chrono::Utc>;
    pub type Page = super::Page<String, Instant>;
    pub type EventCommand = super::EventCommand<Instant>;
}

/// The types that a caller chooses after measuring.
pub mod tuned {
    pub use super::CommandResult;

    pub type Page = super::Page<String, jiff::Timestamp>;
    pub type Opportunity = super::Opportunity<String, jiff::Timestamp>;
    pub type EventCommand = super::EventCommand<jiff::Timestamp>;
}

/// Those with texts that share the memory of the response.
pub mod sliced {
    pub type Opportunity = super::Opportunity<sdk_core::Text, jiff::Timestamp>;
}

/// Those with texts that borrow from the page.
pub mod borrowed {
    pub type Opportunity<'a> = super::Opportunity<&'a str, jiff::Timestamp>;
}

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
    /// What this page shows of itself.
    pub fn seen(self) -> Seen {
        Seen {
            items: self.items.len() as u64,
            sum: self.items.iter().map(|item| item.record_version).sum(),
            next: self.next_cursor,
        }
    }
}

/// A command that creates an event.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EventCommand<I> {
    pub operation: &'static str,
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

impl<I: FromStr<Err: Debug>> EventCommand<I> {
    /// The command of the benchmark.
    pub fn create() -> Self {
        Self {
            operation: "create",
            collection_reference: command::COLLECTION.to_owned(),
            title: command::TITLE.to_owned(),
            location: command::LOCATION.to_owned(),
            starts_at: command::STARTS_AT.parse().expect("an instant"),
            ends_at: command::ENDS_AT.parse().expect("an instant"),
            timezone: command::TIMEZONE.to_owned(),
            all_day: false,
            attendee_actor_references: command::ATTENDEES.map(str::to_owned).to_vec(),
            check_conflicts: true,
        }
    }
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

impl CommandResult {
    /// What this result shows of itself.
    pub fn seen(self) -> Seen {
        Seen::command(self.record_version)
    }
}
