//! Replies that are no success.

use bytes::Bytes;
use http::HeaderMap;

use crate::call::progress::Progress;
use crate::call::verdict::Verdict;
use crate::error::Error;
use crate::error::envelope::Envelope;
use crate::error::kind::{Effect, ErrorKind};
use crate::operation::Operation;
use crate::policy::retry_after::retry_after;
use crate::reply::response::request_id;
use crate::secret::confidential::Confidential;
use crate::text::Line;
use crate::token::bearer::BearerToken;

/// An error about a reply that came: what it had and what that means for its effect.
pub(super) fn of_status(
    error: Error,
    status: u16,
    headers: &HeaderMap,
    confidential: &Confidential,
) -> Error {
    // Assumed: A52. A reply of another status may come after the effect.
    let effect = if (400..500).contains(&status) {
        Effect::Refused
    } else {
        Effect::Unknown
    };
    error
        .with_status(status)
        .with_request_id(request_id(headers).map(|id| confidential.line(Line::RequestId, id)))
        .with_headers(headers, confidential)
        .with_effect(effect)
}

/// A non-2xx reply.
pub(super) fn refused(
    status: u16,
    headers: &HeaderMap,
    body: Bytes,
    progress: &Progress<'_>,
) -> Verdict {
    let confidential = progress.confidential(&body);
    let envelope = Envelope::parse(progress.client.application().shows_envelope, &body);
    let envelope = envelope.shown(&confidential);
    let (kind, passing) = match status {
        401 => (ErrorKind::Unauthenticated, false),
        403 => (ErrorKind::Forbidden, false),
        404 => (ErrorKind::NotFound, false),
        407 => (ErrorKind::Connect, false),
        409 => (ErrorKind::Conflict, false),
        // Assumed: A42. The contract shows neither.
        429 => (ErrorKind::RateLimited, true),
        // Assumed: A50. What is not implemented does not come into being by asking again.
        501 | 505 => (ErrorKind::Unavailable, false),
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
    let error = Error::new(kind, envelope.message.unwrap_or_default());
    let mut error = of_status(error, status, headers, &confidential)
        .with_code(envelope.code)
        .with_retryable(retryable)
        .with_retry_after(after)
        .with_body(body);
    if envelope.request_id.is_some() {
        error = error.with_request_id(envelope.request_id);
    }
    match status {
        401 if progress.bearer.is_some() => {
            return Verdict::Renew(error.hint(progress.client.audience_hint()));
        }
        403 => {
            let hint = scope_hint(
                progress.operation,
                progress.bearer.as_deref(),
                &confidential,
            );
            error = error.hint(hint);
        }
        // Which of the two is for the owning application to know (contract, Authentication).
        404 => error = error.hint("there is none, or none that this client may see"),
        407 => error = of_proxy(error, progress),
        300..=399 => error = error.hint("redirects are not followed: check the base URL"),
        _ => {}
    }
    Verdict::Fail {
        error,
        again: retryable && progress.may_replay,
        after,
    }
}

/// A proxy that wants to know who asks. Where one is known to be in between, nothing got past it.
fn of_proxy(error: Error, progress: &Progress<'_>) -> Error {
    match progress.client.endpoint().proxy() {
        Some(proxy) => error
            .with_effect(Effect::NotSent)
            .hint(format!("the proxy {proxy} wants a credential")),
        None => error.hint("a proxy in between wants a credential"),
    }
}

/// Which scopes the operation needs, and which the token has.
pub(super) fn scope_hint(
    operation: &Operation,
    bearer: Option<&BearerToken>,
    confidential: &Confidential,
) -> String {
    let Some(bearer) = bearer else {
        return "the call went without a token".to_owned();
    };
    let required = match operation.scopes {
        [] => "no documented scope".to_owned(),
        [scope] => format!("the scope {scope}"),
        scopes => format!("any of the scopes {}", scopes.join(", ")),
    };
    let granted = match bearer.granted_scopes() {
        None => "the token endpoint did not say what it granted".to_owned(),
        Some([]) => "the token was granted none".to_owned(),
        Some(scopes) => format!(
            "the token was granted {}",
            confidential.line(Line::Message, &scopes.join(", "))
        ),
    };
    format!(
        "the operation requires {required}, the application's entitlement and a workspace binding; {granted}; \
         record-level and business permission checks remain with the application"
    )
}
