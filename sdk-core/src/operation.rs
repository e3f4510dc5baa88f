//! What the contract says about each operation.

use std::fmt;

use crate::app::App;

/// The id of a path without an operation.
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
    /// Its name on the wire.
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

    /// The method with this name on the wire.
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

/// When a call of the operation may be retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Safety {
    /// Changes nothing: may always be retried.
    Read,
    /// A command with an `Idempotency-Key`: may be retried with the same key and body.
    Keyed,
    /// A command without a key that HTTP calls idempotent (PUT, DELETE): may be retried within a call. Later it could undo what
    /// others did meanwhile, so a stored one that was sent counts as one without a key.
    Idempotent,
    /// A command without a documented key: retried only if it was certainly not sent, or if the caller allows it with
    /// `exact_replay`.
    Unkeyed,
}

impl Safety {
    /// Whether the operation can change something.
    #[must_use]
    pub const fn is_command(self) -> bool {
        !matches!(self, Self::Read)
    }
}

/// How a reply shows that it is the stored result of an earlier, identical command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Replay {
    /// The contract does not show it, or the operation is not a command.
    NotShown,
    /// By this status; any other means a first commit.
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

/// Declares the public type, which may grow, and the one that generated code of other crates constructs.
macro_rules! operation {
    ($( $(#[$docs:meta])* $field:ident: $ty:ty, )+) => {
        /// One row of the operation table, generated from the spec.
        #[derive(Debug)]
        #[non_exhaustive]
        pub struct Operation {
            $( $(#[$docs])* pub $field: $ty, )+
        }

        /// All fields of an [`Operation`]. For generated code.
        #[derive(Clone, Copy, Debug)]
        pub struct Row {
            $( $(#[$docs])* pub $field: $ty, )+
        }

        impl Operation {
            /// An operation from its row. For generated code.
            #[doc(hidden)]
            #[must_use]
            pub const fn generated(row: Row) -> Self {
                assert!(is_header(row.media_type) && is_header(row.accept), "a media type is a header");
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
    /// The scopes, any one of which is enough; empty if none is required or shown.
    scopes: &'static [&'static str],
    /// Whether it takes a bearer token.
    authenticated: bool,
    /// When a call may be retried.
    safety: Safety,
    /// How its reply shows that it is a replay.
    replay: Replay,
    /// Whether it lists pages linked by a cursor.
    cursor: bool,
    /// Whether it takes a body.
    body: bool,
    /// Whether the body may be left out.
    optional_body: bool,
    /// The media type of the body, if it is not `application/json`.
    media_type: Option<&'static str>,
    /// What it asks for with `Accept`, if its success is not only JSON.
    accept: Option<&'static str>,
    /// The `schemaVersion` of the reply, if the contract shows one.
    schema_version: Option<&'static str>,
    /// Whether its reply contains a secret, so that no part of it is ever printed.
    secret_reply: bool,
    /// How much of it the contract shows.
    provenance: Provenance,
    /// Ids of the assumptions about it (`specs/ASSUMPTIONS.md`).
    assumptions: &'static [&'static str],
    /// The documented statuses.
    statuses: &'static [u16],
    /// What it does, in one line.
    summary: &'static str,
}

/// Whether a text can be the value of a header.
const fn is_header(text: Option<&str>) -> bool {
    let Some(text) = text else { return true };
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        if !matches!(first, b' '..=b'~') {
            return false;
        }
        rest = after;
    }
    true
}

impl Operation {
    /// Whether its body is JSON.
    pub(crate) fn has_json_body(&self) -> bool {
        let media_type = self.media_type.and_then(|it| it.split(';').next());
        media_type.is_none_or(|it| it.trim().ends_with("json"))
    }

    /// Whether it stands for a path without an operation.
    pub(crate) fn is_raw(&self) -> bool {
        self.id == RAW
    }

    /// Whether a token with these scopes certainly cannot call it; false if its scopes are unknown.
    pub(crate) fn lacks_required_scope(&self, granted: Option<&[String]>) -> bool {
        let is_missing =
            |scope: &&str| granted.is_some_and(|all| !all.iter().any(|it| it == scope));
        !self.scopes.is_empty() && self.scopes.iter().all(is_missing)
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

/// Stand-ins for a raw path, which decide on safety and authentication.
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
        optional_body: true,
        media_type: None,
        accept: None,
        schema_version: None,
        // The reply might contain a token.
        secret_reply: true,
        provenance: Provenance::NameOnly,
        assumptions: &[],
        statuses: &[],
        summary: "A call of a path that this SDK does not know.",
    }
}
