//! An operation, with its parameters, body, response and statuses.

use std::collections::BTreeSet;

use super::schema::Use;
use super::ty::Ty;

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

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Auth {
    Public,
    Bearer,
    /// With the client credential itself, for the token exchange.
    Client,
}

/// The condition under which a call may be retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Safety {
    Read,
    /// With an idempotency key.
    Keyed,
    /// By the rules of HTTP, for PUT and DELETE.
    Idempotent,
    Unkeyed,
}

/// The mark of a replay in the response to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Replay {
    Undocumented,
    /// `x-replay-status`.
    Status(u16),
    /// A required boolean field `replayed` of the result.
    Field,
}

/// The successful response of an operation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reply {
    /// JSON of one schema.
    Json(Use),
    /// No body.
    Empty,
    /// A body of this media type, returned as received.
    Bytes(String),
    /// A different response per status, as an enum with this name.
    Several { name: String, cases: Vec<Case> },
}

impl Reply {
    /// The type of the JSON, if all successes have the same type.
    pub(crate) fn ty(&self) -> Option<&Ty> {
        match self {
            Self::Json(value) => Some(&value.ty),
            _ => None,
        }
    }

    pub(crate) fn types(&self) -> Vec<&Ty> {
        match self {
            Self::Several { cases, .. } => {
                cases.iter().filter_map(|case| case.reply.ty()).collect()
            }
            single => single.ty().into_iter().collect(),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Case {
    pub(crate) status: u16,
    pub(crate) variant: String,
    pub(crate) description: String,
    /// Never `Several`.
    pub(crate) reply: Reply,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReplyHeader {
    pub(crate) name: String,
    pub(crate) description: String,
}

#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate fact")]
pub(crate) struct Operation {
    /// The ID in camel case, from the document or derived from method and path.
    pub(crate) id: String,
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) group: String,
    pub(crate) name: String,
    pub(crate) summary: String,
    pub(crate) description: String,
    /// The section of the contract.
    pub(crate) source: String,
    pub(crate) deprecated: bool,
    pub(crate) auth: Auth,
    /// Alternative scopes. Any of them is sufficient.
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
    /// Whether the reference server serves it from its schema, without a handler.
    pub(crate) without_handler: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Statuses {
    pub(crate) documented: Vec<(u16, String)>,
    pub(crate) otherwise: Option<String>,
}

/// The place of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Path,
    Query,
    Header,
}

impl Place {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Query => "query",
            Self::Header => "header",
        }
    }
}

/// The style of a list in the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// One parameter per item.
    Repeated,
    Comma,
}

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

#[derive(Clone, Debug)]
pub(crate) struct Body {
    pub(crate) description: String,
    pub(crate) required: bool,
    pub(crate) form: bool,
    /// The media type, if it is JSON but not `application/json`.
    pub(crate) media_type: Option<String>,
    /// A named component, an array of named components, or any JSON.
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

    pub(crate) fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters
            .iter()
            .find(|parameter| parameter.name == name)
    }

    /// The names of the required arguments.
    pub(crate) fn arguments(&self) -> Vec<&str> {
        let required = self.parameters.iter().filter(|it| it.required);
        let fields = required.map(|parameter| &*parameter.field);
        let body = self.body.as_ref().filter(|body| body.required);
        fields.chain(body.map(|_| "body")).collect()
    }

    pub(crate) fn route(&self) -> String {
        format!("{} {}", self.method.name(), self.path)
    }

    pub(crate) fn provenance(&self) -> &'static str {
        if self.name_only {
            "name only"
        } else {
            "documented"
        }
    }

    /// Whether it is a command, which may change data and returns a receipt.
    pub(crate) fn is_command(&self) -> bool {
        self.method != Method::Get && self.auth != Auth::Client
    }

    pub(crate) fn output(&self) -> &'static str {
        if self.is_command() {
            "receipt"
        } else {
            "response"
        }
    }
}
