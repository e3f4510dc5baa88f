//! A token is used by the suite that asked for it, while it lives, and no sooner replaced than needed.

use std::collections::BTreeMap;

use crate::event::{Sent, Told};
use crate::facts::{Facts, TICK};
use crate::laws::Found;

pub(crate) fn hold(facts: &Facts<'_>, found: &mut Found) {
    used(facts, found);
    exchanged(facts, found);
    missed(facts, found);
    resent(facts, found);
}

fn used(facts: &Facts<'_>, found: &mut Found) {
    for request in facts.requests.values() {
        if let Sent::Attempt { call, tenant, .. } = request.sent {
            let (now, own) = (request.departed, *tenant == request.installation);
            found.hold("headers stay in their installation", now, own, || {
                let place = request.installation;
                format!("call {call} sent the header of installation {tenant} to {place}")
            });
        }
        let Sent::Attempt {
            call,
            audience,
            token: Some(digest),
            ..
        } = request.sent
        else {
            continue;
        };
        let token = facts.tokens.get(digest);
        let own = token.is_some_and(|it| {
            (it.suite, it.installation, it.audience)
                == (request.suite, request.installation, audience)
        });
        found.hold(
            "a token stays in its installation",
            request.departed,
            own,
            || {
                let (suite, installation) = (request.suite, request.installation);
                format!(
                    "call {call} of suite {suite} at installation {installation} sent {token:?}"
                )
            },
        );
        let live = token.is_some_and(|it| request.departed <= it.asked + it.lifetime + TICK);
        found.hold("no dead token is sent", request.departed, live, || {
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
        let at = (request.suite, audience.as_str());
        let now = request.departed;
        let soon = rejected.get(&at).is_some_and(|end| now < end + PAUSE);
        found.hold(
            "rejected exchanges are not repeated in a loop",
            now,
            !soon,
            || format!("request {} of suite {}", request.id, at.0),
        );
        if let (Some((end, _)), 400 | 401) = (request.end, request.status().unwrap_or_default()) {
            rejected.insert(at, end);
        }
        if let Some((other, end)) = flights.get(&at) {
            found.hold("one exchange at a time", now, *end <= now, || {
                format!(
                    "requests {other} and {} of suite {} for {audience}",
                    request.id, at.0
                )
            });
        }
        let end = request.end.map_or(u64::MAX, |(end, _)| end);
        flights.insert(at, (request.id, end));
        // A quarter is left for the renewal, and up to a twentieth of chance.
        let fresh = facts.token(at, now, 70);
        found.hold("one exchange a generation", now, fresh.is_none(), || {
            format!(
                "request {} of suite {}, which has {fresh:?}",
                request.id, at.0
            )
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
        found.hold(
            "a revoked token is not sent again",
            now,
            refused.next().is_none(),
            || format!("call {call}: token {token}"),
        );
        if let (Some(answer), Some((at, _))) = (request.delivered(), request.end)
            && matches!(answer.status, 200..=299 | 403 | 404 | 409 | 422)
        {
            let first = worked.entry(*token).or_insert(at);
            *first = at.min(*first);
        }
    }
}

/// No caller goes without a token while its suite has one.
fn missed(facts: &Facts<'_>, found: &mut Found) {
    let audiences: BTreeMap<&str, &str> = facts
        .requests
        .values()
        .filter_map(|it| match it.sent {
            Sent::Attempt { call, audience, .. } => {
                Some((facts.calls.get(call)?.operation, audience.as_str()))
            }
            Sent::Exchange { .. } => None,
        })
        .collect();
    for call in facts.calls.values() {
        let Some((
            at,
            Told::Error {
                tokenless: true, ..
            },
        )) = call.told
        else {
            continue;
        };
        let audience = audiences.get(call.operation);
        let held = audience.and_then(|it| facts.token((call.suite, it), at, 100));
        found.hold("a live token serves", at, held.is_none(), || {
            format!(
                "call {} of {} failed without a token: {held:?}",
                call.id, call.operation
            )
        });
    }
}
