//! A token is used by the suite that asked for it, while it lives, and no sooner replaced than needed. Headers stay in their
//! installation, too.

use std::collections::BTreeMap;

use crate::facts::{Facts, TICK};
use crate::laws::Found;

pub(crate) fn hold(facts: &Facts<'_>, found: &mut Found) {
    used(facts, found);
    exchanged(facts, found);
    missed(facts, found);
    resent(facts, found);
}

fn used(facts: &Facts<'_>, found: &mut Found) {
    for (request, attempt) in facts.all_attempts() {
        let (now, place, call) = (request.departed, request.installation, attempt.call);
        let (tenant, own) = (attempt.tenant, attempt.tenant == place);
        found.hold("headers stay in their installation", now, own, || {
            format!("call {call} sent the header of installation {tenant} to {place}")
        });
        let Some(digest) = attempt.token else {
            continue;
        };
        let token = facts.tokens.get(&digest);
        let home = token.map(|it| ((it.suite, it.audience), it.installation));
        let own = home == Some((request.place(), place));
        found.hold("a token stays in its installation", now, own, || {
            format!("call {call}: {request} at installation {place} sent {token:?}")
        });
        let live = token.is_some_and(|it| now <= it.asked + it.lifetime + TICK);
        found.hold("no dead token is sent", now, live, || {
            format!("call {call} sent {token:?}")
        });
    }
}

/// The shortest wait after a failed renewal that any suite is set to.
const PAUSE: u64 = 50_000;

fn exchanged(facts: &Facts<'_>, found: &mut Found) {
    let mut flights: BTreeMap<(u32, &str), (u64, u64)> = BTreeMap::new();
    let mut rejected: BTreeMap<(u32, &str), u64> = BTreeMap::new();
    for request in facts.exchanges() {
        let (now, at) = (request.departed, request.place());
        let law = "rejected exchanges are not repeated in a loop";
        let waited = rejected.get(&at).is_none_or(|end| now >= end + PAUSE);
        found.hold(law, now, waited, || request.to_string());
        if let (Some((end, _)), Some(400 | 401)) = (request.end, request.status()) {
            rejected.insert(at, end);
        }
        if let Some((other, end)) = flights.insert(at, (request.id, request.ended())) {
            found.hold("one exchange at a time", now, end <= now, || {
                format!("{request} after request {other} for {}", at.1)
            });
        }
        // A quarter is left for the renewal, and up to a twentieth of chance.
        let fresh = facts.token(at, now, 70);
        found.hold("one exchange a generation", now, fresh.is_none(), || {
            format!("{request}, which has {fresh:?}")
        });
    }
}

/// How long a refusal may be doubted of a token that works elsewhere.
const DOUBT: u64 = 5_000_000;

/// A token that worked and is refused was revoked: nobody sends it any more.
fn resent(facts: &Facts<'_>, found: &mut Found) {
    let mut worked: BTreeMap<u64, u64> = BTreeMap::new();
    for (request, attempt) in facts.all_attempts() {
        let Some(token) = attempt.token else { continue };
        let now = request.departed;
        let known = worked.get(&token).filter(|at| **at + DOUBT < now);
        let mut refused = known.into_iter().flat_map(|at| {
            let until = now - DOUBT;
            let rejected = &facts.rejections;
            rejected.range((token, *at + 1)..(token, until.max(*at + 1)))
        });
        let kept = refused.next().is_none();
        found.hold("a revoked token is not sent again", now, kept, || {
            format!("call {}: token {token}", attempt.call)
        });
        if matches!(request.status(), Some(200..=299 | 403 | 404 | 409 | 422)) {
            let first = worked.entry(token).or_insert(u64::MAX);
            *first = request.ended().min(*first);
        }
    }
}

/// No caller goes without a token while its suite has one.
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
        let held = audience.and_then(|it| facts.token((call.suite, it), at, 100));
        found.hold("a live token serves", at, held.is_none(), || {
            format!("{call} failed without a token: {held:?}")
        });
    }
}
