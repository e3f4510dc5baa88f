//! What an attempt means: done, worth another, or an error.

use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;

use super::attempt::Outcome;
use super::send::{Progress, Take};
use crate::cause;
use crate::error::{Effect, Envelope, Error, ErrorKind};
use crate::idempotency::IdempotencyKey;
use crate::operation::Operation;
use crate::response::{Reply, request_id};
use crate::retry_after::retry_after;
use crate::runtime::Unreadable;
use crate::token::BearerToken;

/// How many characters of a body that cannot be read are shown.
const EXCERPT: usize = 120;

/// The operation whose reply is a token.
const TOKEN_EXCHANGE: &str = "/oauth/token";

pub(super) enum Verdict {
    Done(Reply),
    /// A 401: worth one more attempt with another token.
    Renew(Error),
    /// An error; `again` when another attempt may help and is allowed, `after` what the server asked for.
    Fail {
        error: Error,
        again: bool,
        after: Option<Duration>,
    },
}

pub(super) fn classify(outcome: Outcome, progress: &Progress<'_>, take: Take<'_>) -> Verdict {
    let mut verdict = judge(outcome, progress, take);
    if let Verdict::Renew(error) | Verdict::Fail { error, .. } = &mut verdict {
        error.rewrite(|text| discreet(text, progress));
    }
    verdict
}

fn judge(outcome: Outcome, progress: &Progress<'_>, take: Take<'_>) -> Verdict {
    match outcome {
        Outcome::Reply {
            status: status @ 200..=299,
            headers,
            body,
        } => match take(&body) {
            Ok(()) => Verdict::Done(Reply {
                operation: progress.operation,
                status,
                headers,
                body,
                attempts: progress.attempts,
                key: None,
            }),
            Err(unreadable) => unreadable_reply(unreadable, status, &headers, body, progress),
        },
        Outcome::Reply {
            status,
            headers,
            body,
        } => refused(status, &headers, body, progress),
        // A refusal is what its status says, whatever was to explain it.
        Outcome::TooLarge {
            status,
            headers,
            excerpt,
            ..
        } if !(200..300).contains(&status) => refused(status, &headers, excerpt, progress),
        Outcome::BodyLost {
            status, headers, ..
        } if !(200..300).contains(&status) => refused(status, &headers, Bytes::new(), progress),
        Outcome::TooLarge {
            status,
            headers,
            limit,
            excerpt,
        } => {
            let error = Error::new(
                ErrorKind::Decode,
                format!("the reply is larger than {limit} bytes"),
            )
            .with_body(excerpt);
            fail(of_status(error, status, &headers), false)
        }
        Outcome::BodyLost {
            status,
            headers,
            error,
        } => {
            let lost = Error::new(ErrorKind::Transport, "the reply broke off")
                .source(error)
                .with_retryable(true);
            fail(of_status(lost, status, &headers), progress.may_replay)
        }
        Outcome::Failed(error) => failed(error, progress),
        Outcome::TimedOut { whole_call } => {
            let message = if whole_call {
                "the deadline of the call passed"
            } else {
                "the attempt timed out"
            };
            let error = Error::new(ErrorKind::Timeout, message)
                .with_effect(Effect::Unknown)
                .with_retryable(true);
            fail(error, progress.may_replay && !whole_call)
        }
    }
}

fn fail(error: Error, again: bool) -> Verdict {
    Verdict::Fail {
        error,
        again,
        after: None,
    }
}

/// An error about a reply that came: what it had and what that means for its effect.
fn of_status(error: Error, status: u16, headers: &HeaderMap) -> Error {
    let effect = if (400..500).contains(&status) {
        Effect::Refused
    } else {
        Effect::Unknown
    };
    error
        .with_status(status)
        .with_request_id(request_id(headers).map(str::to_owned))
        .with_effect(effect)
}

fn unreadable_reply(
    unreadable: Unreadable,
    status: u16,
    headers: &HeaderMap,
    body: Bytes,
    progress: &Progress<'_>,
) -> Verdict {
    let (error, again) = match unreadable {
        Unreadable::Truncated(message) => (
            Error::new(
                ErrorKind::Decode,
                format!("the reply breaks off: {message}"),
            )
            .with_retryable(true),
            true,
        ),
        Unreadable::Malformed(message) => {
            let error = if progress.operation.route == TOKEN_EXCHANGE {
                // Neither what is wrong nor how it begins can be said without quoting a token.
                Error::new(ErrorKind::Decode, "this is no reply of a token endpoint")
            } else {
                let begin = excerpt(&body, progress);
                let message = discreet(&message, progress).unwrap_or(message);
                Error::new(ErrorKind::Decode, message)
                    .hint(format!("the body begins with {begin:?}"))
            };
            (error, false)
        }
        Unreadable::Schema {
            expected,
            found,
            detail,
        } => {
            // To take it as it is would not help where it cannot be read.
            let hint = if detail.is_some() {
                "it cannot be read either way: update the SDK, or take it as raw JSON with `raw_call`"
            } else {
                "update the SDK, or set `SchemaPolicy::Warn`"
            };
            let detail = detail
                .map(|detail| format!(" ({detail})"))
                .unwrap_or_default();
            let found = crate::error::one_line(&found);
            let message = format!(
                "the reply has schemaVersion {found}, this SDK was built for {expected}{detail}"
            );
            let message = discreet(&message, progress).unwrap_or(message);
            (
                Error::new(ErrorKind::SchemaVersion, message).hint(hint),
                false,
            )
        }
    };
    fail(
        of_status(error, status, headers).with_body(body),
        again && progress.may_replay,
    )
}

