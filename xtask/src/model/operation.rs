//! An operation: what it takes, what it returns, and what its statuses mean.

use std::collections::BTreeSet;

use super::schema::Use;
use super::ty::Ty;

/// The methods that occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

impl Method {
    pub(crate) const ALL: [Self; 5] = [Self::Get, Self::Post, Self::Put, Self::Patch, Self::Delete];

    /// The method as it stands on the wire.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// The method as a spec writes it.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Post => "post",
            Self::Put => "put",
            Self::Patch => "patch",
            Self::Delete => "delete",
        }
    }
}

/// How an operation is authenticated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Auth {
    Public,
    Bearer,
    /// By the client credential itself: the token exchange.
    Client,
}

/// When a call may be retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Safety {
    Read,
    /// By an idempotency key.
    Keyed,
    /// By HTTP: PUT and DELETE.
    Idempotent,
    Unkeyed,
}

/// How the reply to a command says that it is a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Replay {
    NotShown,
    /// `x-replay-status`.
    Status(u16),
    /// A required boolean member `replayed` of the result.
    Member,
}

/// What a success returns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reply {
    /// JSON of one schema.
    Json(Use),
    /// No body.
    Empty,
    /// A body of this media type, which is kept as it came.
    Bytes(String),
    /// Another one for each status, as an enumeration of that name.
    Several { name: String, cases: Vec<Case> },
}

impl Reply {
    /// The type of its JSON, if that is one and the same for each success.
    pub(crate) fn ty(&self) -> Option<&Ty> {
        match self {
            Self::Json(value) => Some(&value.ty),
            _ => None,
        }
    }

    /// All types of JSON that it may have.
    pub(crate) fn types(&self) -> Vec<&Ty> {
        match self {
            Self::Several { cases, .. } => {
                cases.iter().filter_map(|case| case.reply.ty()).collect()
            }
            one => one.ty().into_iter().collect(),
        }
    }
}

/// One of several successes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Case {
    pub(crate) status: u16,
    pub(crate) variant: String,
    pub(crate) description: String,
    /// Never `Several`.
    pub(crate) reply: Reply,
}

/// A header of a success that the document describes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReplyHeader {
    pub(crate) name: String,
    pub(crate) description: String,
}

/// One operation.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Operation {
    /// Its id in camel case: that of the document, or one derived from method and path.
    pub(crate) id: String,
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) group: String,
    pub(crate) name: String,
    pub(crate) summary: String,
    pub(crate) description: String,
    /// Where the contract speaks of it.
    pub(crate) source: String,
    pub(crate) deprecated: bool,
    pub(crate) auth: Auth,
    /// Any one of them is enough.
    pub(crate) scopes: Vec<String>,
    pub(crate) name_only: bool,
    pub(crate) assumptions: BTreeSet<String>,
    pub(crate) parameters: Vec<Parameter>,
    /// Whether it takes an `Idempotency-Key`.
    pub(crate) keyed: bool,
    pub(crate) safety: Safety,
    pub(crate) replay: Replay,
    pub(crate) body: Option<Body>,
    pub(crate) reply: Reply,
    pub(crate) reply_headers: Vec<ReplyHeader>,
    pub(crate) schema_version: Option<String>,
    pub(crate) statuses: Statuses,
    pub(crate) exclusive: Vec<(String, String)>,
    /// Whether the reference server has no handler for it, and serves it from its schema.
    pub(crate) without_handler: bool,
}

/// What the statuses of an operation mean.
#[derive(Clone, Debug, Default)]
pub(crate) struct Statuses {
    pub(crate) documented: Vec<(u16, String)>,
    pub(crate) otherwise: Option<String>,
}

/// Where a parameter stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Path,
    Query,
    Header,
}

impl Place {
    /// The place as the spec calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Query => "query",
            Self::Header => "header",
        }
    }
}

/// How a list stands in the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// One parameter for each item.
    Repeated,
    Comma,
}

/// A parameter in the path, the query or a header.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    /// The name of its field, argument or setter.
    pub(crate) field: String,
    pub(crate) place: Place,
    pub(crate) required: bool,
    pub(crate) deprecated: bool,
    pub(crate) description: String,
    pub(crate) style: Style,
    pub(crate) value: Use,
}

/// A request body.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    pub(crate) description: String,
    pub(crate) required: bool,
    pub(crate) form: bool,
    /// The media type, if it is JSON under another name than `application/json`.
    pub(crate) media_type: Option<String>,
    /// A named component, an array of one, or any JSON.
    pub(crate) value: Use,
}

impl Operation {
    /// Whether it lists pages linked by a cursor.
    pub(crate) fn is_list(&self) -> bool {
        let cursor = self.parameter("cursor");
        let is_text = |it: &Parameter| matches!(it.value.ty, Ty::Text { .. });
        let is_cursor = |it: &Parameter| !it.required && is_text(it);
        matches!(self.reply.ty(), Some(Ty::Page { .. }))
            && cursor.is_some_and(is_cursor)
            && !self.is_command()
    }

    /// The parameter of that name.
    pub(crate) fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters
            .iter()
            .find(|parameter| parameter.name == name)
    }

    /// The fields of what a caller must hand in.
    pub(crate) fn arguments(&self) -> Vec<&str> {
        let required = self.parameters.iter().filter(|it| it.required);
        let fields = required.map(|parameter| &*parameter.field);
        let body = self.body.as_ref().filter(|body| body.required);
        fields.chain(body.map(|_| "body")).collect()
    }

    /// Method and path.
    pub(crate) fn route(&self) -> String {
        format!("{} {}", self.method.name(), self.path)
    }

    /// How much of it the contract shows.
    pub(crate) fn provenance(&self) -> &'static str {
        if self.name_only {
            "name only"
        } else {
            "documented"
        }
    }

    /// Whether it is a command: it may change something, and its reply is a receipt.
    pub(crate) fn is_command(&self) -> bool {
        self.method != Method::Get && self.auth != Auth::Client
    }

    /// What it returns, in one word.
    pub(crate) fn output(&self) -> &'static str {
        if self.is_command() {
            "receipt"
        } else {
            "response"
        }
    }
}
