//! Filters filter: each gives those records of the whole list that it describes, and no others.

use sdk_core::{App, Items, Record};
use sdk_crm::types::{
    IntakeState, OpportunityStage, OrganizationStatus, PersonStatus, TaskOwner, TaskStatus,
};
use sdk_reference_server::Operation;
use serde_json::Value;

use super::lists::{collect, references};
use super::world::World;
use crate::support::Clients;

/// Walks a filtered list and compares it with what the whole list has of that description.
async fn assert_filtered(
    what: &str,
    whole: &[Record],
    filtered: Items<Record>,
    wanted: impl Fn(&Record) -> bool,
) {
    let expected = references(whole.iter().filter(|record| wanted(record)));
    let found = collect(filtered).await;
    assert_eq!(found.len(), expected.len(), "{what}");
    assert_eq!(references(&found), expected, "{what}");
    assert!(!found.is_empty() && found.len() < whole.len(), "{what}");
}

fn has(record: &Record, member: &str, text: &str) -> bool {
    record.text(member).as_deref() == Some(text)
}

fn mentions(record: &Record, text: &str) -> bool {
    record.to_string().to_lowercase().contains(text)
}

fn owner(record: &Record) -> Option<String> {
    let owner: Value = record.get("owner").unwrap()?;
    owner["publicReference"].as_str().map(str::to_owned)
}

#[tokio::test]
async fn people_are_filtered_by_status() {
    let world = World::start().await;
    let list = || world.crm.people().list().limit(50);
    let whole = collect(list().items()).await;

    for status in PersonStatus::KNOWN {
        let filtered = list().status((*status).into()).items();
        assert_filtered(status, &whole, filtered, |person| {
            has(person, "status", status)
        })
        .await;
        let query = world.last(Operation::ListPeople).query.unwrap();
        assert!(query.contains(&format!("status={status}")), "{query}");
    }
}

#[tokio::test]
async fn people_are_searched_by_name_whatever_the_case() {
    let world = World::start().await;
    let list = || world.crm.people().list().limit(50);
    let whole = collect(list().items()).await;

    for q in ["ann", "ANN", "müller"] {
        let text = q.to_lowercase();
        let by_name = |person: &Record| {
            [person.text("displayName"), person.text("email")]
                .iter()
                .flatten()
                .any(|name| name.to_lowercase().contains(&text))
        };
        assert_filtered(q, &whole, list().q(q).items(), by_name).await;
    }
    let query = world.last(Operation::ListPeople).query.unwrap();
    assert!(query.contains("q=m%C3%BCller"), "{query}");
}

#[tokio::test]
async fn filters_narrow_each_other() {
    let world = World::start().await;
    let list = || world.crm.people().list().limit(50);
    let whole = collect(list().items()).await;

    let filtered = list().q("an").status(PersonStatus::Inactive).items();
    let found = collect(filtered).await;

    let all_with_an = references(&collect(list().q("an").items()).await);
    let inactive = whole
        .iter()
        .filter(|person| has(person, "status", "inactive"));
    let expected = references(inactive);
    assert!(!found.is_empty());
    assert_eq!(references(&found), &all_with_an & &expected);
}

#[tokio::test]
async fn organizations_are_filtered_by_status_and_text() {
    let world = World::start().await;
    let list = || world.crm.organizations().list().limit(50);
    let whole = collect(list().items()).await;

    for status in OrganizationStatus::KNOWN {
        let filtered = list().status((*status).into()).items();
        let wanted = |row: &Record| has(row, "status", status);
        assert_filtered(status, &whole, filtered, wanted).await;
    }
    let wanted = |row: &Record| mentions(row, "energy");
    assert_filtered("q", &whole, list().q("energy").items(), wanted).await;
}

