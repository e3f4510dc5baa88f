//! What the contract says about each operation, and about each application.

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

/// One row of the operation table, generated from the spec.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own from the spec"
)]
#[non_exhaustive]
pub struct Operation {
    /// The `operationId`.
    pub id: &'static str,
    /// The application that serves it.
    pub application: App,
    /// The group of the client that offers it, such as `people`.
    pub group: &'static str,
    /// Its name in that group, such as `list`.
    pub name: &'static str,
    /// The HTTP method.
    pub method: Method,
    /// The path template, such as `/api/crm/v1/people/{reference}`.
    pub route: &'static str,
    /// The scopes, any one of which is enough; empty if none is required or shown.
    pub scopes: &'static [&'static str],
    /// Whether it takes a bearer token.
    pub authenticated: bool,
    /// When a call may be retried.
    pub safety: Safety,
    /// How its reply shows that it is a replay.
    pub replay: Replay,
    /// Whether it lists pages linked by a cursor.
    pub cursor: bool,
    /// Whether it takes a body.
    pub body: bool,
    /// Whether the body may be left out.
    pub optional_body: bool,
    /// The media type of the body, if it is not `application/json`.
    pub media_type: Option<&'static str>,
    /// What it asks for with `Accept`, if its success is not only JSON.
    pub accept: Option<&'static str>,
    /// The `schemaVersion` of the reply, if the contract shows one.
    pub schema_version: Option<&'static str>,
    /// Whether its reply contains a secret, so that no part of it is ever printed.
    pub secret_reply: bool,
    /// How much of it the contract shows.
    pub provenance: Provenance,
    /// Ids of the assumptions about it (`specs/ASSUMPTIONS.md`).
    pub assumptions: &'static [&'static str],
    /// The documented statuses.
    pub statuses: &'static [u16],
    /// What it does, in one line.
    pub summary: &'static str,
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
    /// A documented call without parameters, body or scopes, of which generated code then sets the fields.
    #[doc(hidden)]
    #[must_use]
    pub const fn generated(
        application: App,
        id: &'static str,
        method: Method,
        route: &'static str,
    ) -> Self {
        Self {
            id,
            application,
            group: "",
            name: "",
            method,
            route,
            scopes: &[],
            authenticated: true,
            safety: Safety::Read,
            replay: Replay::NotShown,
            cursor: false,
            body: false,
            optional_body: false,
            media_type: None,
            accept: None,
            schema_version: None,
            secret_reply: false,
            provenance: Provenance::Documented,
            assumptions: &[],
            statuses: &[],
            summary: "",
        }
    }

    /// The same, if it can be sent: where that is a `static`, it does not compile otherwise. For generated code.
    #[doc(hidden)]
    #[must_use]
    pub const fn checked(self) -> Self {
        assert!(
            is_header(self.media_type) && is_header(self.accept),
            "a media type is a header"
        );
        self
    }

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

/// An application and its operations, generated from its spec.
#[derive(Debug)]
pub struct Application {
    /// Which one it is.
    pub app: App,
    /// Its title.
    pub title: &'static str,
    /// The version of the contract that this SDK was built from.
    pub contract_version: &'static str,
    /// The values of its status, by the contract.
    pub statuses: &'static [&'static str],
    /// Whether the contract shows its error envelope. If so, its `retryable` counts.
    pub shows_envelope: bool,
    /// The operation that reports its metadata, if there is one.
    pub metadata: Option<&'static Operation>,
    /// The required members of its metadata, with the values of constants; empty if the contract does not show them.
    pub metadata_members: &'static [(&'static str, Option<&'static str>)],
    /// Its operations.
    pub operations: &'static [&'static Operation],
    /// The stand-ins for paths without an operation.
    pub raw: RawOperations,
}

impl Application {
    /// The operation with this id.
    pub(crate) fn operation(&self, id: &str) -> Option<&'static Operation> {
        let mut operations = self.operations.iter().copied();
        operations.find(|operation| operation.id == id)
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
    ///
    /// # Panics
    /// If `App::ALL` lacks the application: its client, which has them in a static, then doesn't compile.
    #[must_use]
    pub const fn of(application: App) -> Self {
        assert!(
            application.is_listed(),
            "the application is missing in `App::ALL`"
        );
        Self {
            read: raw(application, Method::Get, Safety::Read),
            command: raw(application, Method::Post, Safety::Unkeyed),
        }
    }
}

const fn raw(application: App, method: Method, safety: Safety) -> Operation {
    let mut operation = Operation::generated(application, RAW, method, "(raw)");
    operation.group = "raw";
    operation.name = "call";
    operation.safety = safety;
    operation.body = safety.is_command();
    operation.optional_body = true;
    // The reply might contain a token.
    operation.secret_reply = true;
    operation.provenance = Provenance::NameOnly;
    operation.summary = "A call of a path that this SDK does not know.";
    operation
}
