//! A token is used only by the suite that requested it, only while it is valid, and is not replaced earlier than
//! needed. Headers also stay in their installation.

use std::collections::BTreeMap;

use crate::facts::{Facts, TICK};
use crate::invariants::Found;

pub(crate) fn check(facts: &Facts<'_>, found: &mut Found) {
    used(facts, found);
    exchanged(facts, found);
    missed(facts, found);
    resent(facts, found);
}

fn used(facts: &Facts<'_>, found: &mut Found) {
    for (request, attempt) in facts.all_attempts() {
        let (now, place, call) = (request.departed, request.installation, attempt.call);
        let (tenant, own) = (attempt.tenant, attempt.tenant == place);
        found.require("headers stay in their installation", now, own, || {
            format!("call {call} sent the header of installation {tenant} to {place}")
        });
        let Some(digest) = attempt.token else {
            continue;
        };
        let token = facts.tokens.get(&digest);
        let home = token.map(|it| ((it.suite, it.audience), it.installation));
        let own = home == Some((request.place(), place));
        found.require("a token stays in its installation", now, own, || {
            format!("call {call}: {request} at installation {place} sent {token:?}")
        });
        let live = token.is_some_and(|it| now <= it.asked + it.lifetime + TICK);
        found.require("no expired token is sent", now, live, || {
            format!("call {call} sent {token:?}")
        });
    }
}

/// The shortest delay after a failed renewal that any suite is configured with.
const PAUSE: u64 = 50_000;

fn exchanged(facts: &Facts<'_>, found: &mut Found) {
    let mut flights: BTreeMap<(u32, &str), (u64, u64)> = BTreeMap::new();
    let mut rejected: BTreeMap<(u32, &str), u64> = BTreeMap::new();
    for request in facts.exchanges() {
        let (now, at) = (request.departed, request.place());
        let invariant = "rejected exchanges are not repeated in a loop";
        let waited = rejected.get(&at).is_none_or(|end| now >= end + PAUSE);
        found.require(invariant, now, waited, || request.to_string());
        if let (Some((end, _)), Some(400 | 401)) = (request.end, request.status()) {
            rejected.insert(at, end);
        }
        if let Some((other, end)) = flights.insert(at, (request.id, request.ended())) {
            found.require("one exchange at a time", now, end <= now, || {
                format!("{request} after request {other} for {}", at.1)
            });
        }
        // The last quarter of the lifetime is for the renewal. Jitter takes up to a twentieth.
        let fresh = facts.token(at, now, 70);
        found.require("one exchange per token", now, fresh.is_none(), || {
            format!("{request}, which has {fresh:?}")
        });
    }
}

/// The time for which a suite may ignore the rejection of a token that works elsewhere.
const DOUBT: u64 = 5_000_000;

/// Checks that a token that worked and was then rejected, and is therefore revoked, is not sent again.
fn resent(facts: &Facts<'_>, found: &mut Found) {
    let mut worked: BTreeMap<u64, u64> = BTreeMap::new();
    for (request, attempt) in facts.all_attempts() {
        let Some(token) = attempt.token else { continue };
        let now = request.departed;
        let known = worked.get(&token).filter(|at| **at + DOUBT < now);
        let mut rejected_again = known.into_iter().flat_map(|at| {
            let until = now - DOUBT;
            let rejected = &facts.rejections;
            rejected.range((token, *at + 1)..(token, until.max(*at + 1)))
        });
        let satisfied = rejected_again.next().is_none();
        found.require("a revoked token is not sent again", now, satisfied, || {
            format!("call {}: token {token}", attempt.call)
        });
        if matches!(request.status(), Some(200..=299 | 403 | 404 | 409 | 422)) {
            let first = worked.entry(token).or_insert(u64::MAX);
            *first = request.ended().min(*first);
        }
    }
}

/// Checks that no call fails without a token while its suite has one.
fn missed(facts: &Facts<'_>, found: &mut Found) {
    let operation = |call| Some(facts.calls.get(call)?.operation.as_str());
    let audiences: BTreeMap<&str, &str> = facts
        .all_attempts()
        .filter_map(|(_, it)| Some((operation(&it.call)?, it.audience.as_str())))
        .collect();
    for call in facts.calls.values() {
        let Some((at, failed)) = call.failed() else {
            continue;
        };
        let audience = audiences.get(&*call.operation).filter(|_| failed.tokenless);
        let usable = audience.and_then(|it| facts.token((call.suite, it), at, 100));
        found.require("a live token is used", at, usable.is_none(), || {
            format!("{call} failed without a token: {usable:?}")
        });
    }
}
