//! Progress: calls are sent, responses are read and temporary failures are retried. Concurrent attempts stay within the
//! suite's limit.

use std::collections::BTreeMap;

use crate::event::{Event, Failed, Kind, Micros, Outcome};
use crate::facts::{Call, Facts, TICK};
use crate::invariants::Found;
use crate::request::Request;

pub(crate) fn check(facts: &Facts<'_>, found: &mut Found) {
    capped(facts, found);
    read(facts, found);
    let failures = failures(facts);
    for call in facts.calls.values() {
        leaves(facts, call, found);
        if let Some((at, failed)) = call.failed() {
            attempted(facts, call, at, failed, found);
            if !failed.tokenless {
                repeated(facts, call, at, &failures, found);
                renewed(facts, call, at, found);
            }
        }
        returned(facts, call, found);
    }
}

/// Checks that concurrent attempts stay within the suite's limit.
fn capped(facts: &Facts<'_>, found: &mut Found) {
    let mut taken: BTreeMap<(u32, &str), usize> = BTreeMap::new();
    for (at, event) in facts.events {
        let (Event::Departed { request, .. }
        | Event::Delivered { request }
        | Event::Broke { request }
        | Event::Abandoned { request }) = event
        else {
            continue;
        };
        let Some(it) = facts
            .requests
            .get(request)
            .filter(|it| it.attempt().is_some())
        else {
            continue;
        };
        let taken = taken.entry(it.place()).or_default();
        if !matches!(event, Event::Departed { .. }) {
            *taken = taken.saturating_sub(1);
            continue;
        }
        *taken += 1;
        let most = facts.suites.get(&it.suite).and_then(|it| it.0);
        let satisfied = most.is_none_or(|most| *taken <= most);
        found.require(
            "concurrent attempts stay within the limit",
            *at,
            satisfied,
            || format!("{it}: {taken} of {most:?}"),
        );
    }
}

/// Checks that a suite reads a response when it arrives.
fn read(facts: &Facts<'_>, found: &mut Found) {
    for request in facts.requests.values() {
        let (Some(offered), Some((end, _))) = (request.offered, request.end) else {
            continue;
        };
        let prompt = end <= offered + TICK;
        found.require("a response is read when it arrives", end, prompt, || {
            format!("{request} could have been read by {offered}")
        });
    }
}

/// Checks that calls and next attempts wait only for a token, the limit of concurrent attempts or a requested delay.
fn leaves(facts: &Facts<'_>, call: &Call<'_>, found: &mut Found) {
    let mut ready = Some(call.began);
    for attempt in facts.attempts(call) {
        let (now, place) = (attempt.departed, (call.suite, attempt.place().1));
        let late = ready.filter(|ready| {
            // 10 % of the lifetime is reserved for the call, and 5 % for a late renewal.
            let needs_none = attempt.token().is_none();
            let fresh = |at| needs_none || facts.token(place, at, 85).is_some();
            now > ready + TICK
                && fresh(*ready)
                && fresh(now - TICK)
                && has_room(facts, place, *ready, now)
        });
        found.require(
            "a call doesn't wait without a reason",
            now,
            late.is_none(),
            || format!("{call}: {attempt} could have been sent at {late:?}"),
        );
        // An attempt after a 401 waits for another token. A list waits for its consumer.
        let waits = attempt.status() == Some(401) || call.most.is_none();
        let end = attempt.end.filter(|_| !waits);
        ready = end.map(|(end, _)| end + attempt.wait().unwrap_or(0) + call.backoff);
    }
}

/// Returns whether the suite had a token and allowed a further attempt at some time in this period.
fn has_room(facts: &Facts<'_>, place: (u32, &str), from: Micros, until: Micros) -> bool {
    let Some((Some(most), _)) = facts.suites.get(&place.0) else {
        return true;
    };
    let own = || {
        let attempts = facts.all_attempts().map(|(it, _)| it);
        attempts.filter(|it| it.place() == place)
    };
    let ends = own().filter_map(|it| it.end).map(|(end, _)| end + TICK);
    let mut times = ends
        .chain([from + TICK])
        .filter(|it| *it > from && it + TICK < until);
    times.any(|time| {
        let busy = own().filter(|it| it.departed <= time && time <= it.ended());
        busy.count() < *most && facts.token(place, time, 85).is_some()
    })
}

