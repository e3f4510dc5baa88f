//! The types of record commands that this server knows, the write scope each of them needs, and the members of its payload.
//! None of them is shown.

/// A type of record command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    PersonCreate,
    PersonUpdate,
    OrganizationCreate,
    OrganizationUpdate,
    OpportunityCreate,
    OpportunityUpdate,
    OpportunityMove,
    OpportunityAssign,
    ActivityRecord,
    TaskCreate,
    TaskUpdate,
    TaskComplete,
    TaskAssign,
}

/// Every type.
pub(crate) const ALL: [Kind; 13] = [
    Kind::PersonCreate,
    Kind::PersonUpdate,
    Kind::OrganizationCreate,
    Kind::OrganizationUpdate,
    Kind::OpportunityCreate,
    Kind::OpportunityUpdate,
    Kind::OpportunityMove,
    Kind::OpportunityAssign,
    Kind::ActivityRecord,
    Kind::TaskCreate,
    Kind::TaskUpdate,
    Kind::TaskComplete,
    Kind::TaskAssign,
];

impl Kind {
    pub(crate) fn named(name: &str) -> Option<Kind> {
        ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The `commandType`.
    pub(crate) const fn name(self) -> &'static str {
        self.words().0
    }

    pub(crate) const fn label(self) -> &'static str {
        self.words().1
    }

    /// The kind of record that it creates or changes.
    pub(crate) fn subject(self) -> &'static str {
        self.name()
            .split_once('.')
            .map_or("", |(subject, _)| subject)
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

    /// Whether it makes the record that it concerns.
    pub(crate) fn creates(self) -> bool {
        self.name().ends_with(".create")
    }

    /// The members of its payload.
    pub(crate) const fn members(self) -> &'static [&'static str] {
        match self {
            Kind::PersonCreate | Kind::PersonUpdate => &[
                "displayName",
                "givenName",
                "familyName",
                "email",
                "jobTitle",
                "organizationReference",
                "status",
            ],
            Kind::OrganizationCreate | Kind::OrganizationUpdate => {
                &["displayName", "city", "status"]
            }
            Kind::OpportunityCreate => &[
                "title",
                "stage",
                "organizationReference",
                "personReference",
                "ownerReference",
                "valueMinMinor",
                "valueMaxMinor",
                "currency",
            ],
            Kind::OpportunityUpdate => &[
                "title",
                "organizationReference",
                "personReference",
                "valueMinMinor",
                "valueMaxMinor",
                "currency",
            ],
            Kind::OpportunityMove => &["stage", "reasonCode"],
            Kind::OpportunityAssign | Kind::TaskAssign => &["ownerReference"],
            Kind::ActivityRecord => &["summary", "type"],
            Kind::TaskCreate => &[
                "title",
                "status",
                "dueAt",
                "opportunityReference",
                "ownerReference",
            ],
            Kind::TaskUpdate => &["title", "status", "dueAt", "opportunityReference"],
            Kind::TaskComplete => &[],
        }
    }

    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Kind::PersonCreate => ("person.create", "Add a person"),
            Kind::PersonUpdate => ("person.update", "Change a person"),
            Kind::OrganizationCreate => ("organization.create", "Add an organization"),
            Kind::OrganizationUpdate => ("organization.update", "Change an organization"),
            Kind::OpportunityCreate => ("opportunity.create", "Add an opportunity"),
            Kind::OpportunityUpdate => ("opportunity.update", "Change an opportunity"),
            Kind::OpportunityMove => ("opportunity.move", "Move to a stage"),
            Kind::OpportunityAssign => ("opportunity.assign", "Give to somebody"),
            Kind::ActivityRecord => ("activity.record", "Record an activity"),
            Kind::TaskCreate => ("task.create", "Add a task"),
            Kind::TaskUpdate => ("task.update", "Change a task"),
            Kind::TaskComplete => ("task.complete", "Complete a task"),
            Kind::TaskAssign => ("task.assign", "Give to somebody"),
        }
    }
}
