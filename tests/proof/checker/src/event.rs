//! What is recorded of a world: what the network and the servers saw, and what callers were told.

/// Time since the world began.
pub type Micros = u64;

/// A digest of bytes: equal bytes have equal ones.
pub type Digest = u64;

/// One record of a history. Whoever records it assigns the numbers; each kind of thing has its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// The network took a request from a suite, and nobody has read it yet.
    Departed {
        /// The request: an attempt, or an exchange.
        request: u64,
        /// The suite that sent it. A service that restarts has a new one.
        suite: u32,
        /// The installation that it is addressed to.
        installation: u32,
        /// What it is.
        sent: Sent,
    },
    /// The server read a request whole.
    Arrived {
        /// The request.
        request: u64,
    },
    /// The server decided on its answer, which the network may lose.
    Answered {
        /// The request.
        request: u64,
        /// The HTTP status.
        status: u16,
        /// Of the body.
        body: Digest,
        /// What the answer did.
        done: Done,
    },
    /// The suite read the reply to its end.
    Delivered {
        /// The request.
        request: u64,
    },
    /// The network told the suite that the request failed: refused, reset, or broken off.
    Broke {
        /// The request.
        request: u64,
    },
    /// The suite stopped waiting for the reply.
    Abandoned {
        /// The request.
        request: u64,
    },

    /// A caller began a call.
    Called {
        /// The call.
        call: u64,
        /// Its suite.
        suite: u32,
        /// The operation.
        operation: String,
        /// How it may be repeated.
        kind: Kind,
        /// The instant at which it ends at the latest.
        deadline: Option<Micros>,
        /// The stored command that it sends.
        command: Option<u64>,
    },
    /// A caller was told how its call ended.
    Returned {
        /// The call.
        call: u64,
        /// How it ended.
        told: Told,
    },

    /// An installation has this record in this list; those of one list come in its order.
    Exists {
        /// The installation.
        installation: u32,
        /// The list.
        list: String,
        /// The record.
        record: String,
    },
    /// A consumer began to read a list from its start.
    WalkBegan {
        /// The walk, which goes on over failures and restarts.
        walk: u64,
        /// The installation.
        installation: u32,
        /// The list.
        list: String,
    },
    /// A consumer kept a record for good, together with its checkpoint.
    Took {
        /// The walk.
        walk: u64,
        /// The record.
        record: String,
    },
    /// A consumer was told that the list has ended.
    WalkEnded {
        /// The walk.
        walk: u64,
    },

    /// A service stored a command before it was sent.
    Stored {
        /// The command.
        command: u64,
        /// The installation that it is for.
        installation: u32,
        /// Its key, if its operation has one.
        key: Option<String>,
    },
    /// A service stored the receipt of a command, and will not send it again.
    Settled {
        /// The command.
        command: u64,
        /// What the receipt names.
        reference: String,
    },
    /// A service left a command to a person.
    Parked {
        /// The command.
        command: u64,
        /// Whether it may have been sent.
        was_sent: bool,
        /// Whether the server refused it for good.
        refused: bool,
        /// What the person reads.
        reason: String,
    },

    /// A service was killed, with all its suites.
    Crashed {
        /// Its suites.
        suites: Vec<u32>,
    },
    /// From here on nothing goes wrong any more, and services have the time they need.
    Calm,
    /// The world ended; everything that was going to happen has.
    Ended,

    /// A secret that nobody may read.
    Secret {
        /// The secret.
        text: String,
    },
    /// A line that somebody may read: of a log, of an error, of a `Debug`.
    Logged {
        /// The line.
        line: String,
    },
}

/// What a request is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Sent {
    /// An exchange of the credential for a token.
    Exchange {
        /// The audience that is asked for.
        audience: String,
    },
    /// An attempt of a call.
    Attempt {
        /// The call.
        call: u64,
        /// The audience of the application that it is addressed to.
        audience: String,
        /// The bearer token, if it carries one.
        token: Option<Digest>,
        /// The idempotency key, if it carries one.
        key: Option<String>,
        /// Of its body.
        body: Digest,
    },
}

/// What an answer did at the server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Done {
    /// Nothing: a read or a refusal.
    Nothing,
    /// It committed a command.
    Committed {
        /// The record that the result names.
        reference: String,
    },
    /// It repeated the result of an earlier commit.
    Replayed {
        /// The record that the result names.
        reference: String,
    },
    /// It issued a token.
    Issued {
        /// The token.
        token: Digest,
        /// The audience of the token.
        audience: String,
        /// How long it says the token lasts.
        stated: Option<Micros>,
        /// How long the token lasts.
        lasts: Micros,
    },
}

/// How a call may be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// As often as one likes.
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
    Reply {
        /// Of its body.
        body: Digest,
    },
    /// The receipt of a command.
    Receipt {
        /// Of its body.
        body: Digest,
        /// The key that it was sent with.
        key: Option<String>,
        /// The record that it names.
        reference: String,
        /// Whether it is said to repeat an earlier result.
        replayed: bool,
    },
    /// An error.
    Error {
        /// What it says of the effect.
        effect: Effect,
        /// Its kind, for people.
        kind: String,
        /// Whether there was no token to send.
        tokenless: bool,
        /// How many attempts it says were made.
        attempts: u32,
    },
    /// Nothing: its caller dropped it.
    Dropped,
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
