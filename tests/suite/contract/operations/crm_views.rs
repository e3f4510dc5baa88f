//! CRM: what is known of the service, and the views that it computes.

use sdk_core::{Error, RetryPolicy};
use sdk_crm::types::{AttentionType, ReasonCode, SubjectType, ViewKind};
use sdk_reference_server::{App, Operation};

use crate::contract::case::{Done, operations};
use crate::contract::world::World;

operations! {
    GetHealth => health_needs_no_token, health_that_is_down_is_asked_three_times;
    GetReadiness => readiness_needs_no_token, a_crm_that_is_not_ready_is_a_503;
    GetCrmMetadata => metadata_needs_no_token, a_503_of_html_is_still_a_503;
    GetToday => today_lists_what_needs_attention, today_without_its_scope_is_a_403;
    GetFunnel => the_funnel_counts_every_stage, a_date_that_is_none_is_a_400;
    GetActors => actors_come_with_their_workload, actors_without_the_scope_of_today_are_a_403;
    GetPresentation => the_presentation_describes_the_application, a_client_without_the_crm_is_a_403;
}

async fn health_needs_no_token(world: &World) -> Done {
    let health = world.crm.service().health().await.unwrap();

    assert_eq!(health.to_value().unwrap()["status"], "alive");
    assert_eq!(world.server.attempts(Operation::ExchangeToken), 0);
    Done::of(&health)
}

async fn health_that_is_down_is_asked_three_times(world: &World) -> Error {
    world.server.fault(Operation::GetHealth).status(503);

    let error = world.crm.service().health().await.unwrap_err();

    assert_eq!(error.attempts(), 3);
    assert!(error.is_unavailable());
    assert_eq!(error.code(), Some("service_unavailable"));
    assert!(error.to_string().contains("after 3 attempts"), "{error}");
    error
}

async fn readiness_needs_no_token(world: &World) -> Done {
    let ready = world.crm.service().ready().await.unwrap();

    assert_eq!(ready.to_value().unwrap()["status"], "ready");
    assert_eq!(world.server.attempts(Operation::ExchangeToken), 0);
    Done::of(&ready)
}

async fn a_crm_that_is_not_ready_is_a_503(world: &World) -> Error {
    world.server.fault(Operation::GetReadiness).status(503);

    let ready = world.crm.service().ready().retry(RetryPolicy::none());
    let error = ready.await.unwrap_err();

    assert_eq!(error.attempts(), 1);
    error
}

async fn metadata_needs_no_token(world: &World) -> Done {
    let meta = world.crm.service().meta().await.unwrap();

    assert_eq!(meta.to_value().unwrap()["version"], "3.0.0");
    assert_eq!(world.server.attempts(Operation::ExchangeToken), 0);
    Done::of(&meta)
}

async fn a_503_of_html_is_still_a_503(world: &World) -> Error {
    let page = "<html>down for maintenance</html>";
    let fault = world.server.fault(Operation::GetCrmMetadata).status(503);
    fault.body(page, "text/html");

    let error = world.crm.service().meta().await.unwrap_err();

    assert_eq!(error.code(), None);
    assert_eq!(error.body(), Some(page.as_bytes()));
    error
}

async fn today_lists_what_needs_attention(world: &World) -> Done {
    let today = world.crm.today().get().await.unwrap();

    assert_eq!(today.schema_version, "suite-crm-today.v1");
    assert_eq!(today.generated_at, world.server.now().into());
    assert!(today.counts.get::<u64>("openTasks").unwrap().is_some());
    let first = &today.attention[0];
    assert_eq!(first.type_, Some(AttentionType::Task));
    assert!(first.due_at.as_ref().unwrap() < &today.generated_at);
    let owner = first.owner.as_ref().unwrap().public_reference.as_ref();
    assert_eq!(owner.unwrap(), &*world.server.sample_actor());
    let priority = first.priority.as_ref().unwrap();
    assert_eq!(priority.reason_codes, Some(vec![ReasonCode::Overdue]));
    assert!(priority.score.as_ref().unwrap().as_f64() > Some(0.0));
    assert!((1..=25).contains(&today.recent_changes.len()));
    assert_eq!(
        today.recent_changes[0].subject_type,
        Some(SubjectType::Task)
    );
    Done::of(&today)
}

