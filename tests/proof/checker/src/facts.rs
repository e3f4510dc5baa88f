//! A history, sorted by what it is about.

use std::collections::BTreeMap;

use crate::event::{Digest, Done, Event, Kind, Micros, Sent, Told};
use crate::history::History;

/// How a request ended for the suite that sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Delivered,
    Broke,
    Abandoned,
}

/// What the server answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer<'a> {
    pub(crate) at: Micros,
    pub(crate) status: u16,
    pub(crate) body: Digest,
    pub(crate) done: &'a Done,
}

#[derive(Debug)]
pub(crate) struct Request<'a> {
    pub(crate) id: u64,
    pub(crate) suite: u32,
    pub(crate) installation: u32,
    pub(crate) sent: &'a Sent,
    pub(crate) departed: Micros,
    pub(crate) begun: bool,
    pub(crate) arrived: bool,
    pub(crate) answer: Option<Answer<'a>>,
    pub(crate) end: Option<(Micros, End)>,
}

impl<'a> Request<'a> {
    pub(crate) fn done(&self) -> &'a Done {
        self.answer.map_or(&Done::Nothing, |answer| answer.done)
    }

    /// The record that it committed.
    pub(crate) fn committed(&self) -> Option<&'a str> {
        match self.done() {
            Done::Committed { reference } => Some(reference),
            _ => None,
        }
    }

    /// The answer, if the suite read it whole.
    pub(crate) fn delivered(&self) -> Option<Answer<'a>> {
        let delivered = self.end.is_some_and(|(_, end)| end == End::Delivered);
        self.answer.filter(|_| delivered)
    }

    pub(crate) fn key(&self) -> Option<&'a str> {
        match self.sent {
            Sent::Attempt { key, .. } => key.as_deref(),
            Sent::Exchange { .. } => None,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) id: u64,
    pub(crate) suite: u32,
    pub(crate) operation: &'a str,
    pub(crate) kind: Kind,
    pub(crate) began: Micros,
    pub(crate) deadline: Option<Micros>,
    pub(crate) command: Option<u64>,
    pub(crate) told: Option<(Micros, &'a Told)>,
    /// Its attempts, in the order in which they left.
    pub(crate) attempts: Vec<u64>,
}

/// A token, as the suite that asked for it may use it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'a> {
    pub(crate) suite: u32,
    pub(crate) installation: u32,
    pub(crate) audience: &'a str,
    pub(crate) asked: Micros,
    /// When the suite had it, if it ever did.
    pub(crate) delivered: Option<Micros>,
    /// How long a suite may take it to last.
    pub(crate) lifetime: Micros,
}

impl Token<'_> {
    /// Whether its suite has `other` in its place at `now`: it keeps the one that ends later.
    pub(crate) fn is_in_shadow_of(&self, other: &Self, now: Micros) -> bool {
        let known = other.delivered.is_some_and(|it| it < now);
        known && other.asked + other.lifetime > self.asked + self.lifetime
    }
}

/// The longest lifetime that the contract allows.
const LONGEST: Micros = 300_000_000;
/// The shortest lifetime that a suite assumes, or it would never do anything but exchange.
const SHORTEST: Micros = 1_000_000;

#[derive(Debug, Default)]
pub(crate) struct Facts<'a> {
    pub(crate) requests: BTreeMap<u64, Request<'a>>,
    pub(crate) calls: BTreeMap<u64, Call<'a>>,
    pub(crate) tokens: BTreeMap<Digest, Token<'a>>,
    pub(crate) calm: Option<Micros>,
    pub(crate) ended: Option<Micros>,
}

impl<'a> Facts<'a> {
    pub(crate) fn of(history: &'a History) -> Self {
        let mut facts = Self::default();
        for (at, event) in history.events() {
            facts.take(at, event);
        }
        facts.tokens = facts.requests.values().filter_map(token).collect();
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
                if let Sent::Attempt { call, .. } = sent
                    && let Some(call) = self.calls.get_mut(call)
                {
                    call.attempts.push(*request);
                }
                let departed = Request {
                    id: *request,
                    suite: *suite,
                    installation: *installation,
                    sent,
                    departed: at,
                    begun: false,
                    arrived: false,
                    answer: None,
                    end: None,
                };
                self.requests.insert(*request, departed);
            }
            Event::Begun { request } => self.change(*request, |it| it.begun = true),
            Event::Arrived { request } => self.change(*request, |it| it.arrived = true),
            Event::Answered {
                request,
                status,
                body,
                done,
            } => {
                let (status, body) = (*status, *body);
                let answer = Answer {
                    at,
                    status,
                    body,
                    done,
                };
                self.change(*request, |it| it.answer = Some(answer));
            }
            Event::Delivered { request } => self.end(*request, at, End::Delivered),
            Event::Broke { request } => self.end(*request, at, End::Broke),
            Event::Abandoned { request } => self.end(*request, at, End::Abandoned),
            Event::Called {
                call,
                suite,
                operation,
                kind,
                deadline,
                command,
            } => {
                let began = Call {
                    id: *call,
                    suite: *suite,
                    operation,
                    kind: *kind,
                    began: at,
                    deadline: *deadline,
                    command: *command,
                    told: None,
                    attempts: Vec::new(),
                };
                self.calls.insert(*call, began);
            }
            Event::Returned { call, told } => {
                if let Some(call) = self.calls.get_mut(call) {
                    call.told = Some((at, told));
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

    /// The attempts of a call.
    pub(crate) fn attempts<'f>(
        &'f self,
        call: &'f Call<'a>,
    ) -> impl Iterator<Item = &'f Request<'a>> {
        call.attempts.iter().map(|id| &self.requests[id])
    }
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
