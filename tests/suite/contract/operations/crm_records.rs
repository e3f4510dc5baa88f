//! CRM: single records, lists of records, and the search.

use sdk_core::{Page, RawJson, Record, Response};
use sdk_crm::types::{IntakeSubmissionDetail, IntakeSubmissionStatus};
use sdk_reference_server::Operation;

use super::operations;
use crate::contract::world::World;

operations! {
    GetIntakeSubmission: |world| world.crm.intake().get(world.server.sample_intake_submission()) => submission,
        404 "not_found" "no such": |world| world.crm.intake().get("IN-FFFFFFFFFFFF");
    GetPerson: |world| world.crm.people().get(world.server.sample_person()) => person,
        404 "not_found" "no such": |world| world.crm.people().get("PER-FFFFFFFFFFFF");
    GetOrganization: |world| world.crm.organizations().get(world.server.sample_organization()) => organization,
        404 "not_found" "no such": |world| world.crm.organizations().get("ORG-FFFFFFFFFFFF");
    GetOpportunity: |world| world.crm.opportunities().get(world.server.sample_opportunity()) => opportunity,
        404 "not_found" "no such": |world| world.crm.opportunities().get("OP-FFFFFFFFFFFF");
    // The contract doesn't document the values of this filter, so the SDK takes any value.
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
    // The SDK passes this string on as an unknown parameter.
    Search: |world| world.crm.search().query("an") => hits_of_all_kinds,
        400 "validation_failed" "limit:": |world| world.crm.search().query("an").query("limit", "many");
}

fn submission(world: &World, detail: &Response<IntakeSubmissionDetail>) {
    let reference = world.server.sample_intake_submission();
    assert_eq!(detail.schema_version, "suite-crm-intake-detail.v2");
    assert_eq!(detail.public_reference, &*reference);
    assert_eq!(detail.status, IntakeSubmissionStatus::ReviewNeeded);
    assert!(detail.contact.text("displayName").is_some());
    assert_eq!(detail.processing_events.len(), 3);
    assert_eq!(detail.review, None);
    assert!(detail.review_history.is_empty());
    assert_eq!(detail.record_version, 1);
    let path = format!("/api/crm/v1/intake-submissions/{reference}");
    assert_eq!(world.last(Operation::GetIntakeSubmission).path, path);
}

fn person(world: &World, person: &Response<Record>) {
    let reference = world.server.sample_person();
    assert_eq!(person.text("status").as_deref(), Some("active"));
    assert!(person.get::<i64>("recordVersion").unwrap() >= Some(1));
    let path = format!("/api/crm/v1/people/{reference}");
    assert_eq!(world.last(Operation::GetPerson).path, path);
    assert_eq!(person.text("publicReference"), Some(reference));
}

fn organization(world: &World, organization: &Response<Record>) {
    let reference = world.server.sample_organization();
    assert!(organization.text("displayName").is_some());
    let path = format!("/api/crm/v1/organizations/{reference}");
    assert_eq!(world.last(Operation::GetOrganization).path, path);
    assert_eq!(organization.text("publicReference"), Some(reference));
}

fn opportunity(world: &World, opportunity: &Response<Record>) {
    let reference = world.server.sample_opportunity();
    let minor_units: i64 = opportunity.get("valueMinMinor").unwrap().unwrap();
    assert!(minor_units > 0);
    let path = format!("/api/crm/v1/opportunities/{reference}");
    assert_eq!(world.last(Operation::GetOpportunity).path, path);
    assert_eq!(opportunity.text("publicReference"), Some(reference));
}

/// Checks a first page with more pages after it. The SDK omits the page size, so the page has the contract's default
/// length.
fn assert_page(world: &World, operation: Operation, page: &Page<Record>, length: usize) {
    assert_eq!(world.last(operation).query, None);
    assert_eq!(page.items().unwrap().len(), length);
    assert!(page.next_cursor().is_some());
}

/// Checks a first page of 25 records whose references begin with this prefix.
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
