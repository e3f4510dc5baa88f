//! The types that a caller writes for the page and the command.

use serde::{Deserialize, Serialize};

// Separate types for each kind of string, as callers write them. Generic types would compile to slower code.
macro_rules! opportunity {
    ($module:ident, $instant:ty, $text:ty $(, $life:lifetime, $borrow:meta)?) => {
        pub mod $module {
            use serde::Deserialize;

            #[derive(Clone, Debug, Deserialize)]
            #[serde(rename_all = "camelCase")]
            pub struct Opportunity$(<$life>)? {
                pub public_reference: $text,
                pub title: $text,
                pub stage: super::Stage,
                $(#[$borrow])?
                pub owner: Option<Owner$(<$life>)?>,
                $(#[$borrow])?
                pub organization: Option<Organization$(<$life>)?>,
                pub person_reference: Option<$text>,
                pub value_min_minor: Option<i64>,
                pub value_max_minor: Option<i64>,
                pub currency: Option<$text>,
                pub updated_at: $instant,
                pub record_version: u64,
            }

            #[derive(Clone, Debug, Deserialize)]
            #[serde(rename_all = "camelCase")]
            pub struct Owner$(<$life>)? {
                pub actor_reference: $text,
                pub display_name: $text,
            }

            #[derive(Clone, Debug, Deserialize)]
            #[serde(rename_all = "camelCase")]
            pub struct Organization$(<$life>)? {
                pub public_reference: $text,
                pub name: $text,
            }
        }
    };
}

#[cfg(feature = "peers")]
opportunity!(usual, chrono::DateTime<chrono::Utc>, String);
opportunity!(tuned, jiff::Timestamp, String);
opportunity!(sliced, jiff::Timestamp, sdk_core::Text);
opportunity!(borrowed, jiff::Timestamp, &'a str, 'a, serde(borrow));

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

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Page<T> {
    pub schema_version: String,
    pub items: Vec<T>,
    pub next_cursor: Option<String>,
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