/// A non-2xx reply.
fn refused(status: u16, headers: &HeaderMap, body: Bytes, progress: &Progress<'_>) -> Verdict {
    let envelope = Envelope::parse(progress.operation.application, &body);
    let (kind, passing) = match status {
        401 => (ErrorKind::Unauthenticated, false),
        403 => (ErrorKind::Forbidden, false),
        404 => (ErrorKind::NotFound, false),
        409 => (ErrorKind::Conflict, false),
        // Assumed: A42. The contract shows neither.
        429 => (ErrorKind::RateLimited, true),
        408 | 500..=599 => (ErrorKind::Unavailable, true),
        400..=499 => (ErrorKind::Rejected, false),
        _ => (ErrorKind::UnexpectedStatus, false),
    };
    // What the Platform says about itself counts, but no envelope makes a refusal of the request repeatable.
    let retryable = match envelope.retryable {
        Some(retryable) => retryable && (passing || !(400..500).contains(&status)),
        None => passing,
    };
    let after = retry_after(headers);
    let mut error = of_status(
        Error::new(kind, envelope.message.unwrap_or_default()),
        status,
        headers,
    )
    .with_code(envelope.code)
    .with_retryable(retryable)
    .with_retry_after(after)
    .with_body(body);
    if let Some(id) = envelope.request_id {
        error = error.with_request_id(Some(id));
    }
    if kind == ErrorKind::Forbidden {
        error = error.hint(scope_hint(progress.operation, progress.bearer.as_deref()));
    }
    match status {
        401 if progress.operation.authenticated => Verdict::Renew(error),
        _ => Verdict::Fail {
            error,
            again: retryable && progress.may_replay,
            after,
        },
    }
}

/// Which scopes the operation needs, and which the token has.
pub(super) fn scope_hint(operation: &Operation, bearer: Option<&BearerToken>) -> String {
    let required = match operation.scopes {
        [] => "no documented scope".to_owned(),
        [scope] => format!("the scope {scope}"),
        scopes => format!("any of the scopes {}", scopes.join(", ")),
    };
    let granted = match bearer.and_then(BearerToken::granted_scopes) {
        None => "the token endpoint did not say what it granted".to_owned(),
        Some([]) => "the token was granted none".to_owned(),
        Some(scopes) => format!("the token was granted {}", scopes.join(", ")),
    };
    format!(
        "the operation requires {required}, the application's entitlement and a workspace binding; {granted}"
    )
}

/// No reply at all.
fn failed(error: reqwest::Error, progress: &Progress<'_>) -> Verdict {
    if error.is_builder() {
        return fail(
            Error::new(ErrorKind::InvalidInput, "the request cannot be built").source(error),
            false,
        );
    }
    if error.is_connect() {
        let tls = cause::is_tls(&error);
        let message = if tls {
            format!("the TLS handshake failed: {}", cause::root(&error))
        } else {
            format!("the server cannot be reached: {}", cause::root(&error))
        };
        // Nothing was sent, so every operation may be tried again; a certificate does not change by trying.
        return fail(
            Error::new(ErrorKind::Connect, message)
                .source(error)
                .with_retryable(!tls),
            !tls,
        );
    }
    let timeout = error.is_timeout();
    let kind = if timeout {
        ErrorKind::Timeout
    } else {
        ErrorKind::Transport
    };
    let message = format!("no reply came: {}", cause::root(&error));
    fail(
        Error::new(kind, message)
            .source(error)
            .with_effect(Effect::Unknown)
            .with_retryable(true),
        progress.may_replay,
    )
}

/// How a body begins, on one line.
fn excerpt(body: &Bytes, progress: &Progress<'_>) -> String {
    // Cut after what is redacted is gone, so that no half of it remains.
    let shown = String::from_utf8_lossy(&body[..body.len().min(16 * EXCERPT)]);
    let shown = discreet(&shown, progress).unwrap_or_else(|| shown.into_owned());
    let shown: String = shown.chars().take(EXCERPT).collect();
    crate::error::one_line(&shown)
}

/// A server's text without the token and the key, if it repeats them: some show the whole request in an error page.
fn discreet(text: &str, progress: &Progress<'_>) -> Option<String> {
    let token = progress
        .bearer
        .as_ref()
        .and_then(|bearer| bearer.header().to_str().ok()?.strip_prefix("Bearer "));
    let key = progress.key.map(IdempotencyKey::as_str);
    [token, key]
        .into_iter()
        .flatten()
        .fold(None, |redacted: Option<String>, secret| {
            let text = redacted.as_deref().unwrap_or(text);
            if text.contains(secret) {
                Some(text.replace(secret, "[redacted]"))
            } else {
                redacted
            }
        })
}
