//! The facts that the responses show, and the evidence for and against assumptions.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::HeaderMap;
use http::header::DATE;
use jiff::Timestamp;
use sdk_core::{App, ContractReport, Operation};
use serde_json::Value;

#[derive(Default)]
pub(crate) struct Facts {
    pub(crate) tokens: Vec<Token>,
    /// The scope in the token request for a single scope.
    pub(crate) scope: &'static str,
    pub(crate) contracts: BTreeMap<App, ContractReport>,
    pub(crate) responses: Vec<Seen>,
    /// The evidence of schemas and settings, by assumption.
    pub(crate) evidence: Vec<(&'static str, Evidence)>,
}

/// A token and the form of its request.
pub(crate) struct Token {
    pub(crate) app: App,
    pub(crate) audience: String,
    /// Whether the audience is the application's origin, because no audience is set.
    pub(crate) is_by_origin: bool,
    /// Whether the Platform issued the token, because no token URL is set.
    pub(crate) is_by_platform: bool,
    pub(crate) response: Seen,
}

/// A response, whether or not the SDK accepted it.
#[derive(Clone)]
pub(crate) struct Seen {
    pub(crate) name: &'static str,
    pub(crate) app: App,
    /// `None` for a path that no operation has.
    pub(crate) operation: Option<&'static Operation>,
    pub(crate) with_token: bool,
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// The seconds by which this machine's clock is ahead of the server's clock.
    pub(crate) skew: Option<i64>,
}

impl Seen {
    pub(crate) fn new(app: App, status: u16, headers: &HeaderMap, body: Bytes) -> Self {
        let date = headers.get(DATE).and_then(|date| date.to_str().ok());
        let date = date.and_then(|date| jiff::fmt::rfc2822::parse(date).ok());
        let skew = date.map(|date| Timestamp::now().as_second() - date.timestamp().as_second());
        Self {
            name: "",
            app,
            operation: None,
            with_token: false,
            status,
            headers: headers.clone(),
            body,
            skew,
        }
    }

    pub(crate) fn label(&self) -> &'static str {
        self.operation.map_or(self.name, |it| it.id)
    }

    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Whether the application permanently rejected the request. A gateway's temporary failures have other statuses.
    pub(crate) fn is_rejection(&self) -> bool {
        matches!(self.status, 400 | 401 | 403 | 404 | 405 | 409 | 422)
    }

    /// Whether the response depends on the request, and not on the permissions of the client.
    pub(crate) fn is_telling(&self) -> bool {
        self.is_success() || matches!(self.status, 400 | 404 | 405 | 422)
    }

    pub(crate) fn needs_token(&self) -> bool {
        self.operation.is_some_and(|it| it.authenticated)
    }

    pub(crate) fn outline(&self) -> String {
        let code = self
            .code()
            .map_or(String::new(), |code| format!(", {code}"));
        format!("{} gets {}{code}", self.name, self.status)
    }

    pub(crate) fn json(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok()
    }

    pub(crate) fn success(&self) -> Option<Value> {
        self.json().filter(|_| self.is_success())
    }
}

impl Facts {
    pub(crate) fn get(&self, name: &str) -> Option<&Seen> {
        self.responses.iter().find(|it| it.name == name)
    }

    pub(crate) fn got(&self, name: &str, statuses: &[u16]) -> bool {
        self.get(name)
            .is_some_and(|it| statuses.contains(&it.status))
    }

    /// Returns the JSON of the response with this name if it succeeded, otherwise null.
    pub(crate) fn success(&self, name: &str) -> Value {
        let success = self.get(name).and_then(Seen::success);
        success.unwrap_or_default()
    }

    pub(crate) fn metadata(&self, app: App) -> Value {
        let metadata = self.contracts.get(&app).map(|it| &it.metadata);
        let metadata = metadata.and_then(|it| it.as_ref()?.to_value().ok());
        metadata.unwrap_or_default()
    }
}

/// A response's evidence on an assumption.
#[derive(Clone)]
pub(crate) struct Evidence {
    /// Whether the response confirms the assumption, or `None` if it only explains why there is no verdict.
    pub(crate) holds: Option<bool>,
    pub(crate) text: String,
    /// A more specific remedy than the override in the list of assumptions.
    pub(crate) remedy: Option<String>,
}

pub(super) fn judged(holds: bool, text: impl Into<String>) -> Evidence {
    Evidence {
        holds: Some(holds),
        text: text.into(),
        remedy: None,
    }
}

/// Returns a contradiction with a more specific remedy than the override in the list of assumptions.
pub(super) fn contradicted(text: impl Into<String>, remedy: impl Into<String>) -> Evidence {
    Evidence {
        remedy: Some(remedy.into()),
        ..judged(false, text)
    }
}

pub(super) fn unclear(text: impl Into<String>) -> Evidence {
    Evidence {
        holds: None,
        ..judged(false, text)
    }
}

/// Returns the first array of a page, whatever its name is.
pub(crate) fn records(page: &Value) -> &[Value] {
    let mut fields = page.as_object().into_iter().flatten();
    let array = fields.find_map(|(_, it)| it.as_array());
    array.map_or(&[], Vec::as_slice)
}
