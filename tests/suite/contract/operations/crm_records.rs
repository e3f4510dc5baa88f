//! CRM: single records, lists of records, and the search.

use sdk_core::{Page, RawJson, Record, Response};
use sdk_crm::types::{IntakeSubmissionDetail, IntakeSubmissionStatus};
use sdk_reference_server::Operation;

use super::operations;
use crate::contract::setup::Setup;

operations! {
    GetIntakeSubmission: |setup| setup.crm.intake().get(setup.server.sample_intake_submission()) => submission,
        404 "not_found" "no such": |setup| setup.crm.intake().get("IN-FFFFFFFFFFFF");
    GetPerson: |setup| setup.crm.people().get(setup.server.sample_person()) => person,
        404 "not_found" "no such": |setup| setup.crm.people().get("PER-FFFFFFFFFFFF");
    GetOrganization: |setup| setup.crm.organizations().get(setup.server.sample_organization()) => organization,
        404 "not_found" "no such": |setup| setup.crm.organizations().get("ORG-FFFFFFFFFFFF");
    GetOpportunity: |setup| setup.crm.opportunities().get(setup.server.sample_opportunity()) => opportunity,
        404 "not_found" "no such": |setup| setup.crm.opportunities().get("OP-FFFFFFFFFFFF");
    // The contract doesn't document the values of this filter, so the SDK takes any value.
    ListIntakeSubmissions: |setup| setup.crm.intake().list() => submissions,
        400 "validation_failed" "status:": |setup| setup.crm.intake().list().status("lost");
    ListPeople: |setup| setup.crm.people().list() => people,
        400 "validation_failed" "cursor:": |setup| setup.crm.people().list().cursor("nobody's");
    GetPersonTimeline: |setup| setup.crm.people().timeline(setup.server.sample_person()) => timeline,
        404 "not_found" "no such": |setup| setup.crm.people().timeline("PER-FFFFFFFFFFFF");
    ListOrganizations: |setup| setup.crm.organizations().list() => organizations,
        400 "validation_failed" "cursor:": |setup| setup.crm.organizations().list().cursor("nobody's");
    ListOpportunities: |setup| setup.crm.opportunities().list() => opportunities,
        400 "validation_failed" "cursor:": |setup| setup.crm.opportunities().list().cursor("nobody's");
    ListTasks: |setup| setup.crm.tasks().list() => tasks,
        400 "validation_failed" "cursor:": |setup| setup.crm.tasks().list().cursor("nobody's");
    // The SDK passes this string on as an unknown parameter.
    Search: |setup| setup.crm.search().query("an") => hits_of_all_kinds,
        400 "validation_failed" "limit:": |setup| setup.crm.search().query("an").query("limit", "many");
}

fn submission(setup: &Setup, detail: &Response<IntakeSubmissionDetail>) {
    let reference = setup.server.sample_intake_submission();
    assert_eq!(detail.schema_version, "suite-crm-intake-detail.v2");
    assert_eq!(detail.public_reference, &*reference);
    assert_eq!(detail.status, IntakeSubmissionStatus::ReviewNeeded);
    assert!(detail.contact.text("displayName").is_some());
    assert_eq!(detail.processing_events.len(), 3);
    assert_eq!(detail.review, None);
    assert!(detail.review_history.is_empty());
    assert_eq!(detail.record_version, 1);
    let path = format!("/api/crm/v1/intake-submissions/{reference}");
    assert_eq!(setup.last(Operation::GetIntakeSubmission).path, path);
}

fn person(setup: &Setup, person: &Response<Record>) {
    let reference = setup.server.sample_person();
    assert_eq!(person.text("status").as_deref(), Some("active"));
    assert!(person.get::<i64>("recordVersion").unwrap() >= Some(1));
    let path = format!("/api/crm/v1/people/{reference}");
    assert_eq!(setup.last(Operation::GetPerson).path, path);
    assert_eq!(person.text("publicReference"), Some(reference));
}

fn organization(setup: &Setup, organization: &Response<Record>) {
    let reference = setup.server.sample_organization();
    assert!(organization.text("displayName").is_some());
    let path = format!("/api/crm/v1/organizations/{reference}");
    assert_eq!(setup.last(Operation::GetOrganization).path, path);
    assert_eq!(organization.text("publicReference"), Some(reference));
}

fn opportunity(setup: &Setup, opportunity: &Response<Record>) {
    let reference = setup.server.sample_opportunity();
    let minor_units: i64 = opportunity.get("valueMinMinor").unwrap().unwrap();
    assert!(minor_units > 0);
    let path = format!("/api/crm/v1/opportunities/{reference}");
    assert_eq!(setup.last(Operation::GetOpportunity).path, path);
    assert_eq!(opportunity.text("publicReference"), Some(reference));
}

/// Checks a first page with more pages after it. The SDK omits the page size, so the page has the contract's default
/// length.
fn assert_page(setup: &Setup, operation: Operation, page: &Page<Record>, length: usize) {
    assert_eq!(setup.last(operation).query, None);
    assert_eq!(page.items().unwrap().len(), length);
    assert!(page.next_cursor().is_some());
}

/// Checks a first page of 25 records whose references begin with this prefix.
fn assert_records(setup: &Setup, operation: Operation, page: &Page<Record>, prefix: &str) {
    assert_page(setup, operation, page, 25);
    let begins = |item: &Record| item.text("publicReference").unwrap().starts_with(prefix);
    assert!(page.items().unwrap().iter().all(begins));
}

fn submissions(setup: &Setup, page: &Response<Page<Record>>) {
    assert_records(setup, Operation::ListIntakeSubmissions, page, "IN-");
}

fn people(setup: &Setup, page: &Response<Page<Record>>) {
    assert_records(setup, Operation::ListPeople, page, "PER-");
    let first = page.items().unwrap()[0].text("publicReference");
    assert_eq!(first, Some(setup.server.sample_person()));
}

fn timeline(setup: &Setup, page: &Response<Page<Record>>) {
    assert_page(setup, Operation::GetPersonTimeline, page, 50);
    let person = setup.server.sample_person();
    let path = format!("/api/crm/v1/people/{person}/timeline");
    assert_eq!(setup.last(Operation::GetPersonTimeline).path, path);
}

fn organizations(setup: &Setup, page: &Response<Page<Record>>) {
    assert_records(setup, Operation::ListOrganizations, page, "ORG-");
}

fn opportunities(setup: &Setup, page: &Response<Page<Record>>) {
    let version = page.schema_version.as_deref();
    assert_eq!(version, Some("suite-crm-opportunities-page.v2"));
    assert_records(setup, Operation::ListOpportunities, page, "OP-");
}

fn tasks(setup: &Setup, page: &Response<Page<Record>>) {
    assert_records(setup, Operation::ListTasks, page, "TSK-");
}

fn hits_of_all_kinds(setup: &Setup, hits: &Response<RawJson>) {
    let value = hits.to_value().unwrap();
    let items = value["items"].as_array().unwrap();
    assert_eq!(items.len(), 20);
    assert!(value.get("nextCursor").is_none());
    for kind in ["person", "organization", "opportunity"] {
        assert!(items.iter().any(|item| item["type"] == kind), "{kind}");
    }
    assert_eq!(setup.last_query(Operation::Search), "q=an");
}