#[tokio::test]
async fn opportunities_are_filtered_by_stage_and_text() {
    let world = World::start().await;
    let list = || world.crm.opportunities().list().limit(50);
    let whole = collect(list().items()).await;

    for stage in OpportunityStage::KNOWN {
        let filtered = list().stage((*stage).into()).items();
        assert_filtered(stage, &whole, filtered, |row| has(row, "stage", stage)).await;
    }
    let wanted = |row: &Record| mentions(row, "portal");
    assert_filtered("q", &whole, list().q("portal").items(), wanted).await;
}

#[tokio::test]
async fn opportunities_are_filtered_by_owner_or_by_having_none() {
    let world = World::start().await;
    let list = || world.crm.opportunities().list().limit(50);
    let whole = collect(list().items()).await;
    let me = world.server.sample_actor();

    let unowned = list().owner("none").items();
    assert_filtered("none", &whole, unowned, |row| owner(row).is_none()).await;
    let mine = list().owner(&*me).items();
    assert_filtered(&me, &whole, mine, |row| owner(row).as_deref() == Some(&me)).await;
    let query = world.last(Operation::ListOpportunities).query.unwrap();
    assert!(query.contains(&format!("owner={me}")), "{query}");
    let nobodys = collect(list().owner("ACR-FFFFFFFFFFFF").items()).await;
    assert!(nobodys.is_empty());
}

#[tokio::test]
async fn tasks_are_filtered_by_owner_status_and_text() {
    let world = World::start().await;
    let list = || world.crm.tasks().list().owner(TaskOwner::All).limit(50);
    let whole = collect(list().items()).await;
    let me = world.server.sample_actor();

    let mine = world.crm.tasks().list().owner(TaskOwner::Mine).items();
    assert_filtered("mine", &whole, mine, |row| {
        owner(row).as_deref() == Some(&me)
    })
    .await;
    for status in TaskStatus::KNOWN {
        let filtered = list().status((*status).into()).items();
        assert_filtered(status, &whole, filtered, |row| has(row, "status", status)).await;
    }
    let wanted = |row: &Record| mentions(row, "proposal");
    assert_filtered("q", &whole, list().q("proposal").items(), wanted).await;
}

#[tokio::test]
async fn submissions_are_filtered_by_status_or_state() {
    let world = World::start().await;
    let list = || world.crm.intake().list().limit(50);
    let whole = collect(list().items()).await;
    let is_final = |row: &Record| {
        let finals = ["accepted", "dismissed", "failed"];
        finals.iter().any(|status| has(row, "status", status))
    };

    for status in [
        "received",
        "screening",
        "review_needed",
        "accepted",
        "dismissed",
        "failed",
    ] {
        let filtered = list().status(status).items();
        assert_filtered(status, &whole, filtered, |row| has(row, "status", status)).await;
    }
    let pending = list().state(IntakeState::Pending).items();
    assert_filtered("pending", &whole, pending, |row| !is_final(row)).await;
    let decided = list().state(IntakeState::Final).items();
    assert_filtered("final", &whole, decided, is_final).await;
    let all = collect(list().state(IntakeState::All).items()).await;
    assert_eq!(references(&all), references(&whole));
}

#[tokio::test]
async fn the_presentation_has_what_the_scopes_reach() {
    let world = World::start().await;
    let scopes = ["crm:today:read", "crm:tasks:read", "crm:tasks:write"];
    let crm = world.suite.with_scopes(App::Crm, scopes).unwrap().crm();

    let presentation = crm.presentation().get().await.unwrap();

    let sections = presentation.navigation.sections.as_ref().unwrap();
    let required = sections.iter().map(|section| &section.required_scope);
    let required: Vec<_> = required.flatten().map(String::as_str).collect();
    assert_eq!(required, ["crm:today:read", "crm:tasks:read"]);
    let action_scope = |action: &sdk_crm::types::Action| action.required_scope.clone();
    let mut offered = presentation.actions.iter().map(action_scope);
    assert!(offered.all(|scope| scope.as_deref() == Some("crm:tasks:write")));
    assert!(!presentation.actions.is_empty());
}
