//! The name-only operations: they take any JSON and return any JSON, without guarantees.

use sdk_core::{Error, RawJson, Receipt, Response};
use sdk_reference_server::Operation;
use serde_json::{Value, json};

use super::operations;
use crate::contract::setup::Setup;

operations! {
    RespondAttendance: |setup| setup.calendar.attendance().respond(any_json()) => any_json_arrives,
        404 "not_found" "": |setup| setup.calendar.attendance().respond(json!({"publicReference": "EVT-FFFFFFFFFFFF"}));
    ChangeRecurrence: |setup| setup.calendar.recurrence().change(json!({"operation": "cancel"})) => an_occurrence_is_changed;
    ManageHold: |setup| setup.calendar.holds().manage(json!({})) => a_hold_is_created,
        404 "not_found" "": |setup| released_twice(setup);
    GetAccountingReadiness: |setup| setup.accounting.service().ready() => readiness;
    GetAccountingActor: |setup| setup.accounting.actor().get() => the_actor_is_the_callers;
    GetAccountingOverview: |setup| setup.accounting.overview().get() => overview;
    CreateFinancialCounterparty: |setup| setup.accounting.counterparties().create(new_counterparty()) => a_counterparty_is_created;
    ListInvoices: |setup| setup.accounting.invoices().list() => no_invoices;
    CreateApprovalIntent: |setup| setup.accounting.approval_intents().create(json!({"subject": "IVD-1"})) => an_intent_is_pending;
}

fn any_json() -> Value {
    json!({"response": "accepted", "nested": {"any": [1, 2.50, null]}})
}

fn any_json_arrives(setup: &Setup, receipt: &Receipt<RawJson>) {
    let operation = &receipt.to_value().unwrap()["operation"];
    assert_eq!(operation, "attendance.respond");
    assert_eq!(receipt.idempotency_key(), None);
    assert_eq!(setup.last_body(Operation::RespondAttendance), any_json());
}

fn an_occurrence_is_changed(_: &Setup, receipt: &Receipt<RawJson>) {
    let operation = &receipt.to_value().unwrap()["operation"];
    assert_eq!(operation, "recurrence.exception.cancel");
}

fn a_hold_is_created(_: &Setup, receipt: &Receipt<RawJson>) {
    assert_eq!(receipt.to_value().unwrap()["operation"], "hold.create");
}

async fn released_twice(setup: &Setup) -> Result<Receipt<RawJson>, Error> {
    let holds = setup.calendar.holds();
    let created = holds.manage(json!({})).await.unwrap().to_value().unwrap();
    let release = json!({"operation": "release", "publicReference": created["publicReference"]});
    holds.manage(release.clone()).await.unwrap();
    holds.manage(release).await
}

fn readiness(_: &Setup, ready: &Response<RawJson>) {
    assert_eq!(ready.to_value().unwrap()["status"], "ready");
}

fn the_actor_is_the_callers(setup: &Setup, actor: &Response<RawJson>) {
    let reference = &actor.to_value().unwrap()["actorReference"];
    assert_eq!(*reference, setup.server.sample_actor());
}

fn overview(_: &Setup, overview: &Response<RawJson>) {
    assert_eq!(overview.to_value().unwrap()["counterparties"], 40);
}

fn new_counterparty() -> Value {
    json!({"displayName": "Amber Works AG"})
}

fn a_counterparty_is_created(_: &Setup, receipt: &Receipt<RawJson>) {
    assert_eq!(receipt.http_status(), 201);
}

fn no_invoices(_: &Setup, invoices: &Response<RawJson>) {
    assert_eq!(invoices.to_value().unwrap()["items"], json!([]));
}

fn an_intent_is_pending(_: &Setup, receipt: &Receipt<RawJson>) {
    assert_eq!(receipt.to_value().unwrap()["outcome"], "pending");
}
