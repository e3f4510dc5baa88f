//! Filters that take one of a few values, and two that exclude each other.

use sdk_crm::types::{
    IntakeState, OpportunityStage, OrganizationStatus, PersonStatus, TaskOwner, TaskStatus,
};
use sdk_reference_server::App;

use crate::contract::both::Both;

/// What an enumeration says of a value that it does not have.
fn not_one_of(name: &str, known: &[&str]) -> String {
    format!("`{name}` must be one of {}: got \"odd\"", known.join(", "))
}

#[tokio::test]
async fn the_status_of_people_is_one_of_four() {
    let both = Both::sides_of(App::Crm).await;
    let list = |status| both.world.crm.people().list().status(status);

    let why = not_one_of("status", &["active", "inactive", "suppressed", "archived"]);
    both.refuse(list("odd".into()), &why, "/api/crm/v1/people?status=odd")
        .await;
    for status in PersonStatus::KNOWN {
        let target = format!("/api/crm/v1/people?status={status}");
        both.accept(list((*status).into()), &target).await;
    }
}

#[tokio::test]
async fn the_status_of_organizations_is_one_of_three() {
    let both = Both::sides_of(App::Crm).await;
    let list = |status| both.world.crm.organizations().list().status(status);

    let why = not_one_of("status", &["active", "inactive", "archived"]);
    both.refuse(
        list("odd".into()),
        &why,
        "/api/crm/v1/organizations?status=odd",
    )
    .await;
    for status in OrganizationStatus::KNOWN {
        let target = format!("/api/crm/v1/organizations?status={status}");
        both.accept(list((*status).into()), &target).await;
    }
}

#[tokio::test]
async fn the_stage_of_opportunities_is_one_of_nine() {
    let both = Both::sides_of(App::Crm).await;
    let list = |stage| both.world.crm.opportunities().list().stage(stage);
    let documented = [
        "new",
        "review_needed",
        "exploring",
        "qualified",
        "solution_shaping",
        "proposal_or_decision",
        "won",
        "deferred",
        "closed_not_proceeding",
    ];

    let why = not_one_of("stage", &documented);
    both.refuse(
        list("odd".into()),
        &why,
        "/api/crm/v1/opportunities?stage=odd",
    )
    .await;
    for stage in OpportunityStage::KNOWN {
        let target = format!("/api/crm/v1/opportunities?stage={stage}");
        both.accept(list((*stage).into()), &target).await;
    }
}

#[tokio::test]
async fn the_status_of_tasks_is_one_of_five() {
    let both = Both::sides_of(App::Crm).await;
    let list = |status| both.world.crm.tasks().list().status(status);
    let documented = ["open", "in_progress", "waiting", "completed", "cancelled"];

    let why = not_one_of("status", &documented);
    both.refuse(list("odd".into()), &why, "/api/crm/v1/tasks?status=odd")
        .await;
    for status in TaskStatus::KNOWN {
        let target = format!("/api/crm/v1/tasks?status={status}");
        both.accept(list((*status).into()), &target).await;
    }
}

#[tokio::test]
async fn the_owner_of_tasks_is_mine_or_all() {
    let both = Both::sides_of(App::Crm).await;
    let list = |owner| both.world.crm.tasks().list().owner(owner);

    let why = not_one_of("owner", &["mine", "all"]);
    both.refuse(list("odd".into()), &why, "/api/crm/v1/tasks?owner=odd")
        .await;
    for owner in TaskOwner::KNOWN {
        let target = format!("/api/crm/v1/tasks?owner={owner}");
        both.accept(list((*owner).into()), &target).await;
    }
}

#[tokio::test]
async fn the_state_of_submissions_is_pending_final_or_all() {
    let both = Both::sides_of(App::Crm).await;
    let list = |state| both.world.crm.intake().list().state(state);

    let why = not_one_of("state", &["pending", "final", "all"]);
    both.refuse(
        list("odd".into()),
        &why,
        "/api/crm/v1/intake-submissions?state=odd",
    )
    .await;
    for state in IntakeState::KNOWN {
        let target = format!("/api/crm/v1/intake-submissions?state={state}");
        both.accept(list((*state).into()), &target).await;
    }
}

#[tokio::test]
async fn status_and_state_of_submissions_exclude_each_other() {
    let both = Both::sides_of(App::Crm).await;
    let list = both.world.crm.intake().list();

    let call = list.status("received").state(IntakeState::All);
    let why = "`status` must not be set together with `state`: got both";
    let target = "/api/crm/v1/intake-submissions?status=received&state=all";
    both.refuse(call, why, target).await;
}
