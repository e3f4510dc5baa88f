//! The six lists that can be walked.

use sdk_core::{Pages, Record};
use sdk_crm::Client;

use crate::options::Options;

/// What is exported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum List {
    People,
    Organizations,
    Opportunities,
    Tasks,
    Intake,
    /// The timeline of this person.
    Timeline(String),
}

impl List {
    /// The list of that name; the timeline is `timeline:` and a person.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "people" => Self::People,
            "organizations" => Self::Organizations,
            "opportunities" => Self::Opportunities,
            "tasks" => Self::Tasks,
            "intake" => Self::Intake,
            _ => Self::Timeline(text.strip_prefix("timeline:")?.to_owned()),
        })
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::People => "people",
            Self::Organizations => "organizations",
            Self::Opportunities => "opportunities",
            Self::Tasks => "tasks",
            Self::Intake => "intake",
            Self::Timeline(_) => "timeline",
        }
    }
}

/// A walk over the list that was asked for.
pub(crate) fn pages(crm: &Client, options: &Options) -> Pages<Record> {
    // The builders are of different types with the same methods.
    macro_rules! walk {
        ($list:expr) => {{
            let mut list = $list.limit(options.limit);
            for (name, value) in &options.filters {
                list = list.query(name, value);
            }
            list.pages()
        }};
    }
    match &options.list {
        List::People => walk!(crm.people().list()),
        List::Organizations => walk!(crm.organizations().list()),
        List::Opportunities => walk!(crm.opportunities().list()),
        List::Tasks => walk!(crm.tasks().list()),
        List::Intake => walk!(crm.intake().list()),
        List::Timeline(person) => walk!(crm.people().timeline(person.as_str())),
    }
}
