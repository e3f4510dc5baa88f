//! The events of a simulation: network traffic, server decisions and results of calls.
#![expect(
    missing_docs,
    reason = "the comment of a type or variant explains its fields"
)]

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// The time since the simulation began.
pub type Micros = u64;

/// A digest of bytes. Equal bytes have equal digests.
pub type Digest = u64;

/// The events of one simulation. Equal seeds must give equal histories.
#[derive(Clone, Debug, Default)]
pub struct History(Vec<(Micros, Event)>);

impl History {
    /// Adds an event. Times must not decrease.
    pub fn record(&mut self, at: Micros, event: Event) {
        self.0.push((at, event));
    }

    /// Returns all events.
    pub fn events(&self) -> &[(Micros, Event)] {
        &self.0
    }

    /// Returns a digest of all events, to compare two runs with the same seed.
    pub fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.0.hash(&mut hasher);
        hasher.finish()
    }
}

/// An event of a history. The recorder assigns the numbers, separately for each kind of item.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// The network accepted a request of `suite`, addressed to `installation`. A service that restarts has a new suite.
    Departed {
        request: u64,
        suite: u32,
        installation: u32,
        sent: Sent,
    },
    /// The network began to send a request with this body (0 if it is empty). After this, the suite can't rule out that
    /// the request arrived.
    Begun { request: u64, body: Digest },
    /// The server read the complete request.
    Arrived { request: u64 },
    /// The server decided on its answer. The network can still lose the answer.
    Answered { request: u64, answer: Answer },
    /// The answer reached the suite, which can read it to the end within `takes`.
    Offered { request: u64, takes: Micros },
    /// The suite read the response to the end.
    Delivered { request: u64 },
    /// The network reported to the suite that the request failed: refused, reset or interrupted.
    Broke { request: u64 },
    /// The suite stopped waiting for the response.
    Abandoned { request: u64 },

    /// A suite was built. It allows at most `most` concurrent attempts per application, and its retry budget for each
    /// application covers `retries` retries if no call succeeds.
    Opened {
        suite: u32,
        most: Option<usize>,
        retries: usize,
    },
    /// A caller began a call.
    Called { call: u64, terms: Terms },
    /// A call returned its outcome to the caller.
    Returned { call: u64, outcome: Outcome },

    /// An installation has this record in this list. These events follow list order.
    Exists {
        installation: u32,
        list: String,
        record: String,
    },
    /// A consumer began reading a list from the beginning. The same reading resumes after failures and restarts.
    ListingBegan {
        listing: u64,
        installation: u32,
        list: String,
    },
    /// A consumer stored a record permanently, together with its checkpoint.
    Took { listing: u64, record: String },
    /// A consumer reached the end of the list.
    ListingEnded { listing: u64 },

    /// A service stored a command for an installation before sending it.
    Stored {
        command: u64,
        installation: u32,
        form: Command,
    },
    /// A service stored the receipt of a command and will not send the command again.
    Settled { command: u64, reference: String },
    /// A service set a command aside for a person, because it may have been sent or the server rejected it permanently.
    Parked {
        command: u64,
        was_sent: bool,
        refused: bool,
        reason: String,
    },

    /// A service was killed, with all its suites.
    Crashed { suites: Vec<u32> },
    /// No request of this simulation gets a fault, so only rejected calls fail.
    Faultless,
    /// From now on, there are no more faults, and services have the time they need.
    Calm,
    /// The simulation exceeded this limit on its steps or its virtual time and was stopped.
    Stuck { limit: String },
    /// The simulation ended, and all pending work is complete.
    Ended,

    /// A secret that no line may contain.
    Secret { text: String },
    /// A line that users can read: from a log, an error or a `Debug` output.
    Logged { line: String },
}

/// The purpose of a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Sent {
    /// A request for a token of this audience.
    Exchange { audience: String },
    /// An attempt of a call.
    Attempt(Attempt),
}

/// An attempt of a call to the application with this audience. `tenant` is the installation that the default header of
/// the client names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Attempt {
    pub call: u64,
    pub audience: String,
    pub token: Option<Digest>,
    pub tenant: u32,
    pub key: Option<String>,
    pub target: String,
}

/// An answer of a server. `wait` is the delay that it requests before the next attempt. An `odd` answer differs from
/// the contract, so a suite may reject it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Answer {
    pub status: u16,
    pub body: Digest,
    pub done: Done,
    pub wait: Option<Micros>,
    pub odd: bool,
}

/// The terms of a call, which ends by `deadline` and makes at most `most` attempts, not counting attempts after a 401.
/// `timeout` limits each attempt, and `backoff` limits the delay between attempts. `command` is the stored command that
/// the call sends. `resends` is the earlier call whose error returned the command that this call sends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Terms {
    pub caller: u64,
    pub suite: u32,
    pub operation: String,
    pub kind: Kind,
    pub deadline: Option<Micros>,
    pub command: Option<u64>,
    pub most: Option<u32>,
    pub timeout: Micros,
    pub backoff: Micros,
    pub resends: Option<u64>,
    pub asked: Asked,
}

/// The parts of a request that the caller determines, if the simulation knows them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Asked {
    pub key: Option<String>,
    pub target: Option<String>,
    pub body: Option<Digest>,
}

/// A command in its wire form, with its idempotency key, path with query, and body.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Command {
    pub key: Option<String>,
    pub target: String,
    pub body: Digest,
}

/// The effect of an answer at the server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Done {
    /// No effect: a read or a rejection.
    Nothing,
    /// The server committed a command, and the result names this record.
    Committed { reference: String },
    /// The server repeated the result of an earlier commit.
    Replayed { reference: String },
    /// The server issued a token. `stated` is the lifetime in the response, and `lasts` is the actual lifetime.
    Issued {
        token: Digest,
        audience: String,
        stated: Option<Micros>,
        lasts: Micros,
    },
}

/// The condition under which a call may be repeated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Any number of times.
    #[default]
    Read,
    /// Any number of times with the same key.
    Keyed,
    /// Only if the request is known not to have arrived.
    Unkeyed,
}

/// The outcome of a call, as its caller got it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The response to a read.
    Response { body: Digest },
    /// The receipt of a command, with the key that was sent and the record that it names.
    Receipt {
        body: Digest,
        key: Option<String>,
        reference: String,
        replayed: bool,
    },
    /// An error.
    Error(Failed),
    /// No result, because the caller dropped the call.
    Dropped,
}

/// An error. `tokenless` means that the call had no token. `command` is the command that the error returns for a
/// resend.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Failed {
    pub effect: Effect,
    pub kind: String,
    pub tokenless: bool,
    pub attempts: u32,
    pub command: Option<Command>,
}

/// The effect of a call, as an error reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// The server never received the request.
    NotSent,
    /// The server rejected the request.
    Refused,
    /// The request may have taken effect.
    Unknown,
}
