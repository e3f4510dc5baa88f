//! Classifies the outcome of an attempt: success, a failure worth a retry, or an error with its effect.

use bytes::Bytes;
use http::HeaderMap;
use serde::de::IgnoredAny;

use crate::call::attempt::{AttemptOutcome, AttemptResult, CallState, DecodeResponse, failed};
use crate::error::Error;
use crate::error::envelope::Envelope;
use crate::error::kind::{Effect, ErrorKind};
use crate::operation::Operation;
use crate::policy::retry::retry_after;
use crate::reply::decode::{ResponseHead, Unreadable};
use crate::reply::response::{Reply, request_id};
use crate::secret::redactor::Redactor;
use crate::text::TextKind;
use crate::token::bearer::BearerToken;
use crate::transport::connections::Sender;
use crate::transport::error::{
    SendState, TransportError, describe_target, is_refused_connection, is_tls, root_cause,
};
use crate::transport::reply_body::BodyError;

/// Classifies an attempt. `whole_call` means that its time limit was the deadline of the call.
pub(super) fn classify(
    outcome: AttemptOutcome,
    whole_call: bool,
    state: &CallState<'_>,
    decode: DecodeResponse<'_>,
) -> AttemptResult {
    let (status, headers, body) = match outcome {
        AttemptOutcome::Reply {
            status,
            headers,
            body,
            version: _,
        } => (status, headers, body),
        AttemptOutcome::Failed(error) => return failed_to_send(error, state),
        AttemptOutcome::TimedOut { not_sent } => return timed_out(whole_call, not_sent, state),
    };
    if !(200..300).contains(&status) {
        // The status decides, even if the body could not be read.
        return error_status(status, &headers, received_part(body), state);
    }
    let body = match body {
        Ok(body) => body,
        Err(unread) => return unread_body(unread, whole_call, status, &headers, state),
    };
    let redact = |text: &str| state.redactor(b"").line(TextKind::Message, text);
    match decode(ResponseHead::of(status, &headers), &body, &redact) {
        Ok(mismatch) => AttemptResult::Done(Reply {
            installation: state.client.label(),
            operation: state.operation,
            status,
            headers,
            body,
            attempts: state.attempts,
            key: None,
            mismatch,
        }),
        Err(unreadable) => unreadable_response(unreadable, status, &headers, body, state),
    }
}

fn received_part(body: Result<Bytes, BodyError>) -> Bytes {
    body.unwrap_or_else(|unread| match unread {
        BodyError::TooLarge(excerpt) => excerpt,
        BodyError::Broken(_) | BodyError::Late | BodyError::Encoded(_) => Bytes::new(),
    })
}

/// Returns the result for a 2xx whose body was not received completely, or can't be decompressed.
fn unread_body(
    unread: BodyError,
    whole_call: bool,
    status: u16,
    headers: &HeaderMap,
    state: &CallState<'_>,
) -> AttemptResult {
    let redactor = state.redactor(b"");
    let error = match unread {
        BodyError::TooLarge(excerpt) => {
            let limit = state.client.suite().max_response_bytes;
            Error::decode(format!("the response is larger than {limit} bytes"))
                .with_hint("raise `max_response_bytes` on the suite's builder if that is expected")
                .with(|parts| parts.body = Some(excerpt))
        }
        BodyError::Broken(error) => {
            let message = "the response was cut off";
            Error::new(ErrorKind::Transport, Effect::Unknown, message)
                .with_cause(error)
                .with(|parts| parts.retryable = true)
        }
        BodyError::Late => late_body(whole_call, state),
        BodyError::Encoded(encoding) => {
            let encoding = redactor.line(TextKind::Message, &encoding);
            Error::decode(format!(
                "the response is compressed ({encoding}), and the transport did not decompress it"
            ))
        }
    };
    let retry = error.is_retryable() && state.may_replay;
    failed(with_response(error, status, headers, &redactor), retry)
}

fn unreadable_response(
    unreadable: Unreadable,
    status: u16,
    headers: &HeaderMap,
    body: Bytes,
    state: &CallState<'_>,
) -> AttemptResult {
    // The messages quote the response.
    let redactor = state.redactor(&body);
    let redact = |text: &str| redactor.line(TextKind::Message, text);
    let is_secret = state.is_secret_reply();
    let is_truncated = matches!(unreadable, Unreadable::Truncated(_));
    let error = match unreadable {
        Unreadable::Truncated(error) => {
            let message = format!("the response is truncated: {}", redact(&error.to_string()));
            Error::decode(message)
                .with_cause(error)
                .with(|parts| parts.retryable = true)
        }
        Unreadable::Malformed(_) if is_secret => malformed_secret(&body),
        Unreadable::Malformed(message) => malformed(&redact(&message), &body, &redactor),
        Unreadable::TooMany(most) => {
            let message = format!("the response has more than {most} elements and fields");
            let hint = "raise `max_response_elements` on the suite's builder if that is expected";
            Error::decode(message).with_hint(hint)
        }
        Unreadable::Schema {
            expected,
            found,
            detail,
        } => {
            let decodes = detail.is_none();
            let detail = detail.filter(|_| !is_secret).map(|detail| redact(&detail));
            other_schema(expected, found, decodes, detail)
        }
    };
    let error =
        with_response(error, status, headers, &redactor).with(|parts| parts.body = Some(body));
    failed(error, is_truncated && state.may_replay)
}

