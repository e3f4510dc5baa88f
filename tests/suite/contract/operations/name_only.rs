//! The nine operations that are known by name only: any JSON goes in, any JSON comes out, nothing is promised.

use sdk_core::{Effect, Error};
use sdk_reference_server::{App, ClientSpec, Operation};
use serde_json::json;

use crate::contract::case::{Done, operations};
use crate::contract::world::World;

operations! {
    RespondAttendance => a_response_takes_any_json, a_response_to_no_event_is_a_404;
    ChangeRecurrence => an_occurrence_is_changed, a_calendar_without_a_workspace_is_a_403;
    ManageHold => a_hold_is_created, a_hold_that_is_gone_is_a_404;
    GetAccountingReadiness => readiness_takes_a_token, readiness_with_revoked_tokens_is_a_401;
    GetAccountingActor => the_actor_is_the_callers, an_actor_without_accounting_is_a_403;
    GetAccountingOverview => the_overview_is_open_json, an_overview_that_is_down_is_a_503;
    CreateFinancialCounterparty => a_counterparty_is_created, a_post_is_not_repeated_after_a_503;
    ListInvoices => invoices_are_open_json, invoices_without_accounting_are_a_403;
    CreateApprovalIntent => an_intent_is_created, an_intent_with_revoked_tokens_is_a_401;
}

async fn a_response_takes_any_json(world: &World) -> Done {
    let body = json!({"response": "accepted", "nested": {"any": [1, 2.50, null]}});

    let receipt = world
        .calendar
        .attendance()
        .respond(body.clone())
        .await
        .unwrap();

    assert_eq!(
        receipt.to_value().unwrap()["operation"],
        "attendance.respond"
    );
    assert_eq!(receipt.idempotency_key(), None);
    assert_eq!(world.last_body(Operation::RespondAttendance), body);
    Done::of(&receipt.into_response())
}

async fn a_response_to_no_event_is_a_404(world: &World) -> Error {
    let body = json!({"publicReference": "EVT-FFFFFFFFFFFF"});

    world.calendar.attendance().respond(body).await.unwrap_err()
}

async fn an_occurrence_is_changed(world: &World) -> Done {
    let body = json!({"operation": "cancel"});

    let receipt = world.calendar.recurrence().change(body).await.unwrap();

    let operation = &receipt.to_value().unwrap()["operation"];
    assert_eq!(operation, "recurrence.exception.cancel");
    Done::of(&receipt.into_response())
}

async fn a_calendar_without_a_workspace_is_a_403(world: &World) -> Error {
    let suite = world.suite_of(ClientSpec::without_workspace);
    let calendar = sdk_calendar::Client::new(&suite).unwrap();

    let error = calendar.recurrence().change(json!({})).await.unwrap_err();

    let line = error.to_string();
    assert!(line.contains("requires no documented scope"), "{line}");
    error
}

async fn a_hold_is_created(world: &World) -> Done {
    let receipt = world.calendar.holds().manage(json!({})).await.unwrap();

    assert_eq!(receipt.to_value().unwrap()["operation"], "hold.create");
    Done::of(&receipt.into_response())
}

async fn a_hold_that_is_gone_is_a_404(world: &World) -> Error {
    let holds = world.calendar.holds();
    let created = holds.manage(json!({})).await.unwrap().to_value().unwrap();
    let release = json!({"operation": "release", "publicReference": created["publicReference"]});
    holds.manage(release.clone()).await.unwrap();

    holds.manage(release).await.unwrap_err()
}

async fn readiness_takes_a_token(world: &World) -> Done {
    let ready = world.accounting.service().ready().await.unwrap();

    assert_eq!(world.server.exchanges(), 1);
    Done::of(&ready)
}

async fn readiness_with_revoked_tokens_is_a_401(world: &World) -> Error {
    world
        .server
        .fault(Operation::GetAccountingReadiness)
        .revoke_token();

    let error = world.accounting.service().ready().await.unwrap_err();

    assert_eq!(error.attempts(), 2);
    error
}

async fn the_actor_is_the_callers(world: &World) -> Done {
    let actor = world.accounting.actor().get().await.unwrap();

    let reference = &actor.to_value().unwrap()["actorReference"];
    assert_eq!(*reference, world.server.sample_actor());
    Done::of(&actor)
}

async fn an_actor_without_accounting_is_a_403(world: &World) -> Error {
    let suite = world.suite_of(|client| client.apps([App::Crm]));
    let accounting = sdk_accounting::Client::new(&suite).unwrap();

    let error = accounting.actor().get().await.unwrap_err();

    assert_eq!(error.code(), Some("entitlement_required"));
    error
}

async fn the_overview_is_open_json(world: &World) -> Done {
    let overview = world.accounting.overview().get().await.unwrap();

    assert_eq!(overview.to_value().unwrap()["counterparties"], 40);
    Done::of(&overview)
}

async fn an_overview_that_is_down_is_a_503(world: &World) -> Error {
    world
        .server
        .fault(Operation::GetAccountingOverview)
        .status(503);

    let error = world.accounting.overview().get().await.unwrap_err();

    assert_eq!(error.attempts(), 3);
    error
}

async fn a_counterparty_is_created(world: &World) -> Done {
    let body = json!({"displayName": "Amber Works AG"});

    let counterparties = world.accounting.counterparties();
    let receipt = counterparties.create(body).await.unwrap();

    assert_eq!(receipt.http_status(), 201);
    let overview = world.accounting.overview().get().await.unwrap();
    assert_eq!(overview.to_value().unwrap()["counterparties"], 41);
    Done::of(&receipt.into_response())
}

async fn a_post_is_not_repeated_after_a_503(world: &World) -> Error {
    world
        .server
        .fault(Operation::CreateFinancialCounterparty)
        .status(503);

    let counterparties = world.accounting.counterparties();
    let error = counterparties.create(json!({"a": 1})).await.unwrap_err();

    // It may have happened, and there is no key that would make a second time harmless.
    assert_eq!((error.attempts(), error.effect()), (1, Effect::Unknown));
    assert_eq!(error.command().unwrap().body(), r#"{"a":1}"#);
    error
}

async fn invoices_are_open_json(world: &World) -> Done {
    let invoices = world.accounting.invoices().list().await.unwrap();

    assert_eq!(invoices.to_value().unwrap()["items"], json!([]));
    Done::of(&invoices)
}

async fn invoices_without_accounting_are_a_403(world: &World) -> Error {
    let suite = world.suite_of(|client| client.apps([App::Calendar]));
    let accounting = sdk_accounting::Client::new(&suite).unwrap();

    accounting.invoices().list().await.unwrap_err()
}

async fn an_intent_is_created(world: &World) -> Done {
    let intents = world.accounting.approval_intents();

    let receipt = intents.create(json!({"subject": "IVD-1"})).await.unwrap();

    assert_eq!(receipt.to_value().unwrap()["outcome"], "pending");
    Done::of(&receipt.into_response())
}

async fn an_intent_with_revoked_tokens_is_a_401(world: &World) -> Error {
    world
        .server
        .fault(Operation::CreateApprovalIntent)
        .revoke_token();

    let intents = world.accounting.approval_intents();
    let error = intents.create(json!({})).await.unwrap_err();

    // A 401 had no effect, so even this one is sent again, once.
    assert_eq!(error.attempts(), 2);
    error
}
