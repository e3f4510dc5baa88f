//! A span per call, a span per attempt, and an event per retry.
//!
//! Attributes follow OpenTelemetry's conventions for HTTP clients, so an exporter needs no mapping. No header, body, query or
//! key is ever recorded. A disabled span costs one check of a flag.

use std::time::Duration;

use tracing::field::{Empty, display};
use tracing::{Span, debug, info_span};
use url::Url;

use crate::error::Error;
use crate::operation::Operation;
use crate::reply::response::{Reply, request_id};
use crate::secret::confidential::Confidential;
use crate::text::Line;

/// The span of a call, which contains its attempts and waits.
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
        suite.effect = Empty,
        suite.request_id = Empty,
        error.type = Empty,
    )
}

pub(crate) fn call_ended(span: &Span, result: &Result<Reply, Error>, confidential: &Confidential) {
    match result {
        Ok(reply) => {
            span.record("suite.attempts", reply.attempts);
            if let Some(id) = request_id(&reply.headers) {
                span.record("suite.request_id", confidential.line(Line::RequestId, id));
            }
        }
        Err(error) => {
            span.record("suite.attempts", error.attempts());
            span.record("suite.effect", display(error.effect()));
            span.record("error.type", error_type(error).as_str());
            span.record("otel.status_code", "ERROR");
            if let Some(id) = error.request_id() {
                span.record("suite.request_id", id);
            }
        }
    }
}

/// The span of one attempt: an HTTP client span in OpenTelemetry's terms.
pub(crate) fn attempt_span(operation: &'static Operation, url: &Url, before: u32) -> Span {
    let span = info_span!(
        "suite.attempt",
        otel.name = Empty,
        otel.kind = "client",
        otel.status_code = Empty,
        http.request.method = operation.method.as_str(),
        http.request.resend_count = Empty,
        http.response.status_code = Empty,
        url.template = operation.route,
        server.address = Empty,
        server.port = Empty,
        error.type = Empty,
    );
    if !span.is_none() {
        span.record(
            "otel.name",
            display(format_args!("{} {}", operation.method, operation.route)),
        );
        if before > 0 {
            span.record("http.request.resend_count", before);
        }
        if let Some(host) = url.host_str() {
            span.record("server.address", host);
        }
        if let Some(port) = url.port_or_known_default() {
            span.record("server.port", port);
        }
    }
    span
}

/// Records the end of an attempt: the status of an accepted reply, or an error.
pub(crate) fn attempt_ended(span: &Span, ended: Result<u16, &Error>) {
    let error = match ended {
        Ok(status) => {
            span.record("http.response.status_code", status);
            return;
        }
        Err(error) => error,
    };
    if let Some(status) = error.status() {
        span.record("http.response.status_code", status);
    }
    span.record("error.type", error_type(error).as_str());
    span.record("otel.status_code", "ERROR");
}

/// Emits the event of a failed attempt that is followed by another one.
pub(crate) fn repeating(error: &Error, made: u32, wait: Duration) {
    debug!(attempt = made, wait_ms = wait.as_secs_f64() * 1000.0, error = %error, "the call is retried");
}

/// Emits the event of an attempt that waited for its turn because others were in flight.
pub(crate) fn had_to_wait(wait: Duration) {
    debug!(
        wait_ms = wait.as_secs_f64() * 1000.0,
        "the attempt waited for its turn"
    );
}

/// The `error.type` of OpenTelemetry: the status of an error reply, or the name of the error kind.
fn error_type(error: &Error) -> String {
    match error.status() {
        Some(status) if !(200..300).contains(&status) => status.to_string(),
        _ => error.kind().as_str().to_owned(),
    }
}
