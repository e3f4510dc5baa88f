//! Faults over HTTP.

use serde_json::{Value, json};

use super::{bytes, ok};
use crate::call::Answer;
use crate::faults::FaultView;
use crate::message::{Reply, Request};
use crate::refusal::Refusal;
use crate::suite::Suite;

pub(super) fn list(suite: &Suite, _: &Request, _: &str) -> Answer {
    ok(&body(suite.faults.views()))
}

/// Takes what a fault file holds.
pub(super) fn add(suite: &Suite, request: &Request, _: &str) -> Answer {
    let added = suite
        .load_faults(bytes(request)?)
        .map_err(|problem| Refusal::invalid(problem.to_string()))?;
    let mut views = suite.faults.views();
    views.retain(|view| added.contains(&view.id));
    Ok(Reply::json(201, &body(views)))
}

pub(super) fn clear(suite: &Suite, _: &Request, _: &str) -> Answer {
    suite.faults.clear();
    ok(&body(Vec::new()))
}

pub(super) fn remove(suite: &Suite, _: &Request, id: &str) -> Answer {
    let removed = id.parse().is_ok_and(|id| suite.faults.remove(id));
    if !removed {
        return Err(Refusal::not_found(format!("no fault with the number {id}")));
    }
    ok(&body(suite.faults.views()))
}

pub(super) fn log(suite: &Suite, _: &Request, _: &str) -> Answer {
    let strikes: Vec<Value> = suite
        .faults
        .log()
        .into_iter()
        .map(|strike| {
            json!({
                "at": strike.at.to_string(),
                "fault": strike.fault,
                "operation": strike.operation_id,
                "requestId": strike.request_id,
                "effects": strike.effects,
            })
        })
        .collect();
    ok(&json!({"strikes": strikes}))
}

fn body(views: Vec<FaultView>) -> Value {
    let faults: Vec<Value> = views
        .into_iter()
        .map(|view| {
            let mut fault = view.script;
            fault["id"] = json!(view.id);
            fault["struck"] = json!(view.struck);
            fault["spent"] = json!(view.spent);
            fault
        })
        .collect();
    json!({"faults": faults})
}
