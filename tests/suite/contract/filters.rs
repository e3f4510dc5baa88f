//! Filters: the query that the SDK sends for each filter, and the returned records. The SDK sends only the filters that
//! the caller sets.

use sdk_core::{Pages, Record};
use sdk_crm::types::{PersonStatus, TaskOwner};
use sdk_reference_server::Operation;
use serde_json::Value;

use super::lists::{collect, first, references};
use super::rules::refuses;
use super::setup::Setup;
use crate::support::Clients;

/// Checks the query of a filtered list, and compares its items with the matching records of the complete list.
async fn assert_filtered(
    setup: &Setup,
    list: Pages<Record>,
    query: &str,
    complete: &[Record],
    matches: impl Fn(&Record) -> bool,
) {
    let before = setup.server.requests().len();
    let found = collect(list.items()).await;
    let sent = setup.server.requests()[before].query.clone();
    assert_eq!(sent.unwrap_or_default(), query);
    let expected = references(complete.iter().filter(|record| matches(record)));
    assert!(!expected.is_empty(), "{query}");
    assert_eq!(references(&found), expected, "{query}");
    assert_eq!(found.len(), expected.len(), "{query}");
}

fn text(record: &Record, field: &str) -> String {
    record.text(field).unwrap_or_default()
}

/// Returns whether the JSON of a record contains this string.
fn mentions(record: &Record, text: &str) -> bool {
    record.to_string().to_lowercase().contains(text)
}

/// Returns the owner of a record, or an empty string.
fn owner(record: &Record) -> String {
    let owner: Option<Value> = record.get("owner").unwrap();
    let owner = owner.unwrap_or_default();
    owner["publicReference"].as_str().unwrap_or("").to_owned()
}

/// The complete lists that the tests filter.
struct Lists {
    people: Vec<Record>,
    organizations: Vec<Record>,
    opportunities: Vec<Record>,
    tasks: Vec<Record>,
    submissions: Vec<Record>,
}

impl Lists {
    async fn of(crm: &sdk_crm::Client) -> Lists {
        let tasks = crm.tasks().list().owner(TaskOwner::All);
        Lists {
            people: collect(crm.people().list().items()).await,
            organizations: collect(crm.organizations().list().items()).await,
            opportunities: collect(crm.opportunities().list().items()).await,
            tasks: collect(tasks.items()).await,
            submissions: collect(crm.intake().list().items()).await,
        }
    }
}

/// A complete list, the name of a filter, its values, a function that returns the value of a record, and a function
/// that returns the filtered list.
type Filter<'f> = (
    &'f [Record],
    &'f str,
    &'f str,
    &'f dyn Fn(&Record) -> String,
    &'f dyn Fn(&str) -> Pages<Record>,
);

#[tokio::test]
async fn a_filter_takes_exactly_the_documented_values() {
    let setup = Setup::in_memory();
    let (crm, me) = (&setup.crm, setup.server.sample_actor());
    let all = Lists::of(crm).await;
    let is_mine = |task: &Record| owner(task) == me;
    let filters: [Filter<'_>; 6] = [
        (
            &all.people,
            "status",
            "active inactive suppressed archived",
            &|person| text(person, "status"),
            &|value| crm.people().list().status(value.into()).pages(),
        ),
        (
            &all.organizations,
            "status",
            "active inactive archived",
            &|organization| text(organization, "status"),
            &|value| crm.organizations().list().status(value.into()).pages(),
        ),
        (
            &all.opportunities,
            "stage",
            "new review_needed exploring qualified solution_shaping proposal_or_decision won deferred \
             closed_not_proceeding",
            &|opportunity| text(opportunity, "stage"),
            &|value| crm.opportunities().list().stage(value.into()).pages(),
        ),
        (
            &all.tasks,
            "status",
            "open in_progress waiting completed cancelled",
            // Without the `owner` filter, callers get their own tasks.
            &|task| {
                if is_mine(task) {
                    text(task, "status")
                } else {
                    String::new()
                }
            },
            &|value| crm.tasks().list().status(value.into()).pages(),
        ),
        (
            &all.tasks,
            "owner",
            "mine all",
            &|task| if is_mine(task) { "mine" } else { "others'" }.to_owned(),
            &|value| crm.tasks().list().owner(value.into()).pages(),
        ),
        (
            &all.submissions,
            "state",
            "pending final all",
            &|submission| {
                let finals = ["accepted", "dismissed", "failed"];
                let is_final = finals.contains(&&*text(submission, "status"));
                if is_final { "final" } else { "pending" }.to_owned()
            },
            &|value| crm.intake().list().state(value.into()).pages(),
        ),
    ];
    for (complete, name, values, value_of, list) in filters {
        let known = values.replace(' ', ", ");
        let why = format!("`{name}` must be one of {known}: got \"odd\"");
        refuses(&setup, first(list("odd")), &why).await;
        for value in values.split(' ') {
            let query = format!("{name}={value}");
            let matches = |record: &Record| value == "all" || value_of(record) == value;
            assert_filtered(&setup, list(value), &query, complete, matches).await;
        }
    }
}

