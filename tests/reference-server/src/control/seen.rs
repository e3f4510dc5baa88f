//! The server's settings, counts and recorded requests, over HTTP.

use serde_json::{Map, Value, json};

use super::DOCUMENT;
use crate::app::App;
use crate::call::{Answer, Call};
use crate::message::Reply;
use crate::recorder::RecordedRequest;
use crate::refusal::Refusal;

pub(super) fn health(_: &Call<'_>) -> Answer {
    Ok(Reply::ok(&json!({"status": "ready"})))
}

pub(super) fn document(_: &Call<'_>) -> Answer {
    Ok(Reply::text(200, "application/yaml", DOCUMENT))
}

pub(super) fn state(call: &Call<'_>) -> Answer {
    let suite = call.suite;
    let apps = App::all().map(|app| {
        let address = json!({"origin": suite.url(app), "audience": suite.audience(app)});
        (app.id().to_owned(), address)
    });
    let sizes = suite.settings.sizes;
    Ok(Reply::ok(&json!({
        "now": call.now.to_string(),
        "apps": apps.collect::<Map<_, _>>(),
        "tokenUrl": suite.token_url(),
        "tokenLifetimeSeconds": suite.registry().lifetime.as_secs_f64(),
        "data": {
            "seed": suite.settings.seed,
            "people": sizes.people,
            "organizations": sizes.organizations,
            "opportunities": sizes.opportunities,
            "tasks": sizes.tasks,
            "intakeSubmissions": sizes.intake,
        },
    })))
}

pub(super) fn counters(call: &Call<'_>) -> Answer {
    let counters = &call.suite.counters;
    let operations = App::all().flat_map(|app| call.suite.operations(app));
    let operations = operations.map(|operation| {
        let counts = counters.of(operation);
        let counts = json!({"attempts": counts.attempts, "commits": counts.commits});
        (operation.id.to_string(), counts)
    });
    Ok(Reply::ok(&json!({
        "exchanges": counters.exchanges(),
        "operations": operations.collect::<Map<_, _>>(),
    })))
}

pub(super) fn requests(call: &Call<'_>) -> Answer {
    let mut requests = call.suite.recorder.requests();
    if let Some(id) = call.query("operation") {
        if call.suite.operation(id).is_none() {
            let message = format!("operation: no operation has the operationId {id:?}");
            return Err(Refusal::invalid(message));
        }
        requests.retain(|request| request.operation_id() == Some(id));
    }
    Ok(Reply::ok(&json!({
        "limit": call.suite.settings.recorded_requests,
        "requests": requests.iter().map(shown).collect::<Vec<_>>(),
    })))
}

fn shown(request: &RecordedRequest) -> Value {
    json!({
        "number": request.number,
        "requestId": request.request_id(),
        "at": request.at.to_string(),
        "app": request.app.id(),
        "operation": request.operation_id(),
        "servedFromSchema": request.served_from_schema(),
        "method": request.method,
        "path": request.path,
        "query": request.query,
        "headers": request.headers,
        "status": request.status,
        "body": String::from_utf8_lossy(request.body()),
    })
}
