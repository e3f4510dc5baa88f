//! Publications: active projections of allowed resource types, which the contract doesn't document (A83).

use serde_json::{Value, json};

use crate::app::App;
use crate::call::{Answer, Call};
use crate::contradict::Assumption;
use crate::data::Store;
use crate::message::Reply;
use crate::refusal::Refusal;

pub(crate) fn get(call: &Call<'_>) -> Answer {
    let caller = call.caller()?;
    let (app_id, resource_type, record) = (call.param(0), call.param(1), call.param(2));
    let unknown = || Refusal::not_found("no such publication");
    let app = App::from_id(app_id)
        .filter(|app| *app != App::Platform)
        .ok_or_else(unknown)?;
    for needed in [App::Platform, app] {
        if !caller.is_entitled(needed) {
            let message = format!("the client is not entitled to {needed}");
            return Err(Refusal::forbidden("entitlement_required", message));
        }
    }
    let singular = match resource_type {
        _ if !call.suite.contradicts(Assumption::A83) => resource_type,
        "people" => "person",
        "organizations" => "organization",
        "events" => "event",
        "counterparties" => "counterparty",
        _ => return Err(unknown()),
    };
    let projection = projection(&call.suite.store(), app, singular, record).ok_or_else(unknown)?;
    Ok(Reply::ok(&json!({
        "appId": app_id,
        "resourceType": resource_type,
        "sourceRecordId": record,
        "status": "active",
        "projection": projection,
    })))
}

/// Returns the published part of an active record.
fn projection(store: &Store, app: App, resource_type: &str, record: &str) -> Option<Value> {
    match (app, resource_type) {
        (App::Crm, "organization") => {
            let (_, row) = store.organizations.find(record)?;
            (row.status != "archived").then(|| json!({"displayName": row.name, "city": row.city}))
        }
        (App::Crm, "person") => {
            let (_, row) = store.people.find(record)?;
            (row.status == "active").then(|| json!({"displayName": row.display_name()}))
        }
        (App::Calendar, "event") => {
            let (_, event) = store.event(record).filter(|(_, event)| !event.cancelled)?;
            Some(json!({
                "title": event.title,
                "startsAt": event.starts_at.to_string(),
                "endsAt": event.ends_at.to_string(),
            }))
        }
        (App::Accounting, "counterparty") => {
            let (_, row) = store.counterparties.find(record)?;
            (row.status == "active").then(|| json!({"displayName": row.display_name}))
        }
        _ => None,
    }
}
