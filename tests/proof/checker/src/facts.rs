//! A history, sorted by what it is about.

use std::collections::{BTreeMap, BTreeSet};

use crate::event::{Asked, Command, Digest, Done, Event, Kind, Micros, Sent, Told};
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
    /// How long to wait before the next attempt.
    pub(crate) wait: Option<Micros>,
    pub(crate) odd: bool,
}

#[derive(Debug)]
pub(crate) struct Request<'a> {
    pub(crate) id: u64,
    pub(crate) suite: u32,
    pub(crate) installation: u32,
    pub(crate) sent: &'a Sent,
    pub(crate) departed: Micros,
    /// The body, once the network began to send the request.
    pub(crate) begun: Option<Digest>,
    pub(crate) arrived: bool,
    pub(crate) answer: Option<Answer<'a>>,
    /// When the suite could have read the answer to its end.
    pub(crate) offered: Option<Micros>,
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

    /// The status of the answer, if the suite read it whole.
    pub(crate) fn status(&self) -> Option<u16> {
        self.delivered().map(|answer| answer.status)
    }

    /// Whether the suite read a 2xx whole that it has no reason to reject.
    pub(crate) fn succeeded(&self) -> bool {
        let answer = self.delivered();
        answer.is_some_and(|it| it.status / 100 == 2 && !it.odd)
    }

    /// Whether the service rejected it, and the suite knows.
    pub(crate) fn was_rejected(&self) -> bool {
        self.status().is_some_and(|it| it / 100 == 4)
    }

    /// Whether the network began to send it.
    pub(crate) fn was_sent(&self) -> bool {
        self.begun.is_some() || self.arrived
    }

    /// Whether the service's answer is the last word on its call.
    pub(crate) fn is_final(&self) -> bool {
        self.succeeded() || self.was_rejected() && !matches!(self.status(), Some(401 | 408 | 429))
    }

    /// Whether its suite cannot know if it took effect. An abandoned request without a key is known to be unsent if its body
    /// was never read. The body of a keyed request is read before it connects, so it proves nothing.
    pub(crate) fn is_open(&self, kind: Kind) -> bool {
        match self.end {
            Some((_, End::Delivered)) => !self.succeeded() && !self.was_rejected(),
            Some((_, End::Broke)) => self.was_sent(),
            Some((_, End::Abandoned)) => self.begun.is_some() || kind != Kind::Unkeyed,
            None => true,
        }
    }

    /// Whether it is what its caller asked for.
    pub(crate) fn is_asked(&self, asked: &Asked) -> bool {
        let (key, target) = self.command();
        let differs = |own: Option<&str>, seen| own.is_some() && own != seen;
        !differs(asked.key.as_deref(), key)
            && !differs(asked.target.as_deref(), target)
            && (self.begun.is_none() || asked.body.is_none() || self.begun == asked.body)
    }

    /// Whether it is the command, as far as the network saw it.
    pub(crate) fn is(&self, command: &Command) -> bool {
        self.command() == (command.key.as_deref(), Some(command.target.as_str()))
            && self.begun.is_none_or(|body| body == command.body)
    }

    /// Its key, and its path and query.
    pub(crate) fn command(&self) -> (Option<&'a str>, Option<&'a str>) {
        match self.sent {
            Sent::Attempt { key, target, .. } => (key.as_deref(), Some(target)),
            Sent::Exchange { .. } => (None, None),
        }
    }

    pub(crate) fn audience(&self) -> &'a str {
        match self.sent {
            Sent::Attempt { audience, .. } | Sent::Exchange { audience } => audience,
        }
    }

    pub(crate) fn key(&self) -> Option<&'a str> {
        self.command().0
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
    pub(crate) most: Option<u32>,
    pub(crate) caller: u64,
    pub(crate) timeout: Micros,
    pub(crate) backoff: Micros,
    pub(crate) asked: &'a Asked,
    pub(crate) resends: Option<u64>,
    pub(crate) told: Option<(Micros, &'a Told)>,
    /// Its attempts, in the order in which they left.
    pub(crate) attempts: Vec<u64>,
}

impl Call<'_> {
    /// Whether its deadline is still ahead.
    pub(crate) fn has_time(&self, at: Micros) -> bool {
        self.deadline.is_some_and(|deadline| at + TICK < deadline)
    }
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
    /// Whether its suite has `other` in its place at `now`: it keeps the one that ends later, and of two
    /// that end together the first.
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
/// The shortest lifetime that a suite assumes, or it would never do anything but exchange.
const SHORTEST: Micros = 1_000_000;

/// The timer of a runtime counts whole milliseconds.
pub(crate) const TICK: Micros = 2_000;

#[derive(Debug, Default)]
pub(crate) struct Facts<'a> {
    pub(crate) requests: BTreeMap<u64, Request<'a>>,
    pub(crate) calls: BTreeMap<u64, Call<'a>>,
    pub(crate) tokens: BTreeMap<Digest, Token<'a>>,
    /// When each suite learned that a service does not accept a token.
    pub(crate) rejections: BTreeSet<(Digest, Micros)>,
    /// The concurrent attempts that each suite allows, and the retries that its budget pays for.
    pub(crate) suites: BTreeMap<u32, (Option<usize>, usize)>,
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
        facts.rejections = facts.requests.values().filter_map(rejection).collect();
        facts
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each event")]
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
                    begun: None,
                    arrived: false,
                    answer: None,
                    offered: None,
                    end: None,
                };
                self.requests.insert(*request, departed);
            }
            Event::Begun { request, body } => {
                self.change(*request, |it| it.begun = Some(*body));
            }
            Event::Offered { request, takes } => {
                self.change(*request, |it| it.offered = Some(at + takes));
            }
            Event::Arrived { request } => self.change(*request, |it| it.arrived = true),
            Event::Answered {
                request,
                status,
                body,
                done,
                wait,
                odd,
            } => {
                let (status, body, wait, odd) = (*status, *body, *wait, *odd);
                let answer = Answer {
                    at,
                    status,
                    body,
                    done,
                    wait,
                    odd,
                };
                self.change(*request, |it| it.answer = Some(answer));
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
            Event::Called {
                call,
                caller,
                suite,
                operation,
                kind,
                deadline,
                command,
                attempts,
                timeout,
                backoff,
                resends,
                asked,
            } => {
                let began = Call {
                    id: *call,
                    suite: *suite,
                    operation,
                    kind: *kind,
                    began: at,
                    deadline: *deadline,
                    command: *command,
                    most: *attempts,
                    caller: *caller,
                    timeout: *timeout,
                    backoff: *backoff,
                    asked,
                    resends: *resends,
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

    /// Whether the suite of a call cannot know if its command took effect, in this call or an earlier one.
    pub(crate) fn is_open(&self, call: &Call<'a>) -> bool {
        self.attempts(call).any(|it| it.is_open(call.kind)) || self.resends_open(call)
    }

    /// Whether the suite cannot know if the resent command took effect in an earlier call.
    pub(crate) fn resends_open(&self, call: &Call<'a>) -> bool {
        let earlier = call.resends.and_then(|it| self.calls.get(&it));
        earlier.is_some_and(|it| self.is_open(it))
    }

    /// A token that a suite can use at `now`, with less than `percent` of its lifetime elapsed.
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

/// The token that a service answered with a 401, and when the suite read that.
fn rejection(request: &Request<'_>) -> Option<(Digest, Micros)> {
    match (request.sent, request.end) {
        (Sent::Attempt { token, .. }, Some((at, _))) if request.status() == Some(401) => {
            Some(((*token)?, at))
        }
        _ => None,
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
