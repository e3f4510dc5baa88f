//! Creates spans and events. Attributes follow OpenTelemetry's conventions for HTTP clients, so an exporter needs no
//! mapping. Headers, bodies, queries and keys are never recorded. A disabled span costs a single flag check.

use std::time::Duration;

use tracing::field::{Empty, display};
use tracing::{Span, debug, info_span, warn};
use url::{Position, Url};

use crate::error::Error;
use crate::error::kind::Effect;
use crate::observe::events::{AttemptEnded, CallEnded, Denial, ObservedAttempt};
use crate::operation::Operation;
use crate::text::TextKind;

pub(crate) fn call_span(operation: &'static Operation, installation: Option<&str>) -> Span {
    info_span!(
        "suite.call",
        otel.name = operation.id,
        otel.kind = "internal",
        otel.status_code = Empty,
        suite.application = operation.application.name(),
        suite.operation = operation.id,
        suite.installation = installation,
        suite.attempts = Empty,
        suite.outcome = Empty,
        suite.effect = Empty,
        suite.request_id = Empty,
        error.type = Empty,
    )
}

pub(super) fn call_ended(span: &Span, ended: &CallEnded<'_>) {
    if !span.is_none() {
        span.record("suite.attempts", ended.attempts);
        span.record("suite.outcome", ended.outcome.as_str());
        span.record("suite.effect", ended.effect.map(Effect::as_str));
        span.record("suite.request_id", ended.request_id());
        record_failure(span, ended.error_type);
    }
}

fn record_failure(span: &Span, error_type: Option<&str>) {
    if error_type.is_some() {
        span.record("error.type", error_type);
        span.record("otel.status_code", "ERROR");
    }
}

/// An HTTP client span in OpenTelemetry's terms.
pub(super) fn attempt_span(attempt: &ObservedAttempt<'_>, url: &Url) -> Span {
    let span = info_span!(
        "suite.attempt",
        otel.name = Empty,
        otel.kind = "client",
        otel.status_code = Empty,
        http.request.method = attempt.method.as_str(),
        http.request.resend_count = Empty,
        http.response.status_code = Empty,
        network.protocol.version = Empty,
        url.full = Empty,
        url.template = attempt.template,
        server.address = &**attempt.server_address,
        server.port = attempt.server_port,
        suite.outcome = Empty,
        error.type = Empty,
    );
    if !span.is_none() {
        let (method, template) = (attempt.method.as_str(), attempt.template);
        span.record("otel.name", display(format_args!("{method} {template}")));
        if attempt.number > 1 {
            span.record("http.request.resend_count", attempt.number - 1);
        }
        // Without the query, which may contain a key. A base URL has no user information.
        let without_query = &url[..Position::AfterPath];
        span.record("url.full", TextKind::Message.of(without_query));
    }
    span
}

pub(super) fn attempt_ended(span: &Span, ended: &AttemptEnded<'_>) {
    if !span.is_none() {
        span.record("suite.outcome", ended.outcome.as_str());
        span.record("http.response.status_code", ended.status);
        span.record("network.protocol.version", ended.protocol_version);
        record_failure(span, ended.error_type);
    }
}

pub(super) fn retrying(error: &Error, made: u32, wait: Duration) {
    debug!(
        name: "suite.call.retry",
        attempt = made,
        wait_s = wait.as_secs_f64(),
        error = %error,
        "the call is retried"
    );
}

pub(super) fn denied(made: u32, reason: Denial) {
    debug!(
        name: "suite.call.retry_denied",
        attempt = made,
        reason = reason.as_str(),
        "the call is not retried"
    );
}

pub(super) fn deprecated(operation: &Operation, installation: Option<&str>) {
    warn!(
        name: "suite.response.deprecated",
        application = operation.application.name(),
        operation = operation.id,
        installation,
        "the application announced the end of this operation"
    );
}

pub(crate) fn waited_for_permit(wait: Duration) {
    debug!(
        name: "suite.call.turn",
        wait_s = wait.as_secs_f64(),
        "the attempt waited for a permit"
    );
}
