//! CRM: the description of the service, and computed views.

use sdk_core::{App, RawJson, Response};
use sdk_crm::types::{
    AttentionQueue, AttentionType, Funnel, Presentation, ReasonCode, SubjectType, ViewKind,
};

use super::operations;
use crate::contract::setup::Setup;
use crate::support::Clients;

operations! {
    GetHealth: |setup| setup.crm.service().health() => health;
    GetReadiness: |setup| setup.crm.service().ready() => readiness;
    GetCrmMetadata: |setup| setup.crm.service().meta() => metadata;
    GetToday: |setup| setup.crm.today().get() => what_needs_attention;
    // `from` takes an instant. The SDK passes this string on as an unknown parameter.
    GetFunnel: |setup| setup.crm.funnel().get() => every_stage_is_counted,
        400 "validation_failed" "from:": |setup| setup.crm.funnel().get().query("from", "yesterday");
    GetActors: |setup| setup.crm.actors().list() => actors_with_their_workload;
    GetPresentation: |setup| setup.crm.presentation().get() => the_application_is_described;
}

fn health(_: &Setup, health: &Response<RawJson>) {
    assert_eq!(health.to_value().unwrap()["status"], "alive");
}

fn readiness(_: &Setup, ready: &Response<RawJson>) {
    assert_eq!(ready.to_value().unwrap()["status"], "ready");
}

fn metadata(_: &Setup, meta: &Response<RawJson>) {
    assert_eq!(meta.to_value().unwrap()["version"], "3.0.0");
}

fn what_needs_attention(setup: &Setup, today: &Response<AttentionQueue>) {
    assert_eq!(today.schema_version, "suite-crm-today.v1");
    assert_eq!(today.generated_at, setup.server.now().into());
    assert!(today.counts.get::<u64>("openTasks").unwrap().is_some());
    let first = &today.attention[0];
    assert_eq!(first.type_, Some(AttentionType::Task));
    assert!(first.due_at.as_ref().unwrap() < &today.generated_at);
    let owner = first.owner.as_ref().unwrap().public_reference.as_ref();
    assert_eq!(owner.unwrap(), &*setup.server.sample_actor());
    let priority = first.priority.as_ref().unwrap();
    assert_eq!(priority.reason_codes, Some(vec![ReasonCode::Overdue]));
    assert!(priority.score.as_ref().unwrap().as_f64() > Some(0.0));
    assert!((1..=25).contains(&today.recent_changes.len()));
    let subject = &today.recent_changes[0].subject_type;
    assert_eq!(*subject, Some(SubjectType::Task));
}

fn every_stage_is_counted(setup: &Setup, funnel: &Response<Funnel>) {
    assert_eq!(funnel.schema_version, "suite-crm-funnel.v1");
    assert_eq!(funnel.stages.len(), 9);
    let open = funnel.stages.iter().filter_map(|stage| stage.open_count);
    assert!(open.sum::<i64>() > 0);
    assert!(funnel.outcomes.won.unwrap() > 0);
    let created_before = &funnel.provenance.counts_opportunities_created_before;
    assert_eq!(*created_before, Some(setup.server.now().into()));
}

fn actors_with_their_workload(setup: &Setup, actors: &Response<RawJson>) {
    let listed = &actors.to_value().unwrap()["items"];
    assert_eq!(listed.as_array().unwrap().len(), 12);
    assert_eq!(listed[0]["publicReference"], setup.server.sample_actor());
    assert!(listed[0]["workload"]["openTasks"].as_u64() > Some(0));
}

fn the_application_is_described(_: &Setup, presentation: &Response<Presentation>) {
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
}

#[tokio::test]
async fn the_presentation_has_what_the_scopes_reach() {
    let setup = Setup::in_memory();
    let scopes = ["crm:today:read", "crm:tasks:read", "crm:tasks:write"];
    let crm = setup.suite.with_scopes(App::Crm, scopes).unwrap().crm();

    let presentation = crm.presentation().get().await.unwrap();

    let sections = presentation.navigation.sections.as_ref().unwrap();
    let required = sections.iter().map(|section| &section.required_scope);
    let required: Vec<_> = required.flatten().map(String::as_str).collect();
    assert_eq!(required, ["crm:today:read", "crm:tasks:read"]);
    let mut actions = presentation.actions.iter();
    assert!(actions.all(|action| action.required_scope.as_deref() == Some("crm:tasks:write")));
    assert!(!presentation.actions.is_empty());
}
