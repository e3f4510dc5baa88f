//! Replies with a status other than 2xx.

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

/// Adds status, request id, headers and effect of a received reply to an error.
pub(super) fn of_status(
    error: Error,
    status: u16,
    headers: &HeaderMap,
    confidential: &Confidential,
) -> Error {
    let id = request_id(headers).map(|id| confidential.line(Line::RequestId, id));
    error.with_headers(headers, confidential).with(|parts| {
        parts.status = Some(status);
        parts.request_id = id;
        parts.effect = Effect::of_status(status);
    })
}

/// A non-2xx reply.
pub(super) fn refused(
    status: u16,
    headers: &HeaderMap,
    body: Bytes,
    progress: &Progress<'_, '_>,
) -> Verdict {
    let confidential = progress.confidential(&body);
    let envelope = Envelope::parse(progress.client.application().shows_envelope, &body);
    let envelope = envelope.shown(&confidential);
    let kind = ErrorKind::of_status(status);
    let retryable = envelope.is_retryable(status);
    let after = retry_after(headers);
    let error = Error::new(kind, envelope.message.unwrap_or_default());
    let mut error = of_status(error, status, headers, &confidential).with(|parts| {
        parts.code = envelope.code;
        parts.retryable = retryable;
        parts.retry_after = after;
        parts.body = Some(body);
        if envelope.request_id.is_some() {
            parts.request_id = envelope.request_id;
        }
    });
    match status {
        401 if progress.bearer.is_some() => {
            return Verdict::Renew(error.with_hint(progress.client.audience_hint()));
        }
        403 => {
            let hint = scope_hint(
                progress.operation,
                progress.bearer.as_deref(),
                &confidential,
            );
            error = error.with_hint(hint);
        }
        // Only the owning application knows which (contract, Authentication).
        404 => error = error.with_hint("it does not exist, or this client may not see it"),
        407 => error = of_proxy(error, progress),
        300..=399 => error = error.with_hint("redirects are not followed: check the base URL"),
        _ => {}
    }
    Verdict::Fail {
        error,
        again: retryable && progress.may_replay,
        after,
    }
}

/// A proxy that requires authentication. If a proxy is configured, the request did not pass it.
fn of_proxy(error: Error, progress: &Progress<'_, '_>) -> Error {
    match progress.client.endpoint().proxy() {
        Some(proxy) => error
            .with(|parts| parts.effect = Effect::NotSent)
            .with_hint(format!("the proxy {proxy} wants a credential")),
        None => error.with_hint("a proxy in between wants a credential"),
    }
}

/// A call that is not sent, because its token surely lacks the scope.
pub(super) fn unscoped(
    operation: &Operation,
    bearer: &BearerToken,
    confidential: &Confidential,
) -> Error {
    let message = "not sent, because the token lacks the required scope";
    let hint = scope_hint(operation, Some(bearer), confidential);
    Error::new(ErrorKind::Forbidden, message).with_hint(hint)
}

/// The scopes that the operation requires and those that the token was granted.
fn scope_hint(
    operation: &Operation,
    bearer: Option<&BearerToken>,
    confidential: &Confidential,
) -> String {
    let Some(bearer) = bearer else {
        return "the call was sent without a token".to_owned();
    };
    let required = match operation.scopes {
        [] => "no documented scope".to_owned(),
        [scope] => format!("the scope {scope}"),
        scopes => format!("any of the scopes {}", scopes.join(", ")),
    };
    let granted = match bearer.granted_scopes() {
        None => "the token endpoint did not say what it granted".to_owned(),
        Some([]) => "the token was granted no scope".to_owned(),
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
