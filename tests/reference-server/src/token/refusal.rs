//! Errors of the token endpoint, as in RFC 6749 section 5.2.

use std::borrow::Cow;

use http::header;
use serde_json::json;

use crate::message::Reply;

/// An error of the token endpoint.
#[derive(Debug)]
pub(super) struct TokenError {
    status: u16,
    error: &'static str,
    description: Cow<'static, str>,
}

impl TokenError {
    pub(super) fn invalid_request(description: &'static str) -> TokenError {
        TokenError::new(400, "invalid_request", description)
    }

    pub(super) fn invalid_client(description: &'static str) -> TokenError {
        TokenError::new(401, "invalid_client", description)
    }

    pub(super) fn new(
        status: u16,
        error: &'static str,
        description: impl Into<Cow<'static, str>>,
    ) -> TokenError {
        TokenError {
            status,
            error,
            description: description.into(),
        }
    }

    pub(super) fn into_reply(self) -> Reply {
        let body = json!({"error": self.error, "error_description": self.description});
        let mut reply = Reply::json(self.status, &body).with(header::CACHE_CONTROL, "no-store");
        if self.status == 401 {
            reply.set(header::WWW_AUTHENTICATE, "Basic realm=\"suite\"");
        }
        reply
    }
}
