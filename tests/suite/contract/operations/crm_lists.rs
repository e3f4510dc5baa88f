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

/// A first page of that many records, with more to come.
fn assert_page(page: &Page<Record>, length: usize, prefix: &str) {
    assert_eq!(page.items().unwrap().len(), length);
    assert!(page.next_cursor().is_some());
    let begins = |item: &Record| item.text("publicReference").unwrap().starts_with(prefix);
    assert!(page.items().unwrap().iter().all(begins));
}

fn submissions(_: &World, page: &Response<Page<Record>>) {
    assert_page(page, 25, "IN-");
}

fn people(world: &World, page: &Response<Page<Record>>) {
    assert_page(page, 25, "PER-");
    let first = page.items().unwrap()[0].text("publicReference");
    assert_eq!(first, Some(world.server.sample_person()));
}

fn timeline(world: &World, page: &Response<Page<Record>>) {
    assert_eq!(page.items().unwrap().len(), 50);
    assert!(page.next_cursor().is_some());
    let person = world.server.sample_person();
    let path = format!("/api/crm/v1/people/{person}/timeline");
    assert_eq!(world.last(Operation::GetPersonTimeline).path, path);
}

fn organizations(_: &World, page: &Response<Page<Record>>) {
    assert_page(page, 25, "ORG-");
}

fn opportunities(_: &World, page: &Response<Page<Record>>) {
    let version = page.schema_version.as_deref();
    assert_eq!(version, Some("suite-crm-opportunities-page.v2"));
    assert_page(page, 25, "OP-");
}

fn tasks(_: &World, page: &Response<Page<Record>>) {
    assert_page(page, 25, "TSK-");
}

fn hits_of_all_kinds(world: &World, hits: &Response<RawJson>) {
    let value = hits.to_value().unwrap();
    let items = value["items"].as_array().unwrap();
    assert_eq!(items.len(), 20);
    assert!(value.get("nextCursor").is_none());
    for kind in ["person", "organization", "opportunity"] {
        assert!(items.iter().any(|item| item["type"] == kind), "{kind}");
    }
    assert_eq!(world.last(Operation::Search).query.as_deref(), Some("q=an"));
}
