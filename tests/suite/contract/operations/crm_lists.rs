//! CRM: the lists, and the search.

use sdk_core::{Page, RawJson, Record, Response};
use sdk_reference_server::Operation;

use super::operations;
use crate::contract::world::World;

operations! {
    // The contract does not show the values of this filter, so the SDK takes any.
    ListIntakeSubmissions: |world| world.crm.intake().list() => submissions,
        400 "validation_failed" "status:": |world| world.crm.intake().list().status("lost");
    ListPeople: |world| world.crm.people().list() => people,
        400 "validation_failed" "cursor:": |world| world.crm.people().list().cursor("nobody's");
    GetPersonTimeline: |world| world.crm.people().timeline(world.server.sample_person()) => timeline,
        404 "not_found" "no such": |world| world.crm.people().timeline("PER-FFFFFFFFFFFF");
    ListOrganizations: |world| world.crm.organizations().list() => organizations,
        400 "validation_failed" "cursor:": |world| world.crm.organizations().list().cursor("nobody's");
    ListOpportunities: |world| world.crm.opportunities().list() => opportunities,
        400 "validation_failed" "cursor:": |world| world.crm.opportunities().list().cursor("nobody's");
    ListTasks: |world| world.crm.tasks().list() => tasks,
        400 "validation_failed" "cursor:": |world| world.crm.tasks().list().cursor("nobody's");
    // Text gets past the SDK as a parameter that it does not know.
    Search: |world| world.crm.search().query("an") => hits_of_all_kinds,
        400 "validation_failed" "limit:": |world| world.crm.search().query("an").query("limit", "many");
}

/// A first page, with more to come. The SDK leaves out the page size, so its length is the default of the contract.
fn assert_page(world: &World, operation: Operation, page: &Page<Record>, length: usize) {
    assert_eq!(world.last(operation).query, None);
    assert_eq!(page.items().unwrap().len(), length);
    assert!(page.next_cursor().is_some());
}

/// A first page of 25 records, whose references begin so.
fn assert_records(world: &World, operation: Operation, page: &Page<Record>, prefix: &str) {
    assert_page(world, operation, page, 25);
    let begins = |item: &Record| item.text("publicReference").unwrap().starts_with(prefix);
    assert!(page.items().unwrap().iter().all(begins));
}

fn submissions(world: &World, page: &Response<Page<Record>>) {
    assert_records(world, Operation::ListIntakeSubmissions, page, "IN-");
}

fn people(world: &World, page: &Response<Page<Record>>) {
    assert_records(world, Operation::ListPeople, page, "PER-");
    let first = page.items().unwrap()[0].text("publicReference");
    assert_eq!(first, Some(world.server.sample_person()));
}

fn timeline(world: &World, page: &Response<Page<Record>>) {
    assert_page(world, Operation::GetPersonTimeline, page, 50);
    let person = world.server.sample_person();
    let path = format!("/api/crm/v1/people/{person}/timeline");
    assert_eq!(world.last(Operation::GetPersonTimeline).path, path);
}

fn organizations(world: &World, page: &Response<Page<Record>>) {
    assert_records(world, Operation::ListOrganizations, page, "ORG-");
}

fn opportunities(world: &World, page: &Response<Page<Record>>) {
    let version = page.schema_version.as_deref();
    assert_eq!(version, Some("suite-crm-opportunities-page.v2"));
    assert_records(world, Operation::ListOpportunities, page, "OP-");
}

fn tasks(world: &World, page: &Response<Page<Record>>) {
    assert_records(world, Operation::ListTasks, page, "TSK-");
}

fn hits_of_all_kinds(world: &World, hits: &Response<RawJson>) {
    let value = hits.to_value().unwrap();
    let items = value["items"].as_array().unwrap();
    assert_eq!(items.len(), 20);
    assert!(value.get("nextCursor").is_none());
    for kind in ["person", "organization", "opportunity"] {
        assert!(items.iter().any(|item| item["type"] == kind), "{kind}");
    }
    assert_eq!(world.last_query(Operation::Search), "q=an");
}
