//! CRM: one record by its reference.

use sdk_core::{Record, Response};
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
