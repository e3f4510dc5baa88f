//! The contract's data about each operation and application.

use std::fmt;

use crate::app::App;

/// The ID of a call to a path without an operation.
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
    /// The method's name in HTTP.
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

/// The condition under which a call of the operation may be retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Safety {
    /// A call that changes nothing. It may always be retried.
    Read,
    /// A command with an `Idempotency-Key`. It may be retried with the same key and body.
    Keyed,
    /// A command without a key that HTTP defines as idempotent (PUT, DELETE). It may be retried within a call. A later
    /// resend could undo changes by others. A stored command that was already sent is therefore treated as `Unkeyed`.
    Idempotent,
    /// A command without a documented key. It is retried only if it is known to be unsent, or if the caller allows it
    /// with `exact_replay`.
    Unkeyed,
}

impl Safety {
    /// Whether the operation can change something.
    #[must_use]
    pub const fn is_command(self) -> bool {
        !matches!(self, Self::Read)
    }
}

/// The mark of a response that is the stored result of an earlier, identical command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Replay {
    /// The contract documents no mark, or the operation isn't a command.
    Undocumented,
    /// This status. Any other status means a first commit.
    Status(u16),
    /// The `replayed` field of the result.
    Field,
}

/// The extent to which the contract documents the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Provenance {
    /// Method, path, scope and statuses are documented.
    Documented,
    /// The contract contains only the name. Parameters, bodies, scopes and responses are undocumented.
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

/// An operation of the contract, with the facts that the SDK needs. Generated from the spec.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each bool is a separate fact from the spec"
)]
#[non_exhaustive]
pub struct Operation {
    /// The `operationId`.
    pub id: &'static str,
    /// The application that serves the operation.
    pub application: App,
    /// The group of the client that offers it, such as `people`.
    pub group: &'static str,
    /// The operation's name in that group, such as `list`.
    pub name: &'static str,
    /// The HTTP method.
    pub method: Method,
    /// The path template, such as `/api/crm/v1/people/{reference}`.
    pub route: &'static str,
    /// The accepted scopes, of which one is enough. Empty if no scope is required or documented.
    pub scopes: &'static [&'static str],
    /// Whether the operation requires a bearer token.
    pub authenticated: bool,
    /// The condition under which a call may be retried.
    pub safety: Safety,
    /// The mark of a response that is a replay.
    pub replay: Replay,
    /// Whether the operation lists pages linked by a cursor.
    pub cursor: bool,
    /// Whether the operation takes a body.
    pub body: bool,
    /// Whether the body is optional.
    pub optional_body: bool,
    /// The media type of the body, if it isn't `application/json`.
    pub media_type: Option<&'static str>,
    /// The value of the `Accept` header, if the success response isn't only JSON.
    pub accept: Option<&'static str>,
    /// The `schemaVersion` of the response, if the contract documents a version.
    pub schema_version: Option<&'static str>,
    /// Whether the response contains a secret, so that no part of it is ever printed.
    pub secret_response: bool,
    /// The extent to which the contract documents the operation.
    pub provenance: Provenance,
    /// The IDs of the assumptions about the operation (`specs/ASSUMPTIONS.md`).
    pub assumptions: &'static [&'static str],
    /// The documented statuses.
    pub statuses: &'static [u16],
    /// A summary of the operation in one line.
    pub summary: &'static str,
}

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
    /// Creates a documented operation without parameters, body or scopes. Generated code then sets the fields.
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
            replay: Replay::Undocumented,
            cursor: false,
            body: false,
            optional_body: false,
            media_type: None,
            accept: None,
            schema_version: None,
            secret_response: false,
            provenance: Provenance::Documented,
            assumptions: &[],
            statuses: &[],
            summary: "",
        }
    }

    /// Returns the operation if it can be sent. In a `static` of generated code, an invalid operation doesn't compile.
    #[doc(hidden)]
    #[must_use]
    pub const fn checked(self) -> Self {
        assert!(
            is_header(self.media_type) && is_header(self.accept),
            "a media type must be a valid header value"
        );
        self
    }

    pub(crate) fn has_json_body(&self) -> bool {
        let media_type = self.media_type.and_then(|it| it.split(';').next());
        media_type.is_none_or(|it| it.trim().ends_with("json"))
    }

    pub(crate) fn is_raw(&self) -> bool {
        self.id == RAW
    }

    /// Whether these scopes are known to be insufficient for the operation. False if the scopes are unknown.
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
    /// The application.
    pub app: App,
    /// The application's title.
    pub title: &'static str,
    /// The version of the contract that this SDK was generated from.
    pub contract_version: &'static str,
    /// The documented values of the application's status.
    pub statuses: &'static [&'static str],
    /// Whether the contract documents the application's error body. If so, its field `retryable` counts.
    pub documents_envelope: bool,
    /// The operation that returns the application's metadata, if there is such an operation.
    pub metadata: Option<&'static Operation>,
    /// The required fields of the metadata, with the values of constants. Empty if they are undocumented.
    pub metadata_members: &'static [(&'static str, Option<&'static str>)],
    /// The application's operations.
    pub operations: &'static [&'static Operation],
    /// The placeholders for paths without an operation.
    pub raw: RawOperations,
}

impl Application {
    pub(crate) fn operation(&self, id: &str) -> Option<&'static Operation> {
        let mut operations = self.operations.iter().copied();
        operations.find(|operation| operation.id == id)
    }
}

/// Placeholder operations for raw paths. They define safety and authentication.
#[derive(Debug)]
pub struct RawOperations {
    /// The operation for GET.
    pub read: Operation,
    /// The operation for all other methods.
    pub command: Operation,
}

impl RawOperations {
    /// Creates the placeholders of an application.
    ///
    /// # Panics
    /// If the application is missing in `App::ALL`. Its client, which calls this in a static, then doesn't compile.
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
    // The response might contain a token.
    operation.secret_response = true;
    operation.provenance = Provenance::NameOnly;
    operation.summary = "A call of a path that this SDK does not know.";
    operation
}
