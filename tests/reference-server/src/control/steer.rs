//! Changes to the server over HTTP: data, faults and time.

use serde::Deserialize;
use serde_json::json;

use crate::call::{Answer, Call};
use crate::message::{Reply, Seconds};
use crate::params;
use crate::refusal::Refusal;
use crate::schema;

pub(super) fn add_data(call: &Call<'_>) -> Answer {
    let added = call.suite.load_data(&call.request.body);
    let added = added.map_err(Refusal::invalid)?;
    Ok(Reply::json(201, &added))
}

pub(super) fn faults(call: &Call<'_>) -> Answer {
    Ok(Reply::ok(&json!({"faults": call.suite.faults.views()})))
}

pub(super) fn add_faults(call: &Call<'_>) -> Answer {
    let added = call.suite.load_faults(&call.request.body);
    let added = added.map_err(Refusal::invalid)?;
    let mut views = call.suite.faults.views();
    views.retain(|view| view["id"].as_u64().is_some_and(|id| added.contains(&id)));
    Ok(Reply::json(201, &json!({"faults": views})))
}

pub(super) fn clear_faults(call: &Call<'_>) -> Answer {
    call.suite.faults.clear();
    faults(call)
}

pub(super) fn remove_fault(call: &Call<'_>) -> Answer {
    let id = call.param(0);
    if !id.parse().is_ok_and(|id| call.suite.faults.remove(id)) {
        return Err(Refusal::not_found(format!("no fault with the number {id}")));
    }
    faults(call)
}

pub(super) fn fault_log(call: &Call<'_>) -> Answer {
    let strikes = call.suite.faults.log().into_iter().map(|strike| {
        json!({
            "at": strike.at.to_string(),
            "fault": strike.fault,
            "operation": strike.operation_id,
            "requestId": strike.request_id,
            "effects": strike.effects,
        })
    });
    Ok(Reply::ok(&json!({"strikes": strikes.collect::<Vec<_>>()})))
}

pub(super) fn clock(call: &Call<'_>) -> Answer {
    let now = call.suite.clock.now().to_string();
    Ok(Reply::ok(&json!({"now": now})))
}

#[derive(Deserialize)]
struct Change {
    now: Option<String>,
    #[serde(rename = "advanceSeconds")]
    by: Option<Seconds>,
}

pub(super) fn set_clock(call: &Call<'_>) -> Answer {
    let change: Change = schema::fields(call.body())?;
    if let Some(to) = params::date_time("now", change.now.as_deref())? {
        call.suite.clock.set(to);
    }
    if let Some(Seconds(by)) = change.by {
        let left = call.suite.clock.left();
        if by > left {
            let (by, left) = (by.as_secs(), left.as_secs());
            let rule = format!("must be at most {left}, the end of the clock");
            let message = format!("advanceSeconds: {rule}: got {by}");
            return Err(Refusal::invalid(message));
        }
        call.suite.clock.advance(by);
    }
    clock(call)
}

pub(super) fn reset(call: &Call<'_>) -> Answer {
    call.suite.reset();
    clock(call)
}
