//! A token is used by the suite that asked for it, while it lives, and no sooner replaced than needed.

use std::collections::BTreeMap;

use crate::event::{Sent, Told};
use crate::facts::{Facts, TICK};
use crate::laws::Found;
use crate::request::Request;

pub(crate) fn hold(facts: &Facts<'_>, found: &mut Found) {
    used(facts, found);
    exchanged(facts, found);
    missed(facts, found);
    resent(facts, found);
}

fn used(facts: &Facts<'_>, found: &mut Found) {
    for request in facts.requests.values() {
        let Sent::Attempt {
            call,
            audience,
            token,
            tenant,
            ..
        } = request.sent
        else {
            continue;
        };
        let (now, place) = (request.departed, request.installation);
        let own = *tenant == place;
        found.hold("headers stay in their installation", now, own, || {
            format!("call {call} sent the header of installation {tenant} to {place}")
        });
        let Some(digest) = token else { continue };
        let token = facts.tokens.get(digest);
        let home = token.map(|it| (it.suite, it.installation, it.audience));
        let own = home == Some((request.suite, place, audience.as_str()));
        found.hold("a token stays in its installation", now, own, || {
            let suite = request.suite;
            format!("call {call} of suite {suite} at installation {place} sent {token:?}")
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
    for request in facts.requests.values() {
        let Sent::Exchange { audience } = request.sent else {
            continue;
        };
        let (now, id, suite) = (request.departed, request.id, request.suite);
        let at = (suite, audience.as_str());
        let law = "rejected exchanges are not repeated in a loop";
        let waited = rejected.get(&at).is_none_or(|end| now >= end + PAUSE);
        found.hold(law, now, waited, || {
            format!("request {id} of suite {suite}")
        });
        if let (Some((end, _)), Some(400 | 401)) = (request.end, request.status()) {
            rejected.insert(at, end);
        }
        if let Some((other, end)) = flights.get(&at) {
            found.hold("one exchange at a time", now, *end <= now, || {
                format!("requests {other} and {id} of suite {suite} for {audience}")
            });
        }
        let end = request.end.map_or(u64::MAX, |(end, _)| end);
        flights.insert(at, (id, end));
        // A quarter is left for the renewal, and up to a twentieth of chance.
        let fresh = facts.token(at, now, 70);
        found.hold("one exchange a generation", now, fresh.is_none(), || {
            format!("request {id} of suite {suite}, which has {fresh:?}")
        });
    }
}

/// How long a refusal may be doubted of a token that works elsewhere.
const DOUBT: u64 = 5_000_000;

/// A token that worked and is refused was revoked: nobody sends it any more.
fn resent(facts: &Facts<'_>, found: &mut Found) {
    let rejected = &facts.rejections;
    let mut worked: BTreeMap<u64, u64> = BTreeMap::new();
    for request in facts.requests.values() {
        let Sent::Attempt {
            call,
            token: Some(token),
            ..
        } = request.sent
        else {
            continue;
        };
        let now = request.departed;
        let known = worked.get(token).filter(|at| **at + DOUBT < now);
        let mut refused = known.into_iter().flat_map(|at| {
            let until = now - DOUBT;
            rejected.range((*token, *at + 1)..(*token, until.max(*at + 1)))
        });
        let kept = refused.next().is_none();
        found.hold("a revoked token is not sent again", now, kept, || {
            format!("call {call}: token {token}")
        });
        if let (Some(200..=299 | 403 | 404 | 409 | 422), Some((at, _))) =
            (request.status(), request.end)
        {
            let first = worked.entry(*token).or_insert(at);
            *first = at.min(*first);
        }
    }
}

/// No caller goes without a token while its suite has one.
fn missed(facts: &Facts<'_>, found: &mut Found) {
    let operation = |it: &Request<'_>| match it.sent {
        Sent::Attempt { call, .. } => Some(facts.calls.get(call)?.operation.as_str()),
        Sent::Exchange { .. } => None,
    };
    let requests = facts.requests.values();
    let audiences: BTreeMap<&str, &str> = requests
        .filter_map(|it| Some((operation(it)?, it.audience())))
        .collect();
    for call in facts.calls.values() {
        let Some((at, Told::Error { tokenless, .. })) = call.told else {
            continue;
        };
        let audience = audiences.get(&*call.operation).filter(|_| *tokenless);
        let held = audience.and_then(|it| facts.token((call.suite, it), at, 100));
        found.hold("a live token serves", at, held.is_none(), || {
            let (id, operation) = (call.id, &call.operation);
            format!("call {id} of {operation} failed without a token: {held:?}")
        });
    }
}
