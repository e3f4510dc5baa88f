//! Everything that the requests showed, and the evidence that it gives. Findings and verdicts follow from both.

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
    /// The scope of the request for one scope.
    pub(crate) scope: &'static str,
    pub(crate) contracts: BTreeMap<App, ContractReport>,
    pub(crate) responses: Vec<Seen>,
    /// The evidence of schemas and settings, by assumption.
    pub(crate) evidence: Vec<(&'static str, Evidence)>,
}

/// A token, and how it was requested.
pub(crate) struct Token {
    pub(crate) app: App,
    pub(crate) audience: String,
    /// Whether the audience is the origin, because no other is set.
    pub(crate) is_by_origin: bool,
    /// Whether the Platform issued it, because no other address is set.
    pub(crate) is_by_platform: bool,
    pub(crate) response: Seen,
}

/// A response, whether or not the SDK accepted it.
#[derive(Clone)]
pub(crate) struct Seen {
    /// The name of the request.
    pub(crate) name: &'static str,
    pub(crate) app: App,
    /// `None` for a path that no operation has.
    pub(crate) operation: Option<&'static Operation>,
    pub(crate) with_token: bool,
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// How many seconds this machine's clock is ahead of the server's.
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

    /// The ID of its operation, or the name of the path.
    pub(crate) fn label(&self) -> &'static str {
        self.operation.map_or(self.name, |it| it.id)
    }

    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Whether the application rejected the request for good. A gateway sends other statuses, and for a while.
    pub(crate) fn is_rejection(&self) -> bool {
        matches!(self.status, 400 | 401 | 403 | 404 | 405 | 409 | 422)
    }

    /// Whether it answers the request, and isn't about the rights of the client.
    pub(crate) fn is_telling(&self) -> bool {
        self.is_success() || matches!(self.status, 400 | 404 | 405 | 422)
    }

    pub(crate) fn needs_token(&self) -> bool {
        self.operation.is_some_and(|it| it.authenticated)
    }

    /// Its name, its status and a known code.
    pub(crate) fn outline(&self) -> String {
        let code = self
            .code()
            .map_or(String::new(), |code| format!(", {code}"));
        format!("{} gets {}{code}", self.name, self.status)
    }

    pub(crate) fn json(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok()
    }

    /// The JSON of a success.
    pub(crate) fn success(&self) -> Option<Value> {
        self.json().filter(|_| self.is_success())
    }
}

impl Facts {
    pub(crate) fn get(&self, name: &str) -> Option<&Seen> {
        self.responses.iter().find(|it| it.name == name)
    }

    /// Whether the response of this name has one of these statuses.
    pub(crate) fn got(&self, name: &str, statuses: &[u16]) -> bool {
        self.get(name)
            .is_some_and(|it| statuses.contains(&it.status))
    }

    /// The JSON of this name, if it is a success.
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

/// A response that shows whether an assumption holds.
#[derive(Clone)]
pub(crate) struct Evidence {
    /// `None` if it only explains why there is no verdict.
    pub(crate) holds: Option<bool>,
    pub(crate) text: String,
    /// A better remedy than that of the list.
    pub(crate) remedy: Option<String>,
}

pub(super) fn judged(holds: bool, text: impl Into<String>) -> Evidence {
    Evidence {
        holds: Some(holds),
        text: text.into(),
        remedy: None,
    }
}

/// A contradiction with a better remedy than that of the list.
pub(super) fn contradicted(text: impl Into<String>, remedy: impl Into<String>) -> Evidence {
    Evidence {
        remedy: Some(remedy.into()),
        ..judged(false, text)
    }
}

/// The reason why there is no verdict.
pub(super) fn unclear(text: impl Into<String>) -> Evidence {
    Evidence {
        holds: None,
        ..judged(false, text)
    }
}

/// The first array of a page, whatever its name.
pub(crate) fn records(page: &Value) -> &[Value] {
    let mut fields = page.as_object().into_iter().flatten();
    let array = fields.find_map(|(_, it)| it.as_array());
    array.map_or(&[], Vec::as_slice)
}
