//! Time over HTTP: forward, and back to the start.

use serde::Deserialize;
use serde_json::json;

use super::{body, ok};
use crate::call::Answer;
use crate::message::Request;
use crate::refusal::Refusal;
use crate::seconds::Seconds;
use crate::suite::Suite;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Advance {
    #[serde(rename = "advanceSeconds")]
    by: Seconds,
}

pub(super) fn now(suite: &Suite, _: &Request, _: &str) -> Answer {
    ok(&json!({"now": suite.clock.now().to_string()}))
}

pub(super) fn advance(suite: &Suite, request: &Request, _: &str) -> Answer {
    let advance: Advance = body(request)?;
    let left = suite.clock.left();
    if advance.by.0 > left {
        let rule = format!("must be at most {}, where time ends", left.as_secs());
        let message = format!("advanceSeconds: {rule}: got {}", advance.by.0.as_secs());
        return Err(Refusal::invalid(message));
    }
    suite.clock.advance(advance.by.0);
    now(suite, request, "")
}

pub(super) fn reset(suite: &Suite, request: &Request, _: &str) -> Answer {
    suite.reset();
    now(suite, request, "")
}