/// Returns the error for a response that may be secret. A more specific message would quote it.
fn malformed_secret(body: &Bytes) -> Error {
    let is_json = serde_json::from_slice::<IgnoredAny>(body).is_ok();
    Error::decode(if is_json {
        "the response does not match its schema"
    } else {
        "the response is not JSON"
    })
}

fn malformed(message: &str, body: &Bytes, redactor: &Redactor) -> Error {
    let error = Error::decode(message);
    // JSON of the service may contain personal data. A proxy's page identifies the proxy.
    if body.is_empty() || serde_json::from_slice::<IgnoredAny>(body).is_ok() {
        return error;
    }
    let begin = redactor.line(TextKind::Excerpt, &beginning_of(body));
    error.with_hint(format!("the body begins with {begin:?}"))
}

fn other_schema(
    expected: &str,
    found: Option<String>,
    decodes: bool,
    detail: Option<String>,
) -> Error {
    // `SchemaPolicy::Warn` doesn't help if decoding fails.
    let hint = if decodes {
        "update the SDK, or set `SchemaPolicy::Warn`"
    } else {
        "it can't be decoded: update the SDK, or read it as raw JSON with `raw_call`"
    };
    let detail = detail.map_or_else(String::new, |detail| format!(" ({detail})"));
    let found = found.map_or_else(
        || "no schemaVersion".to_owned(),
        |found| format!("schemaVersion {found}"),
    );
    let message =
        format!("the response has {found}, but this SDK was built for {expected}{detail}");
    Error::new(ErrorKind::SchemaVersion, Effect::Unknown, message).with_hint(hint)
}

/// Returns the beginning of a body, longer than the excerpt in an error, so that redaction finds complete secrets.
fn beginning_of(body: &Bytes) -> String {
    String::from_utf8_lossy(&body[..body.len().min(16 * TextKind::Excerpt.longest())]).into_owned()
}

fn with_response(error: Error, status: u16, headers: &HeaderMap, redactor: &Redactor) -> Error {
    let id = request_id(headers).map(|id| redactor.line(TextKind::RequestId, id));
    error.with_headers(headers, redactor).with(|parts| {
        parts.status = Some(status);
        parts.request_id = id;
        parts.effect = Effect::of_status(status);
    })
}

fn error_status(
    status: u16,
    headers: &HeaderMap,
    body: Bytes,
    state: &CallState<'_>,
) -> AttemptResult {
    let redactor = state.redactor(&body);
    let envelope = Envelope::parse(state.client.application().documents_envelope, &body);
    let envelope = envelope.redacted(&redactor);
    let kind = ErrorKind::of_status(status);
    let retryable = envelope.is_retryable(status);
    let message = envelope.message.unwrap_or_default();
    let error = Error::new(kind, Effect::of_status(status), message);
    let mut error = with_response(error, status, headers, &redactor).with(|parts| {
        parts.code = envelope.code;
        parts.retryable = retryable;
        parts.retry_after = retry_after(headers);
        parts.body = Some(body);
        parts.request_id = envelope.request_id.or(parts.request_id.take());
    });
    match status {
        401 if state.bearer.is_some() => {
            return AttemptResult::RefreshToken(error.with_hint(state.client.audience_hint()));
        }
        403 => {
            let hint = scope_hint(state.operation, state.bearer.as_deref(), &redactor);
            error = error.with_hint(hint);
        }
        // Only the application that owns the record knows which (contract, Authentication).
        404 => error = error.with_hint("it does not exist, or this client may not see it"),
        407 => error = proxy_error(error, state),
        300..=399 => error = error.with_hint("redirects are not followed: check the base URL"),
        _ => {}
    }
    AttemptResult::Failed {
        retry_after: error.retry_after(),
        error,
        retry: retryable && state.may_replay,
    }
}

/// Returns the error for a proxy that requires authentication. A configured proxy did not pass the request on.
fn proxy_error(error: Error, state: &CallState<'_>) -> Error {
    match state.client.endpoint().proxy() {
        Some(proxy) => error
            .with(|parts| parts.effect = Effect::NotSent)
            .with_hint(format!("the proxy {proxy} requires a credential")),
        None => error.with_hint("an intermediate proxy requires a credential"),
    }
}

fn passed_limit(whole_call: bool, state: &CallState<'_>) -> String {
    let limits = state.limits;
    if whole_call {
        format!("the deadline of the call passed after {:?}", limits.total)
    } else {
        format!("the attempt timed out after {:?}", limits.attempt_timeout)
    }
}

