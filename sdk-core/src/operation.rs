//! What is known about each operation of a suite application.

use std::fmt;

use crate::app::App;

/// Stands for an `operationId` where a path has none.
pub(crate) const RAW: &str = "rawCall";

/// An HTTP method that the contract uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Method {
    /// `GET`.
    Get,
    /// `POST`.
    Post,
    /// `PUT`.
    Put,
    /// `PATCH`.
    Patch,
    /// `DELETE`.
    Delete,
}

impl Method {
    /// The method as it stands on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// The method of that name on the wire.
    pub(crate) fn from_wire(name: &str) -> Option<Self> {
        [Self::Get, Self::Post, Self::Put, Self::Patch, Self::Delete]
            .into_iter()
            .find(|method| method.as_str() == name)
    }

    pub(crate) fn to_http(self) -> http::Method {
        match self {
            Self::Get => http::Method::GET,
            Self::Post => http::Method::POST,
            Self::Put => http::Method::PUT,
            Self::Patch => http::Method::PATCH,
            Self::Delete => http::Method::DELETE,
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// When an attempt of the operation may be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Safety {
    /// Changes nothing: always repeatable.
    Read,
    /// A command with an `Idempotency-Key`: repeatable with the same key and body.
    Keyed,
    /// A command without a documented key: repeated only when it was provably never sent, unless the caller
    /// allows it by `exact_replay`.
    Unkeyed,
}

impl Safety {
    /// Whether the operation can change something.
    #[must_use]
    pub const fn is_command(self) -> bool {
        !matches!(self, Self::Read)
    }
}

/// How the reply to a command says that it is the stored result of an earlier, identical one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Replay {
    /// The contract does not show it, or the operation is no command.
    NotShown,
    /// By this status; another one is the first commit.
    Status(u16),
    /// By the member `replayed` of the result.
    Member,
}

/// How much of the operation the contract shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Provenance {
    /// Method, path, scope and statuses are documented.
    Documented,
    /// Known by name only: parameters, bodies, scopes and responses are not shown.
    NameOnly,
}

impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Documented => "documented",
            Self::NameOnly => "known by name only",
        })
    }
}

/// Declares the type that users read, which may grow, and the one that generated code of other crates states whole.
macro_rules! operation {
    ($( $(#[$docs:meta])* $field:ident: $ty:ty, )+) => {
        /// One row of the operation table, generated from the spec.
        #[derive(Debug)]
        #[non_exhaustive]
        pub struct Operation {
            $( $(#[$docs])* pub $field: $ty, )+
        }

        /// All that is known of an [`Operation`]. For generated code.
        #[derive(Clone, Copy, Debug)]
        pub struct Row {
            $( $(#[$docs])* pub $field: $ty, )+
        }

        impl Operation {
            /// An operation from its row. For generated code.
            #[doc(hidden)]
            #[must_use]
            pub const fn generated(row: Row) -> Self {
                Self { $( $field: row.$field, )+ }
            }
        }
    };
}

operation! {
    /// The `operationId`.
    id: &'static str,
    /// The application that serves it.
    application: App,
    /// The group of the client that offers it, such as `people`.
    group: &'static str,
    /// Its name in that group, such as `list`.
    name: &'static str,
    /// The HTTP method.
    method: Method,
    /// The path template, such as `/api/crm/v1/people/{reference}`.
    route: &'static str,
    /// The scopes of which the caller needs any one; empty when none is required or none is shown.
    scopes: &'static [&'static str],
    /// Whether it takes a bearer token.
    authenticated: bool,
    /// When an attempt may be repeated.
    safety: Safety,
    /// How its reply says that it is a replay.
    replay: Replay,
    /// Whether it lists pages linked by a cursor.
    cursor: bool,
    /// Whether it takes a body.
    body: bool,
    /// The `schemaVersion` that the reply must carry, where the contract shows one.
    schema_version: Option<&'static str>,
    /// Whether its reply holds a secret, so that neither it nor a piece of it is ever printed.
    secret_reply: bool,
    /// How much of it the contract shows.
    provenance: Provenance,
    /// Ids of the assumptions that it rests on (`specs/ASSUMPTIONS.md`).
    assumptions: &'static [&'static str],
    /// The documented statuses.
    statuses: &'static [u16],
    /// What it does, in one line.
    summary: &'static str,
}

impl Operation {
    /// Whether it stands for a path that the table does not have.
    pub(crate) fn is_raw(&self) -> bool {
        self.id == RAW
    }

    /// Whether a token with these scopes cannot open it. What is not known is not sure.
    pub(crate) fn surely_missing(&self, granted: Option<&[String]>) -> bool {
        granted.is_some_and(|granted| {
            let is_granted = |scope: &&str| granted.iter().any(|given| given == scope);
            !self.scopes.is_empty() && !self.scopes.iter().any(is_granted)
        })
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

/// Operations that stand for whatever a raw path is: they decide safety and authentication.
#[derive(Debug)]
pub struct RawOperations {
    /// For methods that change nothing.
    pub read: Operation,
    /// For all others.
    pub command: Operation,
}

impl RawOperations {
    /// Those of an application.
    #[must_use]
    pub const fn of(application: App) -> Self {
        Self {
            read: row(application, Method::Get, Safety::Read),
            command: row(application, Method::Post, Safety::Unkeyed),
        }
    }
}

const fn row(application: App, method: Method, safety: Safety) -> Operation {
    Operation {
        id: RAW,
        application,
        group: "raw",
        name: "call",
        method,
        route: "(raw)",
        scopes: &[],
        authenticated: true,
        safety,
        replay: Replay::NotShown,
        cursor: false,
        body: safety.is_command(),
        schema_version: None,
        // What is not known may be a token.
        secret_reply: true,
        provenance: Provenance::NameOnly,
        assumptions: &[],
        statuses: &[],
        summary: "A call of a path that this SDK does not know.",
    }
}
