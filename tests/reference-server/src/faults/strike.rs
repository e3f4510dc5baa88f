//! Applies the faults that struck one request.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{HeaderName, StatusCode, header};
use serde_json::{Value, json};

use super::effects::Effects;
use super::rewrite;
use super::rounds::Rounds;
use crate::contradict;
use crate::message::{Ending, Reply};
use crate::refusal::Refusal;
use crate::schema::Served;
use crate::token::exchange::Terms;
use crate::visit::Visit;

#[derive(Debug)]
pub(super) struct Struck {
    pub(super) fault: u64,
    pub(super) effects: Effects,
    pub(super) rounds: Option<Arc<Mutex<Rounds>>>,
}

/// All faults that struck a request, in the order of their registration.
#[derive(Debug, Default)]
pub(crate) struct Strike(Vec<Struck>);

impl Strike {
    pub(super) fn add(&mut self, struck: Struck) {
        self.0.push(struck);
    }

    pub(crate) fn faults(&self) -> Vec<u64> {
        self.0.iter().map(|struck| struck.fault).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn revokes_token(&self) -> bool {
        self.effects().any(|effects| effects.revoke_token)
    }

    /// Returns the changes that faults make to the issued token. The last fault wins.
    pub(crate) fn terms(&self) -> Terms {
        let mut terms = Terms::default();
        for effects in self.effects() {
            let lifetime = effects.token_lifetime.map(|lifetime| lifetime.0);
            terms.lifetime = lifetime.or(terms.lifetime);
            let omitted = effects.omit_expires_in.then_some(Value::Null);
            let expires_in = effects.token_expires_in.clone().or(omitted);
            terms.expires_in = expires_in.or(terms.expires_in);
        }
        terms
    }

    /// Returns the response if a fault responds instead of the operation.
    pub(crate) fn instead(&mut self, visit: &Visit<'_>) -> Option<Reply> {
        let closed = self.effects().any(|effects| effects.close_connection);
        let status = self.effects().find_map(|effects| effects.status);
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

    /// Applies the faults to the operation's response.
    pub(crate) fn after(&self, visit: &Visit<'_>, mut reply: Reply) -> Reply {
        for struck in &self.0 {
            if !reply.status.is_success() {
                break;
            }
            rewrite::rewrite(struck, &mut reply);
            if let Some(status) = struck.effects.reply_after_commit_with {
                reply = refused(visit, status);
            }
        }
        self.dressed(reply)
    }

    /// Applies delays, headers, replaced, truncated or slow bodies, and broken connections.
    fn dressed(&self, mut reply: Reply) -> Reply {
        for effects in self.effects() {
            reply.fate.delay = reply.fate.delay.saturating_add(effects.delay.0);
            reply.fate.drip = effects.drip_body.or(reply.fate.drip);
            if effects.stall {
                reply.fate.ending = Ending::Stalled;
            } else if effects.lose_reply {
                reply.fate.ending = Ending::Closed;
            } else if effects.break_body && reply.fate.ending == Ending::Delivered {
                reply.fate.ending = Ending::Broken;
            }
            if let Some(body) = &effects.body {
                reply.body = body.content.clone();
                reply.headers.remove(header::CONTENT_TYPE);
                if !body.media_type.is_empty() {
                    reply.set(header::CONTENT_TYPE, &body.media_type);
                }
            }
            if effects.truncate_body {
                reply.body.truncate(reply.body.len() / 2);
            }
            if let Some(value) = &effects.retry_after {
                reply.set(header::RETRY_AFTER, value);
            }
            for (name, value) in &effects.headers {
                if let Ok(name) = HeaderName::from_bytes(name.as_bytes()) {
                    reply.set(name, value);
                }
            }
        }
        reply
    }

    fn effects(&self) -> impl Iterator<Item = &Effects> {
        self.0.iter().map(|struck| &struck.effects)
    }
}

/// Returns a scripted status with the error body of the application.
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
    if visit.operation.is_some_and(Served::is_exchange) {
        let error = match status {
            401 => "invalid_client",
            500.. => "temporarily_unavailable",
            _ => "invalid_request",
        };
        return contradict::rewrite(visit, Reply::json(status, &json!({"error": error})));
    }
    let message = "a scripted fault";
    let refusal = match status {
        401 => Refusal::unauthenticated(message, true),
        403 => Refusal::forbidden(code, message),
        _ => Refusal::new(status, code, message),
    };
    let reply = visit.refused(refusal);
    let mut reply = contradict::rewrite(visit, reply);
    reply.status = StatusCode::from_u16(status).unwrap_or(reply.status);
    if reply.status == StatusCode::NO_CONTENT {
        reply.body = Bytes::new();
    }
    reply
}