/// Returns the error if a response began but did not end in time.
fn late_body(whole_call: bool, state: &CallState<'_>) -> Error {
    let (limit, target) = (passed_limit(whole_call, state), target(state));
    let message = format!("{limit} while {target} was sending its response");
    Error::timeout(Effect::Unknown, message)
}

fn timed_out(whole_call: bool, not_sent: bool, state: &CallState<'_>) -> AttemptResult {
    let (limit, target) = (passed_limit(whole_call, state), target(state));
    let (message, effect, retry) = if not_sent {
        let or_proxy = state.client.endpoint().sender().or_proxy(None);
        let message = format!("{limit} while waiting for a connection to {target}{or_proxy}");
        (message, Effect::NotSent, true)
    } else {
        let message = format!("{limit} without a response from {target}");
        (message, Effect::Unknown, state.may_replay)
    };
    failed(Error::timeout(effect, message), retry)
}

/// Returns the result if there is no response. The transport's message may quote the request.
fn failed_to_send(error: TransportError, state: &CallState<'_>) -> AttemptResult {
    let (target, mut reason) = (target(state), root_cause(&error).to_string());
    let redactor = state.redactor(b"");
    if redactor.matches(&reason) {
        reason = redactor.line(TextKind::Message, &reason);
    }
    let tls = state.client.endpoint().sender().opens_connections() && is_tls(&error);
    let sending = error.send_state();
    let (kind, message, retryable) = match sending {
        SendState::Unsendable => {
            let message = format!("the HTTP client cannot send the request: {reason}");
            (ErrorKind::InvalidInput, message, false)
        }
        // A retry can't fix a certificate.
        SendState::NotSent => {
            let sender = state.client.endpoint().sender();
            let or_proxy = sender.or_proxy(Some(&error));
            let (failure, reason) = no_connection(tls, &error, reason, sender);
            let message = format!("{failure} {target}{or_proxy}: {reason}");
            (ErrorKind::Connect, message, !tls)
        }
        SendState::Unprocessed | SendState::Unknown | SendState::Unspecified => {
            let kind = if error.is_timeout() {
                ErrorKind::Timeout
            } else {
                ErrorKind::Transport
            };
            (kind, format!("no response from {target}: {reason}"), true)
        }
        SendState::Redirected => (ErrorKind::UnexpectedStatus, reason, false),
    };
    let effect = sending.effect();
    // An unsent request may be retried for any operation.
    let retry = retryable && (effect == Effect::NotSent || state.may_replay);
    let error = Error::new(kind, effect, message)
        .with_cause(error)
        .with(|parts| parts.retryable = retryable)
        .redacted(&redactor);
    failed(error, retry)
}

fn no_connection(
    tls: bool,
    error: &TransportError,
    reason: String,
    sender: &Sender,
) -> (&'static str, String) {
    let failure = match (
        tls,
        !sender.opens_connections() && !is_refused_connection(error),
    ) {
        (true, _) => "TLS handshake failed with",
        (false, true) => "not sent to",
        (false, false) => "cannot connect to",
    };
    // The root cause of a timeout doesn't state its duration.
    let timeout = sender.connect_timeout().filter(|_| error.is_timeout());
    (
        failure,
        timeout.map_or(reason, |most| format!("timed out after {most:?}")),
    )
}

fn target(state: &CallState<'_>) -> String {
    let endpoint = state.client.endpoint();
    describe_target(endpoint.url(), endpoint.proxy())
}

/// Returns the error for a call that is not sent, because its token is known to lack the scope.
pub(super) fn missing_scope(
    operation: &Operation,
    bearer: &BearerToken,
    redactor: &Redactor,
) -> Error {
    let message = "not sent, because the token lacks the required scope";
    let hint = scope_hint(operation, Some(bearer), redactor);
    Error::new(ErrorKind::Forbidden, Effect::NotSent, message).with_hint(hint)
}

/// Returns a hint with the scopes that the operation requires and the scopes that the token was granted.
fn scope_hint(operation: &Operation, bearer: Option<&BearerToken>, redactor: &Redactor) -> String {
    let Some(bearer) = bearer else {
        return "the call was sent without a token".to_owned();
    };
    let required = match operation.scopes {
        [] => "no documented scope".to_owned(),
        [scope] => format!("the scope {scope}"),
        scopes => format!("any of the scopes {}", scopes.join(", ")),
    };
    let granted = match bearer.granted_scopes() {
        None => "the token endpoint did not list the granted scopes".to_owned(),
        Some([]) => "the token was granted no scope".to_owned(),
        Some(scopes) => {
            // Search the scopes joined with spaces, as received. Commas would hide a secret that contains spaces.
            let received = scopes.join(" ");
            let granted = if redactor.matches(&received) {
                received
            } else {
                scopes.join(", ")
            };
            let granted = redactor.line(TextKind::Message, &granted);
            format!("the token was granted {granted}")
        }
    };
    format!(
        "the operation requires {required}, the application's entitlement and a workspace binding; {granted}; \
         record-level and business permission checks remain with the application"
    )
}
