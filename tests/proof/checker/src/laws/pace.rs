//! Progress: calls leave, responses are read, and failures that may pass are tried again.

use std::collections::BTreeMap;

use crate::event::{Kind, Micros, Sent, Told};
use crate::facts::{Call, Facts, TICK};
use crate::laws::Found;
use crate::request::Request;

pub(crate) fn hold(facts: &Facts<'_>, found: &mut Found) {
    read(facts, found);
    let failures = failures(facts);
    for call in facts.calls.values() {
        leaves(facts, call, found);
        if let Some((at, Told::Error { tokenless, .. })) = call.told {
            attempted(facts, call, at, *tokenless, found);
            if !tokenless {
                repeated(facts, call, at, &failures, found);
                renewed(facts, call, at, found);
            }
        }
        returned(facts, call, found);
    }
}

/// A suite reads a response when it comes.
fn read(facts: &Facts<'_>, found: &mut Found) {
    for request in facts.requests.values() {
        let (Some(offered), Some((end, _))) = (request.offered, request.end) else {
            continue;
        };
        let prompt = end <= offered + TICK;
        found.hold("a response is read when it comes", end, prompt, || {
            let (id, suite) = (request.id, request.suite);
            format!("suite {suite} could have read request {id} by {offered}")
        });
    }
}

/// Neither a call nor its next attempt waits if its suite has a token, allows a further attempt, and has waited as long as it
/// must.
fn leaves(facts: &Facts<'_>, call: &Call<'_>, found: &mut Found) {
    let mut ready = Some(call.began);
    for attempt in facts.attempts(call) {
        let Sent::Attempt {
            audience, token, ..
        } = attempt.sent
        else {
            continue;
        };
        let now = attempt.departed;
        let late = ready.filter(|ready| {
            // Of the lifetime, 10 % is reserved for the call and 5 % for a late renewal.
            let place = (call.suite, audience.as_str());
            let fresh = |at| token.is_none() || facts.token(place, at, 85).is_some();
            now > ready + TICK
                && fresh(*ready)
                && fresh(now - TICK)
                && has_room(facts, place, *ready, now)
        });
        found.hold("a call that can leave leaves", now, late.is_none(), || {
            let (id, operation, request) = (call.id, &call.operation, attempt.id);
            format!("call {id} of {operation}: request {request} could have left at {late:?}")
        });
        // An attempt after a 401 waits for another token; a list waits for its consumer.
        let waits = attempt.status() == Some(401) || call.most.is_none();
        let end = attempt.end.filter(|_| !waits);
        ready = end.map(|(end, _)| end + retry_after(attempt) + call.backoff);
    }
}

/// Whether a suite had a token and allowed a further attempt at some time between these.
fn has_room(facts: &Facts<'_>, place: (u32, &str), from: Micros, until: Micros) -> bool {
    let Some((Some(most), _)) = facts.suites.get(&place.0) else {
        return true;
    };
    let own = |it: &&Request<'_>| {
        (it.suite, it.audience()) == place && matches!(it.sent, Sent::Attempt { .. })
    };
    let ends = facts.requests.values().filter(own);
    let ends = ends.filter_map(|it| it.end).map(|(end, _)| end + TICK);
    let mut times = ends
        .chain([from + TICK])
        .filter(|it| *it > from && it + TICK < until);
    times.any(|time| {
        let busy = facts.requests.values().filter(own).filter(|it| {
            let end = it.end.map_or(Micros::MAX, |(end, _)| end);
            it.departed <= time && time <= end
        });
        busy.count() < *most && facts.token(place, time, 85).is_some()
    })
}

/// A call that has time is attempted, unless it has no token, and its suite has requested tokens.
fn attempted(facts: &Facts<'_>, call: &Call<'_>, at: Micros, tokenless: bool, found: &mut Found) {
    let exchanged = |it: &Request<'_>| {
        let own = it.suite == call.suite && it.departed <= at;
        own && matches!(it.sent, Sent::Exchange { .. })
    };
    let kept = !call.attempts.is_empty()
        || !call.has_time(at)
        || tokenless && facts.requests.values().any(exchanged);
    found.hold("a call is attempted", at, kept, || {
        let (id, operation) = (call.id, &call.operation);
        format!("call {id} of {operation} until {:?}", call.deadline)
    });
}

