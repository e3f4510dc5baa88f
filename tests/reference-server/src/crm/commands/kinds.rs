//! The record commands that this server knows, the write scope that each needs, and the members of its payload. The
//! contract shows none of them.

/// A type of record command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    /// The `commandType`: what it concerns, and what it does.
    pub(crate) name: &'static str,
    pub(crate) label: &'static str,
    /// The members of its payload.
    members: &'static str,
}

const PERSON: &str = "displayName givenName familyName email jobTitle organizationReference status";
const COMPANY: &str = "displayName city status";
const OPPORTUNITY: &str =
    "title organizationReference personReference valueMinMinor valueMaxMinor currency";
const NEW_OPPORTUNITY: &str = "title stage organizationReference personReference ownerReference \
     valueMinMinor valueMaxMinor currency";
const TASK: &str = "title status dueAt opportunityReference";
const NEW_TASK: &str = "title status dueAt opportunityReference ownerReference";

/// Every type.
pub(crate) const ALL: [Kind; 13] = [
    kind("person.create", "Add a person", PERSON),
    kind("person.update", "Change a person", PERSON),
    kind("organization.create", "Add an organization", COMPANY),
    kind("organization.update", "Change an organization", COMPANY),
    kind("opportunity.create", "Add an opportunity", NEW_OPPORTUNITY),
    kind("opportunity.update", "Change an opportunity", OPPORTUNITY),
    kind("opportunity.move", "Move to a stage", "stage reasonCode"),
    kind("opportunity.assign", "Assign to somebody", "ownerReference"),
    kind("activity.record", "Record an activity", "summary type"),
    kind("task.create", "Add a task", NEW_TASK),
    kind("task.update", "Change a task", TASK),
    kind("task.complete", "Complete a task", ""),
    kind("task.assign", "Assign to somebody", "ownerReference"),
];

const fn kind(name: &'static str, label: &'static str, members: &'static str) -> Kind {
    Kind {
        name,
        label,
        members,
    }
}

impl Kind {
    pub(crate) fn named(name: &str) -> Option<Kind> {
        ALL.into_iter().find(|kind| kind.name == name)
    }

    /// The kind of record that it creates or changes.
    pub(crate) fn subject(self) -> &'static str {
        self.name.split_once('.').map_or("", |(subject, _)| subject)
    }

    /// What it does with the record, such as `create`.
    pub(crate) fn verb(self) -> &'static str {
        self.name.split_once('.').map_or("", |(_, verb)| verb)
    }

    /// The scope without which it is refused.
    pub(crate) fn scope(self) -> &'static str {
        match self.subject() {
            "organization" => "crm:organizations:write",
            "opportunity" => "crm:opportunities:write",
            "task" => "crm:tasks:write",
            // An activity is something that happened with a person.
            _ => "crm:people:write",
        }
    }

    pub(crate) fn members(self) -> impl Iterator<Item = &'static str> {
        self.members.split_whitespace()
    }
}
