//! The faults that struck one request, applied.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, StatusCode, header};
use serde_json::json;

use super::effects::Effects;
use super::rewrite;
use crate::app::App;
use crate::message::{Ending, Reply};
use crate::refusal::Refusal;
use crate::suite::Visit;

/// The effects of all faults that struck a request, in the order of their registration.
#[derive(Debug, Default)]
pub(crate) struct Strike(Vec<Effects>);

impl Strike {
    pub(super) fn add(&mut self, effects: &Effects) {
        self.0.push(effects.clone());
    }

    pub(crate) fn revokes_token(&self) -> bool {
        self.0.iter().any(|effects| effects.revokes_token)
    }

    /// The reply that a fault gives instead of serving the request.
    pub(crate) fn instead(&mut self, visit: &Visit<'_>) -> Option<Reply> {
        let closed = self.0.iter().any(|effects| effects.closed);
        let status = self.0.iter().find_map(|effects| effects.status);
        let mut reply = match (closed, status) {
            (true, _) => Reply::empty(503),
            (false, Some(status)) => refused(visit, status),
            (false, None) => return None,
        };
        if closed {
            reply.fate.ending = Ending::Closed;
        }
        Some(self.dressed(reply))
    }

    /// What the faults make of the reply to a request that was served.
    pub(crate) fn after(&self, visit: &Visit<'_>, mut reply: Reply) -> Reply {
        for effects in &self.0 {
            if reply.status.is_success() {
                rewrite::rewrite(effects, &mut reply);
            }
            if let Some(status) = effects.status_after.filter(|_| reply.status.is_success()) {
                reply = refused(visit, status);
            }
        }
        self.dressed(reply)
    }

    /// Delay, headers, another body, half a body, a broken connection.
    fn dressed(&self, mut reply: Reply) -> Reply {
        for effects in &self.0 {
            reply.fate.delay += effects.delay;
            if effects.ending != Ending::Delivered {
                reply.fate.ending = effects.ending;
            }
            if let Some((body, media_type)) = &effects.body {
                reply.body = body.clone();
                reply.headers.remove(header::CONTENT_TYPE);
                if !media_type.is_empty() {
                    reply.set(header::CONTENT_TYPE, media_type);
                }
            }
            if effects.truncated {
                reply.body.truncate(reply.body.len() / 2);
            }
            for (name, value) in &effects.headers {
                let name = HeaderName::from_bytes(name.as_bytes());
                if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value)) {
                    reply.headers.insert(name, value);
                }
            }
        }
        reply
    }
}

/// A scripted status, worded as the application would.
fn refused(visit: &Visit<'_>, status: u16) -> Reply {
    let code = match status {
        401 => "unauthenticated",
        403 => "forbidden",
        404 => "not_found",
        409 => "conflict",
        429 => "too_many_requests",
        503 => "service_unavailable",
        _ => "scripted_fault",
    };
    if (200..400).contains(&status) {
        return Reply::empty(status);
    }
    if visit.request.path == "/oauth/token" && visit.app == App::Platform {
        let error = match status {
            401 => "invalid_client",
            500.. => "temporarily_unavailable",
            _ => "invalid_request",
        };
        return Reply::json(status, &json!({"error": error}));
    }
    let mut reply =
        Refusal::new(status, code, "a scripted fault").into_reply(visit.app, visit.request_id);
    reply.status = StatusCode::from_u16(status).unwrap_or(reply.status);
    if reply.status == StatusCode::NO_CONTENT {
        reply.body = Bytes::new();
    }
    reply
}
