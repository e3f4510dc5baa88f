//! The types that a caller writes for the page and the command.
//!
//! Twice: with `chrono`, as most would, and with `jiff`, as somebody does who has measured it.

macro_rules! model {
    ($(#[$meta:meta])* $module:ident, $instant:ty, $text:ty) => {
        $(#[$meta])*
        pub mod $module {
            use serde::{Deserialize, Serialize};

            use crate::clients::Seen;
            use crate::payload::command;

            /// A page of opportunities.
            #[derive(Clone, Debug, Deserialize)]
            #[serde(rename_all = "camelCase")]
            pub struct Page {
                pub schema_version: String,
                pub items: Vec<Opportunity>,
                pub next_cursor: Option<String>,
            }

            /// An opportunity.
            #[derive(Clone, Debug, Deserialize)]
            #[serde(rename_all = "camelCase")]
            pub struct Opportunity {
                pub public_reference: $text,
                pub title: $text,
                pub stage: Stage,
                pub owner: Option<Owner>,
                pub organization: Option<Organization>,
                pub person_reference: Option<$text>,
                pub value_min_minor: Option<i64>,
                pub value_max_minor: Option<i64>,
                pub currency: Option<$text>,
                pub updated_at: $instant,
                pub record_version: u64,
            }

            /// Its stage.
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

            /// Its owner.
            #[derive(Clone, Debug, Deserialize)]
            #[serde(rename_all = "camelCase")]
            pub struct Owner {
                pub actor_reference: $text,
                pub display_name: $text,
            }

            /// Its organization.
            #[derive(Clone, Debug, Deserialize)]
            #[serde(rename_all = "camelCase")]
            pub struct Organization {
                pub public_reference: $text,
                pub name: $text,
            }

            impl Page {
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
            pub struct EventCommand {
                pub operation: &'static str,
                pub collection_reference: String,
                pub title: String,
                pub location: String,
                pub starts_at: $instant,
                pub ends_at: $instant,
                pub timezone: String,
                pub all_day: bool,
                pub attendee_actor_references: Vec<String>,
                pub check_conflicts: bool,
            }

            impl EventCommand {
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

            /// What it is answered with.
            #[derive(Clone, Debug, Deserialize)]
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
        }
    };
}

#[cfg(feature = "peers")]
model!(
    /// With `chrono`.
    usual,
    chrono::DateTime<chrono::Utc>,
    String
);

model!(
    /// With `jiff`.
    tuned,
    jiff::Timestamp,
    String
);

model!(
    /// The same with texts that share the memory of the reply.
    sliced,
    jiff::Timestamp,
    sdk_core::Text
);

/// As [`tuned`], with texts that borrow from the page.
pub mod borrowed {
    use serde::Deserialize;

    use super::tuned::Stage;

    /// An opportunity.
    #[derive(Clone, Debug, Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub struct Opportunity<'a> {
        pub public_reference: &'a str,
        pub title: &'a str,
        pub stage: Stage,
        #[serde(borrow)]
        pub owner: Option<Owner<'a>>,
        #[serde(borrow)]
        pub organization: Option<Organization<'a>>,
        pub person_reference: Option<&'a str>,
        pub value_min_minor: Option<i64>,
        pub value_max_minor: Option<i64>,
        pub currency: Option<&'a str>,
        pub updated_at: jiff::Timestamp,
        pub record_version: u64,
    }

    /// Its owner.
    #[derive(Clone, Debug, Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub struct Owner<'a> {
        pub actor_reference: &'a str,
        pub display_name: &'a str,
    }

    /// Its organization.
    #[derive(Clone, Debug, Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub struct Organization<'a> {
        pub public_reference: &'a str,
        pub name: &'a str,
    }
}