/// Checks that a call with time left is attempted, unless it has no token and its suite has requested tokens.
fn attempted(facts: &Facts<'_>, call: &Call<'_>, at: Micros, failed: &Failed, found: &mut Found) {
    let exchanged = |it: &Request<'_>| it.suite == call.suite && it.departed <= at;
    let satisfied = !call.attempts.is_empty()
        || !call.has_time(at)
        || failed.tokenless && facts.exchanges().any(exchanged);
    found.require("a call is attempted", at, satisfied, || {
        format!("{call} until {:?}", call.deadline)
    });
}

/// Checks that a call ends when its response arrives.
fn returned(facts: &Facts<'_>, call: &Call<'_>, found: &mut Found) {
    let (Some((at, outcome)), Some(last)) = (call.outcome, facts.attempts(call).last()) else {
        return;
    };
    // After other failures, a call may wait for a token or for a free slot.
    let suite = facts.suites.get(&call.suite);
    let capped = suite.is_none_or(|it| it.0.is_some());
    let place = (call.suite, last.place().1);
    let ready = |at| !capped && facts.token(place, at, 85).is_some();
    let is_final = match outcome {
        Outcome::Response { .. } | Outcome::Receipt { .. } => true,
        Outcome::Error(failed) => {
            let ready = ready(at) && last.end.is_some_and(|(end, _)| ready(end));
            last.is_final() || ready && !failed.tokenless
        }
        Outcome::Dropped => false,
    };
    let prompt = !is_final || last.end.is_none_or(|(end, _)| at <= end + TICK);
    found.require("a call ends with its response", at, prompt, || {
        format!("{call}: {last}")
    });
}

/// Returns the times of failed requests per suite and audience, an upper bound on the retries that the budget paid for.
fn failures<'a>(facts: &Facts<'a>) -> BTreeMap<(u32, &'a str), Vec<Micros>> {
    let mut failures: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for request in facts.requests.values().filter(|it| !it.succeeded()) {
        let ended = request.end.map_or(request.departed, |(end, _)| end);
        failures.entry(request.place()).or_default().push(ended);
    }
    failures
}

/// Checks that a temporary failure is retried while attempts, time and budget are left. This applies to reads, commands
/// with a key, and requests that were never sent.
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
    let time = at + last.wait().unwrap_or(0) + call.backoff + TICK < deadline;
    let budget = facts.suites.get(&call.suite).map_or(0, |it| it.1);
    let failed = failures.get(&(call.suite, last.place().1));
    let paid = failed.is_none_or(|it| it.iter().filter(|it| **it <= at).count() < budget);
    let satisfied = !(may_pass && made < most as usize && time && paid);
    found.require("a temporary failure is retried", at, satisfied, || {
        format!("{call} made {made} of {most} attempts until {deadline}")
    });
}

/// Checks that a suite requests another token after the first rejection of a token, if the call has time left.
fn renewed(facts: &Facts<'_>, call: &Call<'_>, at: Micros, found: &mut Found) {
    let rejected = |it: &Request<'_>| it.status() == Some(401);
    let last = facts.attempts(call).last().filter(|it| rejected(it));
    let Some((last, token)) = last.and_then(|it| Some((it, it.token()?))) else {
        return;
    };
    let requested = facts.tokens.get(&token).map_or(0, |it| it.asked);
    let renewed = facts.requests.values().any(|it| {
        let exchanged = it.attempt().is_none() && it.departed > requested;
        let before = it.departed <= at && it.id != last.id;
        it.place() == last.place() && before && (exchanged || rejected(it))
    });
    let satisfied = !call.has_time(at) || renewed;
    found.require("a rejected token is renewed", at, satisfied, || {
        format!("{call} gave up with token {token}")
    });
}
