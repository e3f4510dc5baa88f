//! A request, and the facts that its suite can know about it.

use std::fmt;

use crate::event::{Answer, Asked, Attempt, Command, Digest, Done, Kind, Micros, Sent};

/// The way in which a request ended for the suite that sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Delivered,
    Broke,
    Abandoned,
}

#[derive(Debug)]
pub(crate) struct Request<'a> {
    pub(crate) id: u64,
    pub(crate) suite: u32,
    pub(crate) installation: u32,
    pub(crate) sent: &'a Sent,
    pub(crate) departed: Micros,
    /// The digest of the body, once the network has begun to send the request.
    pub(crate) begun: Option<Digest>,
    pub(crate) arrived: bool,
    /// The answer of the server, and the time of its decision.
    pub(crate) answer: Option<(Micros, &'a Answer)>,
    /// The time by which the suite could have read the answer to the end.
    pub(crate) offered: Option<Micros>,
    pub(crate) end: Option<(Micros, End)>,
}

impl fmt::Display for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "request {} of suite {}", self.id, self.suite)
    }
}

impl<'a> Request<'a> {
    pub(crate) fn done(&self) -> &'a Done {
        self.answer
            .map_or(&Done::Nothing, |(_, answer)| &answer.done)
    }

    pub(crate) fn committed(&self) -> Option<&'a str> {
        match self.done() {
            Done::Committed { reference } => Some(reference),
            _ => None,
        }
    }

    /// Returns the answer, if the suite read it completely.
    pub(crate) fn delivered(&self) -> Option<&'a Answer> {
        let delivered = self.end.is_some_and(|(_, end)| end == End::Delivered);
        self.answer.filter(|_| delivered).map(|(_, answer)| answer)
    }

    pub(crate) fn status(&self) -> Option<u16> {
        self.delivered().map(|answer| answer.status)
    }

    /// Returns whether the suite read a complete 2xx that it has no reason to reject.
    pub(crate) fn succeeded(&self) -> bool {
        let answer = self.delivered();
        answer.is_some_and(|it| it.status / 100 == 2 && !it.odd)
    }

    /// Returns whether the service rejected the request and the suite knows.
    pub(crate) fn was_rejected(&self) -> bool {
        self.status().is_some_and(|it| it / 100 == 4)
    }

    pub(crate) fn was_sent(&self) -> bool {
        self.begun.is_some() || self.arrived
    }

    /// Returns whether the service's answer ends the call.
    pub(crate) fn is_final(&self) -> bool {
        self.succeeded() || self.was_rejected() && !matches!(self.status(), Some(401 | 408 | 429))
    }

    /// Returns whether the suite cannot know if the request took effect. An abandoned request without a key is known
    /// not to have been sent if its body was never read. With a key, the body is read before the connection, so reading
    /// it proves nothing.
    pub(crate) fn is_open(&self, kind: Kind) -> bool {
        match self.end {
            Some((_, End::Delivered)) => !self.succeeded() && !self.was_rejected(),
            Some((_, End::Broke)) => self.was_sent(),
            Some((_, End::Abandoned)) => self.begun.is_some() || kind != Kind::Unkeyed,
            None => true,
        }
    }

    /// Returns whether the request matches its caller's input.
    pub(crate) fn is_asked(&self, asked: &Asked) -> bool {
        let (key, target) = self.command();
        let differs = |own: Option<&str>, seen| own.is_some() && own != seen;
        !differs(asked.key.as_deref(), key)
            && !differs(asked.target.as_deref(), target)
            && (self.begun.is_none() || asked.body.is_none() || self.begun == asked.body)
    }

    /// Returns whether the request is this command, as far as the network observed it.
    pub(crate) fn is(&self, command: &Command) -> bool {
        self.command() == (command.key.as_deref(), Some(command.target.as_str()))
            && self.begun.is_none_or(|body| body == command.body)
    }

    pub(crate) fn attempt(&self) -> Option<&'a Attempt> {
        match self.sent {
            Sent::Attempt(attempt) => Some(attempt),
            Sent::Exchange { .. } => None,
        }
    }

    /// Returns the key, and the path with the query.
    pub(crate) fn command(&self) -> (Option<&'a str>, Option<&'a str>) {
        let attempt = self.attempt();
        (self.key(), attempt.map(|it| it.target.as_str()))
    }

    pub(crate) fn key(&self) -> Option<&'a str> {
        self.attempt()?.key.as_deref()
    }

    pub(crate) fn token(&self) -> Option<Digest> {
        self.attempt()?.token
    }

    /// Returns the suite and the audience of the target application.
    pub(crate) fn place(&self) -> (u32, &'a str) {
        match self.sent {
            Sent::Attempt(Attempt { audience, .. }) | Sent::Exchange { audience } => {
                (self.suite, audience)
            }
        }
    }

    pub(crate) fn ended(&self) -> Micros {
        self.end.map_or(Micros::MAX, |(end, _)| end)
    }

    /// Returns the delay that the service asked for, if the suite knows it.
    pub(crate) fn wait(&self) -> Option<Micros> {
        self.delivered()?.wait
    }
}
