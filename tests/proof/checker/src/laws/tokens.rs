//! A token is used by the suite that asked for it, while it lives, and no sooner replaced than needed.

use std::collections::{BTreeMap, BTreeSet};

use crate::event::{Sent, Told};
use crate::facts::{Facts, Token};
use crate::laws::Found;

/// The timer of a runtime counts whole milliseconds.
const TICK: u64 = 2_000;

pub(crate) fn hold(facts: &Facts<'_>, found: &mut Found) {
    used(facts, found);
    exchanged(facts, found);
    missed(facts, found);
}

fn used(facts: &Facts<'_>, found: &mut Found) {
    for request in facts.requests.values() {
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

/// When each suite was told that a service does not accept a token.
fn rejections(facts: &Facts<'_>) -> BTreeSet<(u64, u64)> {
    let attempts = facts.requests.values();
    attempts
        .filter_map(|it| match (it.sent, it.end) {
            (Sent::Attempt { token, .. }, Some((at, _))) if it.answer?.status == 401 => {
                Some(((*token)?, at))
            }
            _ => None,
        })
        .collect()
}

fn exchanged(facts: &Facts<'_>, found: &mut Found) {
    let rejected = rejections(facts);
    let mut flights: BTreeMap<(u32, &str), (u64, u64)> = BTreeMap::new();
    let mut tokens: BTreeMap<(u32, &str), Vec<(u64, Token<'_>)>> = BTreeMap::new();
    for (digest, token) in &facts.tokens {
        let at = (token.suite, token.audience);
        tokens.entry(at).or_default().push((*digest, *token));
    }
    for request in facts.requests.values() {
        let Sent::Exchange { audience } = request.sent else {
            continue;
        };
        let at = (request.suite, audience.as_str());
        let now = request.departed;
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
        let held = tokens.get(&at).map_or(&[][..], Vec::as_slice);
        let useful = held.iter().filter(|(digest, token)| {
            let known = token.delivered.is_some_and(|delivered| delivered <= now);
            // A quarter is left for the renewal, and up to a twentieth of chance.
            let fresh = now + TICK < token.asked + token.lifetime * 7 / 10;
            known
                && fresh
                && !held
                    .iter()
                    .any(|(_, other)| token.is_in_shadow_of(other, now))
                && rejected
                    .range((*digest, 0)..=(*digest, now))
                    .next()
                    .is_none()
        });
        for (_, token) in useful {
            found.hold("one exchange a generation", now, false, || {
                format!(
                    "request {} of suite {}, which has {token:?}",
                    request.id, at.0
                )
            });
        }
    }
}

/// No caller goes without a token while its suite has one.
fn missed(facts: &Facts<'_>, found: &mut Found) {
    let rejected = rejections(facts);
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
        let held = facts.tokens.iter().find(|(digest, token)| {
            let known = token.delivered.is_some_and(|delivered| delivered < at);
            let live = at + TICK < token.asked + token.lifetime;
            let own = token.suite == call.suite && Some(&token.audience) == audience;
            let replaced = || {
                let others = facts.tokens.values();
                let mut others =
                    others.filter(|it| (it.suite, it.audience) == (token.suite, token.audience));
                others.any(|other| token.is_in_shadow_of(other, at))
            };
            known
                && live
                && own
                && !replaced()
                && rejected
                    .range((**digest, 0)..=(**digest, at))
                    .next()
                    .is_none()
        });
        found.hold("a live token serves", at, held.is_none(), || {
            format!(
                "call {} of {} failed without a token: {held:?}",
                call.id, call.operation
            )
        });
    }
}