/// A call ends with its response.
fn returned(facts: &Facts<'_>, call: &Call<'_>, found: &mut Found) {
    let (Some((at, told)), Some(last)) = (call.told, facts.attempts(call).last()) else {
        return;
    };
    // After other failures, a call may wait for a token or for its turn.
    let suite = facts.suites.get(&call.suite);
    let capped = suite.is_none_or(|it| it.0.is_some());
    let ready = |at| {
        let place = (call.suite, last.audience());
        !capped && facts.token(place, at, 85).is_some()
    };
    let is_final = match told {
        Told::Reply { .. } | Told::Receipt { .. } => true,
        Told::Error { tokenless, .. } => {
            let ready = ready(at) && last.end.is_some_and(|(end, _)| ready(end));
            last.is_final() || ready && !tokenless
        }
        Told::Dropped => false,
    };
    let prompt = !is_final || last.end.is_none_or(|(end, _)| at <= end + TICK);
    found.hold("a call ends with its response", at, prompt, || {
        let (id, operation, request) = (call.id, &call.operation, last.id);
        format!("call {id} of {operation}: request {request}")
    });
}

/// When requests of each suite and audience failed, token exchanges and rejections included: an upper bound on the retries
/// that the budget paid for.
fn failures<'a>(facts: &Facts<'a>) -> BTreeMap<(u32, &'a str), Vec<Micros>> {
    let mut failures: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for request in facts.requests.values().filter(|it| !it.succeeded()) {
        let at = (request.suite, request.audience());
        let ended = request.end.map_or(request.departed, |(end, _)| end);
        failures.entry(at).or_default().push(ended);
    }
    failures
}

/// A read, a command with a key, and a request that was never sent are tried again after a failure that may pass, as long as
/// attempts, time and budget are left.
fn repeated(
    facts: &Facts<'_>,
    call: &Call<'_>,
    at: Micros,
    failures: &BTreeMap<(u32, &str), Vec<Micros>>,
    found: &mut Found,
) {
    let (Some(last), Some(most), Some(deadline)) =
        (facts.attempts(call).last(), call.most, call.deadline)
    else {
        return;
    };
    let may_pass = match last.status() {
        Some(status) => matches!(status, 408 | 429 | 500 | 502..=504) && call.kind != Kind::Unkeyed,
        None => call.kind != Kind::Unkeyed || !last.is_open(call.kind),
    };
    let made = facts.attempts(call).filter(|it| it.status() != Some(401));
    let made = made.count();
    let time = at + retry_after(last) + call.backoff + TICK < deadline;
    let budget = facts.suites.get(&call.suite).map_or(0, |it| it.1);
    let failed = failures.get(&(call.suite, last.audience()));
    let paid = failed.is_none_or(|it| it.iter().filter(|it| **it <= at).count() < budget);
    let left = made < most as usize && time && paid;
    let (law, kept) = (
        "a failure that may pass is tried again",
        !(may_pass && left),
    );
    found.hold(law, at, kept, || {
        let (id, operation) = (call.id, &call.operation);
        format!("call {id} of {operation} made {made} of {most} attempts until {deadline}")
    });
}

/// If a token is rejected for the first time and the call has time left, its suite requests another.
fn renewed(facts: &Facts<'_>, call: &Call<'_>, at: Micros, found: &mut Found) {
    let rejected = |it: &&Request<'_>| it.status() == Some(401);
    let Some(last) = facts.attempts(call).last().filter(rejected) else {
        return;
    };
    let Sent::Attempt {
        token: Some(token), ..
    } = last.sent
    else {
        return;
    };
    let requested = facts.tokens.get(token).map_or(0, |it| it.asked);
    let renewed = facts.requests.values().any(|it| {
        let own = it.suite == last.suite && it.audience() == last.audience();
        let exchange = matches!(it.sent, Sent::Exchange { .. });
        let before = it.departed <= at && it.id != last.id;
        own && before && (exchange && it.departed > requested || rejected(&it))
    });
    let kept = !call.has_time(at) || renewed;
    found.hold("a rejected token is renewed", at, kept, || {
        let (id, operation) = (call.id, &call.operation);
        format!("call {id} of {operation} gave up with token {token}")
    });
}

/// How long the service asked to wait.
fn retry_after(attempt: &Request<'_>) -> Micros {
    let wait = attempt.delivered().and_then(|it| it.wait);
    wait.unwrap_or_default()
}
