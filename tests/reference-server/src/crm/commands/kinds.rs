//! The record commands that this server knows, with their write scopes. The contract documents neither. `assumed.yaml`
//! defines the fields of each payload.

use serde_json::Value;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    /// The `commandType`: the record kind and the verb, separated by a dot.
    pub(crate) name: &'static str,
    pub(crate) label: &'static str,
}

pub(crate) const ALL: [Kind; 13] = [
    kind("person.create", "Add a person"),
    kind("person.update", "Change a person"),
    kind("organization.create", "Add an organization"),
    kind("organization.update", "Change an organization"),
    kind("opportunity.create", "Add an opportunity"),
    kind("opportunity.update", "Change an opportunity"),
    kind("opportunity.move", "Move to a stage"),
    kind("opportunity.assign", "Assign to an actor"),
    kind("activity.record", "Record an activity"),
    kind("task.create", "Add a task"),
    kind("task.update", "Change a task"),
    kind("task.complete", "Complete a task"),
    kind("task.assign", "Assign to an actor"),
];

const fn kind(name: &'static str, label: &'static str) -> Kind {
    Kind { name, label }
}

impl Kind {
    /// Returns the type that a command names, or the message for a 400.
    pub(super) fn of(command_type: &Value) -> Result<Kind, String> {
        let named = ALL.into_iter().find(|kind| *command_type == kind.name);
        named.ok_or_else(|| {
            let known = ALL.map(|kind| kind.name).join(", ");
            format!("must be one of {known}: got {command_type}")
        })
    }

    /// Returns the kind of record that it creates or changes.
    pub(crate) fn subject(self) -> &'static str {
        self.name.split_once('.').map_or("", |(subject, _)| subject)
    }

    pub(crate) fn verb(self) -> &'static str {
        self.name.split_once('.').map_or("", |(_, verb)| verb)
    }

    pub(crate) fn creates(self) -> bool {
        self.verb() == "create"
    }

    pub(crate) fn scope(self) -> &'static str {
        match self.subject() {
            "organization" => "crm:organizations:write",
            "opportunity" => "crm:opportunities:write",
            "task" => "crm:tasks:write",
            // Activities belong to people.
            _ => "crm:people:write",
        }
    }
}
