//! CRM: one record by its reference.

use sdk_core::Error;
use sdk_crm::types::IntakeSubmissionStatus;
use sdk_reference_server::Operation;

use crate::contract::case::{Done, operations};
use crate::contract::world::World;

operations! {
    GetIntakeSubmission => a_submission_comes_with_its_detail, no_such_submission_is_a_404;
    GetPerson => a_person_comes_with_a_briefing, no_such_person_is_a_404;
    GetOrganization => an_organization_comes_with_a_briefing, no_such_organization_is_a_404;
    GetOpportunity => an_opportunity_comes_with_its_detail, no_such_opportunity_is_a_404;
}

/// What all of them say of a record that is not there.
fn not_found(error: Error) -> Error {
    assert!(error.is_not_found());
    assert_eq!(error.code(), Some("not_found"));
    assert!(error.message().starts_with("no such"), "{error}");
    error
}

async fn a_submission_comes_with_its_detail(world: &World) -> Done {
    let reference = world.server.sample_intake_submission();

    let detail = world.crm.intake().get(&*reference).await.unwrap();

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
    Done::of(&detail)
}

async fn no_such_submission_is_a_404(world: &World) -> Error {
    not_found(world.crm.intake().get("IN-FFFFFFFFFFFF").await.unwrap_err())
}

async fn a_person_comes_with_a_briefing(world: &World) -> Done {
    let reference = world.server.sample_person();

    let person = world.crm.people().get(&*reference).await.unwrap();

    assert_eq!(person.text("publicReference"), Some(reference.clone()));
    assert_eq!(person.text("status").as_deref(), Some("active"));
    assert!(person.get::<i64>("recordVersion").unwrap() >= Some(1));
    let path = format!("/api/crm/v1/people/{reference}");
    assert_eq!(world.last(Operation::GetPerson).path, path);
    Done::of(&person)
}

async fn no_such_person_is_a_404(world: &World) -> Error {
    not_found(
        world
            .crm
            .people()
            .get("PER-FFFFFFFFFFFF")
            .await
            .unwrap_err(),
    )
}

async fn an_organization_comes_with_a_briefing(world: &World) -> Done {
    let reference = world.server.sample_organization();

    let organization = world.crm.organizations().get(&*reference).await.unwrap();

    assert_eq!(
        organization.text("publicReference"),
        Some(reference.clone())
    );
    assert!(organization.text("displayName").is_some());
    let path = format!("/api/crm/v1/organizations/{reference}");
    assert_eq!(world.last(Operation::GetOrganization).path, path);
    Done::of(&organization)
}

async fn no_such_organization_is_a_404(world: &World) -> Error {
    not_found(
        world
            .crm
            .organizations()
            .get("ORG-FFFFFFFFFFFF")
            .await
            .unwrap_err(),
    )
}

async fn an_opportunity_comes_with_its_detail(world: &World) -> Done {
    let reference = world.server.sample_opportunity();

    let opportunity = world.crm.opportunities().get(&*reference).await.unwrap();

    assert_eq!(opportunity.text("publicReference"), Some(reference.clone()));
    let minor_units: i64 = opportunity.get("valueMinMinor").unwrap().unwrap();
    assert!(minor_units > 0);
    let path = format!("/api/crm/v1/opportunities/{reference}");
    assert_eq!(world.last(Operation::GetOpportunity).path, path);
    Done::of(&opportunity)
}

async fn no_such_opportunity_is_a_404(world: &World) -> Error {
    not_found(
        world
            .crm
            .opportunities()
            .get("OP-FFFFFFFFFFFF")
            .await
            .unwrap_err(),
    )
}
