//! What is known about each operation of a suite application.

use std::fmt;

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
    /// turns on `replay_exact`.
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

/// One row of the operation table, generated from the spec.
///
/// Generated code of the client crates states it whole; others only read it.
#[derive(Debug)]
pub struct Operation {
    /// The `operationId`.
    pub id: &'static str,
    /// The application that serves it: `crm`, `calendar`, `accounting` or `platform`.
    pub application: &'static str,
    /// The group of the client that offers it, such as `people`.
    pub group: &'static str,
    /// Its name in that group, such as `list`.
    pub name: &'static str,
    /// The HTTP method.
    pub method: Method,
    /// The path template, such as `/api/crm/v1/people/{reference}`.
    pub route: &'static str,
    /// The scopes of which the caller needs any one; empty when none is required or none is shown.
    pub scopes: &'static [&'static str],
    /// Whether it takes a bearer token.
    pub authenticated: bool,
    /// When an attempt may be repeated.
    pub safety: Safety,
    /// How its reply says that it is a replay.
    pub replay: Replay,
    /// Whether it lists pages linked by a cursor.
    pub cursor: bool,
    /// Whether it takes a body.
    pub body: bool,
    /// The `schemaVersion` that the reply must carry, where the contract shows one.
    pub schema_version: Option<&'static str>,
    /// How much of it the contract shows.
    pub provenance: Provenance,
    /// Ids of the assumptions that it rests on (`specs/ASSUMPTIONS.md`).
    pub assumptions: &'static [&'static str],
    /// The documented statuses.
    pub statuses: &'static [u16],
    /// What it does, in one line.
    pub summary: &'static str,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}
