//! Rejections of requests, and the error bodies of the applications.

use http::header;
use serde_json::json;

use crate::app::App;
use crate::message::Reply;

#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) code: &'static str,
    pub(crate) message: String,
    /// The value of `WWW-Authenticate` for a 401 or 403, or of `Allow` for a 405.
    challenge: Option<String>,
}

impl Refusal {
    pub(crate) fn new(status: u16, code: &'static str, message: impl Into<String>) -> Refusal {
        Refusal {
            status,
            code,
            message: message.into(),
            challenge: None,
        }
    }

    /// 400: the request breaks a rule.
    pub(crate) fn invalid(message: impl Into<String>) -> Refusal {
        Refusal::new(400, "validation_failed", message)
    }

    /// 400: the value is well-formed, but the service can't use it (A12).
    pub(crate) fn unusable(name: &str, why: &str) -> Refusal {
        Refusal::invalid(format!("{name}: {why}"))
    }

    /// 401: the token is missing or invalid.
    pub(crate) fn unauthenticated(message: &str, sent: bool) -> Refusal {
        let parameters = if sent {
            format!(", error=\"invalid_token\", error_description={message:?}")
        } else {
            String::new()
        };
        Refusal::new(401, "unauthenticated", message).challenging(&parameters)
    }

    /// 403: the token is valid but lacks a right other than a scope.
    pub(crate) fn forbidden(code: &'static str, message: impl Into<String>) -> Refusal {
        Refusal::new(403, code, message).challenging("")
    }

    /// 403: the token lacks a scope. The challenge lists the scopes of the operation.
    pub(crate) fn out_of_scope(message: String, scopes: &str) -> Refusal {
        let parameters = format!(", error=\"insufficient_scope\", scope={scopes:?}");
        Refusal::new(403, "insufficient_scope", message).challenging(&parameters)
    }

    /// Adds the challenge of RFC 6750.
    fn challenging(self, parameters: &str) -> Refusal {
        let challenge = Some(format!("Bearer realm=\"suite\"{parameters}"));
        Refusal { challenge, ..self }
    }

    /// 404: there is no accessible record.
    pub(crate) fn not_found(message: impl Into<String>) -> Refusal {
        Refusal::new(404, "not_found", message)
    }

    /// 409: a conflict of state, version, time or key.
    pub(crate) fn conflict(code: &'static str, message: impl Into<String>) -> Refusal {
        Refusal::new(409, code, message)
    }

    /// 405, with the methods that the path allows.
    pub(crate) fn method_not_allowed(allowed: String) -> Refusal {
        Refusal {
            challenge: Some(allowed),
            ..Refusal::new(405, "method_not_allowed", "method not allowed on this path")
        }
    }

    /// Adds the header that the status requires.
    pub(crate) fn with_challenge(&self, mut reply: Reply) -> Reply {
        if let Some(challenge) = &self.challenge {
            let name = if self.status == 405 {
                header::ALLOW
            } else {
                header::WWW_AUTHENTICATE
            };
            reply.set(name, challenge);
        }
        reply
    }

    /// Only the Platform's envelope is documented.
    pub(crate) fn into_reply(self, app: App, request_id: &str) -> Reply {
        let body = match app {
            App::Platform => json!({"error": {
                "code": self.code,
                "message": self.message,
                "requestId": request_id,
                "retryable": self.status == 503,
            }}),
            // The Calendar's documented code is in capitals.
            App::Calendar => {
                json!({"code": self.code.to_ascii_uppercase(), "message": self.message})
            }
            App::Crm | App::Accounting => json!({"code": self.code, "message": self.message}),
        };
        self.with_challenge(Reply::json(self.status, &body))
    }
}