async fn today_without_its_scope_is_a_403(world: &World) -> Error {
    let suite = world
        .suite
        .with_scopes(sdk_core::App::Crm, ["crm:people:read"])
        .unwrap();
    let crm = sdk_crm::Client::new(&suite).unwrap();

    let error = crm.today().get().await.unwrap_err();

    assert_eq!(error.code(), Some("insufficient_scope"));
    let line = error.to_string();
    assert!(line.contains("requires the scope crm:today:read"), "{line}");
    assert!(
        line.contains("the token was granted crm:people:read"),
        "{line}"
    );
    error
}

async fn the_funnel_counts_every_stage(world: &World) -> Done {
    let funnel = world.crm.funnel().get().await.unwrap();

    assert_eq!(funnel.schema_version, "suite-crm-funnel.v1");
    assert_eq!(funnel.stages.len(), 9);
    let open: i64 = funnel
        .stages
        .iter()
        .filter_map(|stage| stage.open_count)
        .sum();
    assert!(open > 0);
    assert!(funnel.outcomes.won.unwrap() > 0);
    let created_before = funnel
        .provenance
        .counts_opportunities_created_before
        .clone();
    assert_eq!(created_before, Some(world.server.now().into()));
    Done::of(&funnel)
}

async fn a_date_that_is_none_is_a_400(world: &World) -> Error {
    // `from` takes an instant; text gets past it as a parameter that the SDK does not know.
    let funnel = world.crm.funnel().get().query("from", "yesterday");

    let error = funnel.await.unwrap_err();

    assert_eq!(error.code(), Some("validation_failed"));
    assert!(error.message().starts_with("from:"), "{error}");
    error
}

async fn actors_come_with_their_workload(world: &World) -> Done {
    let actors = world.crm.actors().list().await.unwrap();

    let listed = &actors.to_value().unwrap()["items"];
    assert_eq!(listed.as_array().unwrap().len(), 12);
    assert_eq!(listed[0]["publicReference"], world.server.sample_actor());
    assert!(listed[0]["workload"]["openTasks"].as_u64() > Some(0));
    Done::of(&actors)
}

async fn actors_without_the_scope_of_today_are_a_403(world: &World) -> Error {
    let suite = world.suite_of(|client| client.without_scope("crm:today:read"));
    let crm = sdk_crm::Client::new(&suite).unwrap();

    let error = crm.actors().list().await.unwrap_err();

    let line = error.to_string();
    assert!(line.contains("requires the scope crm:today:read"), "{line}");
    error
}

async fn the_presentation_describes_the_application(world: &World) -> Done {
    let presentation = world.crm.presentation().get().await.unwrap();

    assert_eq!(presentation.schema_version, "suite-crm-presentation.v1");
    assert_eq!(presentation.app_id, "crm");
    let sections = presentation.navigation.sections.as_ref().unwrap();
    let orders: Vec<_> = sections
        .iter()
        .filter_map(|section| section.order)
        .collect();
    assert!(orders.is_sorted() && orders.len() == sections.len());
    assert_eq!(presentation.views[0].kind, Some(ViewKind::List));
    assert!(presentation.views.len() <= 60 && presentation.actions.len() <= 60);
    assert!(!presentation.actions.is_empty());
    Done::of(&presentation)
}

async fn a_client_without_the_crm_is_a_403(world: &World) -> Error {
    let suite = world.suite_of(|client| client.apps([App::Calendar]));
    let crm = sdk_crm::Client::new(&suite).unwrap();

    let error = crm.presentation().get().await.unwrap_err();

    assert_eq!(error.code(), Some("entitlement_required"));
    let line = error.to_string();
    assert!(line.contains("the application's entitlement"), "{line}");
    error
}
