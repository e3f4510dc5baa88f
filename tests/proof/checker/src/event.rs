//! What is recorded of a world: what the network and the servers saw, and what callers were told.
#![expect(
    missing_docs,
    reason = "the text of a type or of a variant names its fields"
)]

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Time since the world began.
pub type Micros = u64;

/// A digest of bytes: equal bytes have equal ones.
pub type Digest = u64;

/// The records of one world. Equal seeds must give equal histories.
#[derive(Clone, Debug, Default)]
pub struct History(Vec<(Micros, Event)>);

impl History {
    /// Adds a record; times never go back.
    pub fn record(&mut self, at: Micros, event: Event) {
        self.0.push((at, event));
    }

    /// All records.
    pub fn events(&self) -> &[(Micros, Event)] {
        &self.0
    }

    /// A digest of everything that happened, by which two runs of one seed are compared.
    pub fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.0.hash(&mut hasher);
        hasher.finish()
    }
}

/// One record of a history. Whoever records it assigns the numbers; each kind of thing has its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// The network took a request of `suite`, addressed to `installation`. A service that restarts has a new suite.
    Departed {
        request: u64,
        suite: u32,
        installation: u32,
        sent: Sent,
    },
    /// The network began to send a request, with this body (0 if it is empty). From here on its suite cannot know that it did
    /// not arrive.
    Begun { request: u64, body: Digest },
    /// The server read a request whole.
    Arrived { request: u64 },
    /// The server decided on its answer, which the network may lose.
    Answered { request: u64, answer: Answer },
    /// The answer came back to the suite, which can read it to its end within `takes`.
    Offered { request: u64, takes: Micros },
    /// The suite read the reply to its end.
    Delivered { request: u64 },
    /// The network told the suite that the request failed: refused, reset, or broken off.
    Broke { request: u64 },
    /// The suite stopped waiting for the reply.
    Abandoned { request: u64 },

    /// A suite was built that allows at most `most` concurrent attempts per application, and whose budget for an application
    /// pays for `retries` retries without a success.
    Opened {
        suite: u32,
        most: Option<usize>,
        retries: usize,
    },
    /// A caller began a call.
    Called { call: u64, terms: Terms },
    /// A caller was told how its call ended.
    Returned { call: u64, told: Told },

    /// An installation has this record in this list; those of one list come in its order.
    Exists {
        installation: u32,
        list: String,
        record: String,
    },
    /// A consumer began to read a list from its start, and goes on over failures and restarts.
    WalkBegan {
        walk: u64,
        installation: u32,
        list: String,
    },
    /// A consumer kept a record for good, together with its checkpoint.
    Took { walk: u64, record: String },
    /// A consumer was told that the list has ended.
    WalkEnded { walk: u64 },

    /// A service stored a command for an installation before it was sent.
    Stored {
        command: u64,
        installation: u32,
        form: Command,
    },
    /// A service stored the receipt of a command, and will not send it again.
    Settled { command: u64, reference: String },
    /// A service left a command to a person: it may have been sent, or the server refused it for good.
    Parked {
        command: u64,
        was_sent: bool,
        refused: bool,
        reason: String,
    },

    /// A service was killed, with all its suites.
    Crashed { suites: Vec<u32> },
    /// No request is struck in this simulation, so that only rejected calls fail.
    Faultless,
    /// From here on nothing goes wrong any more, and services have the time they need.
    Calm,
    /// The simulation passed this limit on its steps or its virtual time, and was stopped.
    Stuck { limit: String },
    /// The world ended; everything that was going to happen has.
    Ended,

    /// A secret that nobody may read.
    Secret { text: String },
    /// A line that somebody may read: of a log, of an error, of a `Debug`.
    Logged { line: String },
}

/// What a request is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Sent {
    /// An exchange of the credential for a token of this audience.
    Exchange { audience: String },
    /// An attempt of a call.
    Attempt(Attempt),
}

/// An attempt of a call to the application with this audience, with its bearer token and its idempotency key, if any, and its
/// path and query. The default header of the client names the installation `tenant`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Attempt {
    pub call: u64,
    pub audience: String,
    pub token: Option<Digest>,
    pub tenant: u32,
    pub key: Option<String>,
    pub target: String,
}

/// An answer: the HTTP status, the digest of the body, what it did, and how long to wait before the next attempt, if it says so.
/// An `odd` answer differs from the contract, so a suite may reject it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Answer {
    pub status: u16,
    pub body: Digest,
    pub done: Done,
    pub wait: Option<Micros>,
    pub odd: bool,
}

/// The terms of a call. It ends at `deadline` at the latest, makes at most `most` attempts, those after a 401 not counted, each
/// of which may take `timeout`, waits at most `backoff` between them, and sends the stored `command`, if any. It may send the
/// command that the error of an earlier call returned, which is the call that it `resends`.
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

/// The parts of a request that its caller determines, as far as the simulation knows their form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Asked {
    pub key: Option<String>,
    pub target: Option<String>,
    pub body: Option<Digest>,
}

/// A command as it is sent: its idempotency key, if any, its path and query, and its body.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Command {
    pub key: Option<String>,
    pub target: String,
    pub body: Digest,
}

/// What an answer did at the server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Done {
    /// Nothing: a read or a refusal.
    Nothing,
    /// It committed a command; the result names this record.
    Committed { reference: String },
    /// It repeated the result of an earlier commit.
    Replayed { reference: String },
    /// It issued a token: how long it says that it lasts, if at all, and how long it does.
    Issued {
        token: Digest,
        audience: String,
        stated: Option<Micros>,
        lasts: Micros,
    },
}

/// How a call may be repeated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Kind {
    /// As often as one likes.
    #[default]
    Read,
    /// With its key.
    Keyed,
    /// Never, once it may have arrived.
    Unkeyed,
}

/// What a caller was told.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Told {
    /// The reply to a read.
    Reply { body: Digest },
    /// The receipt of a command: the key that it was sent with, the record, and whether it is said to repeat a result.
    Receipt {
        body: Digest,
        key: Option<String>,
        reference: String,
        replayed: bool,
    },
    /// An error.
    Error(Failed),
    /// Nothing: its caller dropped it.
    Dropped,
}

/// An error: its effect, its kind, whether the call had no token, its attempt count, and the command that it returns for a
/// resend.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Failed {
    pub effect: Effect,
    pub kind: String,
    pub tokenless: bool,
    pub attempts: u32,
    pub command: Option<Command>,
}

/// What an error says of the effect of its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// The server never saw it.
    NotSent,
    /// The server refused it.
    Refused,
    /// It may have taken effect or not.
    Unknown,
}
