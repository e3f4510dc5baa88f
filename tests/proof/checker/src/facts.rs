//! A history, indexed by call, request, token and suite.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Deref;

use crate::event::{Attempt, Digest, Done, Event, Failed, History, Micros, Outcome, Terms};
use crate::request::{End, Request};

#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) id: u64,
    pub(crate) began: Micros,
    pub(crate) terms: &'a Terms,
    pub(crate) outcome: Option<(Micros, &'a Outcome)>,
    /// The requests of the call, in the order of departure.
    pub(crate) attempts: Vec<u64>,
}

impl Deref for Call<'_> {
    type Target = Terms;

    fn deref(&self) -> &Terms {
        self.terms
    }
}

impl fmt::Display for Call<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "call {} of {}", self.id, self.operation)
    }
}

impl<'a> Call<'a> {
    pub(crate) fn has_time(&self, at: Micros) -> bool {
        self.deadline.is_some_and(|deadline| at + TICK < deadline)
    }

    pub(crate) fn failed(&self) -> Option<(Micros, &'a Failed)> {
        match self.outcome? {
            (at, Outcome::Error(failed)) => Some((at, failed)),
            _ => None,
        }
    }
}

/// A token from the point of view of the suite that requested it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'a> {
    pub(crate) suite: u32,
    pub(crate) installation: u32,
    pub(crate) audience: &'a str,
    pub(crate) asked: Micros,
    /// The time at which the suite received the token, if it did.
    pub(crate) delivered: Option<Micros>,
    /// The longest time for which a suite may use the token.
    pub(crate) lifetime: Micros,
}

impl Token<'_> {
    /// Returns whether the suite uses `other` at `now`. The suite keeps the later-ending token, or the first of equals.
    pub(crate) fn is_in_shadow_of(&self, other: &Self, now: Micros) -> bool {
        let known = other.delivered.is_some_and(|it| it < now);
        let ends = |it: &Self| it.asked + it.lifetime;
        let keeps =
            ends(other) > ends(self) || ends(other) == ends(self) && other.asked < self.asked;
        known && keeps
    }
}

/// The longest lifetime that the contract allows.
const LONGEST: Micros = 300_000_000;
/// The shortest lifetime that a suite assumes. With a shorter lifetime, it would only exchange tokens.
const SHORTEST: Micros = 1_000_000;

/// The tolerance for timers, because runtimes round to whole milliseconds.
pub(crate) const TICK: Micros = 2_000;

#[derive(Debug, Default)]
pub(crate) struct Facts<'a> {
    pub(crate) events: &'a [(Micros, Event)],
    pub(crate) requests: BTreeMap<u64, Request<'a>>,
    pub(crate) calls: BTreeMap<u64, Call<'a>>,
    pub(crate) tokens: BTreeMap<Digest, Token<'a>>,
    /// The tokens that services rejected, each with the time at which its suite read the rejection.
    pub(crate) rejections: BTreeSet<(Digest, Micros)>,
    /// The limit of concurrent attempts and the number of retries in the budget, for each suite.
    pub(crate) suites: BTreeMap<u32, (Option<usize>, usize)>,
    pub(crate) calm: Option<Micros>,
    pub(crate) ended: Option<Micros>,
}

impl<'a> Facts<'a> {
    pub(crate) fn of(history: &'a History) -> Self {
        let mut facts = Self {
            events: history.events(),
            ..Self::default()
        };
        for (at, event) in history.events() {
            facts.take(*at, event);
        }
        facts.tokens = facts.requests.values().filter_map(token).collect();
        facts.rejections = facts.requests.values().filter_map(rejection).collect();
        facts
    }

