//! What the server is and saw, over HTTP.

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};

use super::ok;
use crate::app::App;
use crate::call::Answer;
use crate::message::Request;
use crate::recorder::RecordedRequest;
use crate::refusal::Refusal;
use crate::suite::Suite;

pub(super) fn ready(_: &Suite, _: &Request, _: &str) -> Answer {
    ok(&json!({"status": "ready"}))
}

pub(super) fn state(suite: &Suite, _: &Request, _: &str) -> Answer {
    let apps: Map<String, Value> = App::all()
        .map(|app| {
            let address = json!({"origin": suite.url(app), "audience": suite.audience(app)});
            (app.id().to_owned(), address)
        })
        .collect();
    let sizes = suite.settings.sizes;
    ok(&json!({
        "now": suite.clock.now().to_string(),
        "apps": apps,
        "tokenUrl": suite.token_url(),
        "tokenLifetimeSeconds": suite.registry().lifetime().as_secs_f64(),
        "data": {
            "seed": suite.settings.seed,
            "people": sizes.people,
            "organizations": sizes.organizations,
            "opportunities": sizes.opportunities,
            "tasks": sizes.tasks,
            "intakeSubmissions": sizes.intake,
        },
    }))
}

pub(super) fn counters(suite: &Suite, _: &Request, _: &str) -> Answer {
    let operations: Map<String, Value> = App::all()
        .flat_map(|app| suite.operations(app))
        .map(|operation| {
            let counts = suite.counters.of(operation);
            let counts = json!({"attempts": counts.attempts, "commits": counts.commits});
            (operation.id.to_string(), counts)
        })
        .collect();
    ok(&json!({"exchanges": suite.counters.exchanges(), "operations": operations}))
}

pub(super) fn requests(suite: &Suite, _: &Request, _: &str) -> Answer {
    ok(&shown_of(&suite.recorder.requests()))
}

pub(super) fn requests_for(suite: &Suite, _: &Request, operation: &str) -> Answer {
    let operation = percent_decode_str(operation).decode_utf8_lossy();
    let wanted = suite
        .operation(&operation)
        .ok_or_else(|| Refusal::not_found(format!("unknown operation {operation:?}")))?;
    let mut requests = suite.recorder.requests();
    requests.retain(|request| request.operation_id() == Some(&*wanted.id));
    ok(&shown_of(&requests))
}

fn shown_of(requests: &[RecordedRequest]) -> Value {
    json!({"requests": requests.iter().map(shown).collect::<Vec<_>>()})
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