/// A filtered list, its query, the complete list, and a function that selects the matching records.
type Filtered<'f> = (
    Pages<Record>,
    &'f str,
    &'f [Record],
    &'f dyn Fn(&Record) -> bool,
);

#[tokio::test]
async fn filters_are_sent_unchanged_and_combine() {
    let setup = Setup::in_memory();
    let (crm, me) = (&setup.crm, &*setup.server.sample_actor());
    let all = Lists::of(crm).await;
    let people = || crm.people().list();
    let opportunities = || crm.opportunities().list();
    let named = |person: &Record, part: &str| {
        let names = [text(person, "displayName"), text(person, "email")];
        names.iter().any(|name| name.to_lowercase().contains(part))
    };
    let lists: [Filtered<'_>; 9] = [
        (people().q("ann").pages(), "q=ann", &all.people, &|it| {
            named(it, "ann")
        }),
        (
            people().q("müller").pages(),
            "q=m%C3%BCller",
            &all.people,
            &|it| named(it, "müller"),
        ),
        (
            people().q("an").status(PersonStatus::Inactive).pages(),
            "q=an&status=inactive",
            &all.people,
            &|it| named(it, "an") && text(it, "status") == "inactive",
        ),
        (
            crm.organizations().list().q("energy").pages(),
            "q=energy",
            &all.organizations,
            &|it| mentions(it, "energy"),
        ),
        (
            opportunities().q("portal").pages(),
            "q=portal",
            &all.opportunities,
            &|it| mentions(it, "portal"),
        ),
        (
            opportunities().owner("none").pages(),
            "owner=none",
            &all.opportunities,
            &|it| owner(it).is_empty(),
        ),
        (
            opportunities().owner(me).pages(),
            &format!("owner={me}"),
            &all.opportunities,
            &|it| owner(it) == me,
        ),
        (
            crm.tasks().list().q("proposal").pages(),
            "q=proposal",
            &all.tasks,
            &|it| owner(it) == me && mentions(it, "proposal"),
        ),
        (crm.tasks().list().pages(), "", &all.tasks, &|it| {
            owner(it) == me
        }),
    ];
    for (list, query, complete, matches) in lists {
        assert_filtered(&setup, list, query, complete, matches).await;
    }
    // The contract doesn't document the values of this filter, so the SDK takes any value.
    for status in "received screening review_needed accepted dismissed failed".split(' ') {
        let list = crm.intake().list().status(status).pages();
        let (query, complete) = (format!("status={status}"), &all.submissions);
        let matches = |it: &Record| text(it, "status") == status;
        assert_filtered(&setup, list, &query, complete, matches).await;
    }
}

#[tokio::test]
async fn mine_selects_the_tasks_of_the_actor_of_the_token() {
    let setup = Setup::in_memory();
    let actors = setup.crm.actors().list().await.unwrap().to_value().unwrap();
    let colleague = actors["items"][1]["publicReference"].as_str().unwrap();
    let crm = setup.suite_of(|client| client.acting_for(colleague)).crm();

    let theirs = collect(crm.tasks().list().items()).await;

    assert!(!theirs.is_empty());
    assert!(theirs.iter().all(|task| owner(task) == colleague));
    assert_eq!(setup.last_query(Operation::ListTasks).find("owner"), None);
}
