//! The record commands that this server knows, and the write scope that each needs. The contract shows neither; the fields
//! of each payload are in `assumed.yaml`.

use serde_json::Value;

/// A type of record command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    /// The `commandType`: what it concerns, and what it does.
    pub(crate) name: &'static str,
    pub(crate) label: &'static str,
}

/// Every type.
pub(crate) const ALL: [Kind; 13] = [
    kind("person.create", "Add a person"),
    kind("person.update", "Change a person"),
    kind("organization.create", "Add an organization"),
    kind("organization.update", "Change an organization"),
    kind("opportunity.create", "Add an opportunity"),
    kind("opportunity.update", "Change an opportunity"),
    kind("opportunity.move", "Move to a stage"),
    kind("opportunity.assign", "Assign to somebody"),
    kind("activity.record", "Record an activity"),
    kind("task.create", "Add a task"),
    kind("task.update", "Change a task"),
    kind("task.complete", "Complete a task"),
    kind("task.assign", "Assign to somebody"),
];

const fn kind(name: &'static str, label: &'static str) -> Kind {
    Kind { name, label }
}

impl Kind {
    /// The type that a command names; 400 if it names none of these.
    pub(super) fn of(command_type: &Value) -> Result<Kind, String> {
        let named = ALL.into_iter().find(|kind| *command_type == kind.name);
        named.ok_or_else(|| {
            let known = ALL.map(|kind| kind.name).join(", ");
            format!("must be one of {known}: got {command_type}")
        })
    }

    /// The kind of record that it creates or changes.
    pub(crate) fn subject(self) -> &'static str {
        self.name.split_once('.').map_or("", |(subject, _)| subject)
    }

    /// What it does with the record, such as `create`.
    pub(crate) fn verb(self) -> &'static str {
        self.name.split_once('.').map_or("", |(_, verb)| verb)
    }

    pub(crate) fn creates(self) -> bool {
        self.verb() == "create"
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
}