    fn take(&mut self, at: Micros, event: &'a Event) {
        match event {
            Event::Departed {
                request,
                suite,
                installation,
                sent,
            } => {
                let departed = Request {
                    id: *request,
                    suite: *suite,
                    installation: *installation,
                    sent,
                    departed: at,
                    begun: None,
                    arrived: false,
                    answer: None,
                    offered: None,
                    end: None,
                };
                let call = departed.attempt().map(|it| it.call);
                if let Some(call) = call.and_then(|it| self.calls.get_mut(&it)) {
                    call.attempts.push(*request);
                }
                self.requests.insert(*request, departed);
            }
            Event::Begun { request, body } => {
                self.change(*request, |it| it.begun = Some(*body));
            }
            Event::Offered { request, takes } => {
                self.change(*request, |it| it.offered = Some(at + takes));
            }
            Event::Arrived { request } => self.change(*request, |it| it.arrived = true),
            Event::Answered { request, answer } => {
                self.change(*request, |it| it.answer = Some((at, answer)));
            }
            Event::Delivered { request } => self.end(*request, at, End::Delivered),
            Event::Broke { request } => self.end(*request, at, End::Broke),
            Event::Abandoned { request } => self.end(*request, at, End::Abandoned),
            Event::Opened {
                suite,
                most,
                retries,
            } => {
                self.suites.insert(*suite, (*most, *retries));
            }
            Event::Called { call, terms } => {
                let began = Call {
                    id: *call,
                    began: at,
                    terms,
                    outcome: None,
                    attempts: Vec::new(),
                };
                self.calls.insert(*call, began);
            }
            Event::Returned { call, outcome } => {
                if let Some(call) = self.calls.get_mut(call) {
                    call.outcome = Some((at, outcome));
                }
            }
            Event::Calm => self.calm = Some(at),
            Event::Ended => self.ended = Some(at),
            _ => {}
        }
    }

    fn change(&mut self, request: u64, change: impl FnOnce(&mut Request<'a>)) {
        if let Some(request) = self.requests.get_mut(&request) {
            change(request);
        }
    }

    fn end(&mut self, request: u64, at: Micros, end: End) {
        self.change(request, |it| it.end = it.end.or(Some((at, end))));
    }

    pub(crate) fn all_attempts(&self) -> impl Iterator<Item = (&Request<'a>, &'a Attempt)> {
        let requests = self.requests.values();
        requests.filter_map(|it| Some((it, it.attempt()?)))
    }

    pub(crate) fn exchanges(&self) -> impl Iterator<Item = &Request<'a>> {
        let requests = self.requests.values();
        requests.filter(|it| it.attempt().is_none())
    }

    pub(crate) fn attempts<'f>(
        &'f self,
        call: &'f Call<'a>,
    ) -> impl Iterator<Item = &'f Request<'a>> {
        call.attempts.iter().map(|id| &self.requests[id])
    }

    /// Returns whether the suite cannot know if the command took effect, in this call or an earlier call.
    pub(crate) fn is_open(&self, call: &Call<'a>) -> bool {
        self.attempts(call).any(|it| it.is_open(call.kind)) || self.resends_open(call)
    }

    /// Returns whether the suite cannot know if the resent command took effect in an earlier call.
    pub(crate) fn resends_open(&self, call: &Call<'a>) -> bool {
        let earlier = call.resends.and_then(|it| self.calls.get(&it));
        earlier.is_some_and(|it| self.is_open(it))
    }

    /// Returns a token that a suite can use at `now`, with less than `percent` of its lifetime elapsed.
    pub(crate) fn token(
        &self,
        (suite, audience): (u32, &str),
        now: Micros,
        percent: Micros,
    ) -> Option<&Token<'a>> {
        let own = |it: &Token<'_>| (it.suite, it.audience) == (suite, audience);
        let held = || self.tokens.iter().filter(move |(_, it)| own(it));
        let found = held().find(|(digest, token)| {
            let known = token.delivered.is_some_and(|it| it < now);
            let young = now + TICK < token.asked + token.lifetime * percent / 100;
            let mut rejected = self.rejections.range((**digest, 0)..=(**digest, now));
            known
                && young
                && rejected.next().is_none()
                && !held().any(|(_, other)| token.is_in_shadow_of(other, now))
        });
        found.map(|(_, token)| token)
    }
}

/// Returns the token that a service rejected with a 401, and the time at which the suite read the response.
fn rejection(request: &Request<'_>) -> Option<(Digest, Micros)> {
    let rejected = request.status() == Some(401);
    let token = request.token().filter(|_| rejected);
    token.zip(request.end.map(|(at, _)| at))
}

fn token<'a>(request: &Request<'a>) -> Option<(Digest, Token<'a>)> {
    let Done::Issued {
        token,
        audience,
        stated,
        lasts,
    } = request.done()
    else {
        return None;
    };
    let lifetime = stated.map_or(*lasts, |stated| stated.min(*lasts));
    let issued = Token {
        suite: request.suite,
        installation: request.installation,
        audience,
        asked: request.departed,
        delivered: request.delivered().and(request.end).map(|(at, _)| at),
        lifetime: lifetime.clamp(SHORTEST, LONGEST),
    };
    Some((*token, issued))
}
