//! The spans of calls and attempts in flight. They notify the observers when they start and end.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderValue};
use tokio::time::Instant;
use tracing::Span;
use url::Url;

use crate::error::Error;
use crate::error::kind::Effect;
use crate::observe::events::{
    AttemptAttributes, AttemptEnded, CallEnded, Denial, ErrorType, ObservedAttempt, ObservedCall,
    Outcome, Retry, RetryDenied, WaitReason,
};
use crate::observe::observer::ExtraHeaders;
use crate::observe::observers::{Observers, WaitTimer};
use crate::observe::spans;
use crate::operation::Operation;
use crate::reply::response::{Reply, request_id};

pub(crate) struct CallSpan<'a> {
    observers: &'a Observers,
    operation: &'static Operation,
    pub(crate) span: Span,
    pub(crate) started: Instant,
}

impl<'a> CallSpan<'a> {
    pub(crate) fn begin(observers: &'a Observers, operation: &'static Operation) -> Self {
        let span = spans::call_span(operation, observers.installation());
        if observers.any() {
            let call = observers.call(operation);
            observers.notify(|observer| observer.call_started(&call));
        }
        Self {
            observers,
            operation,
            span,
            started: Instant::now(),
        }
    }

    fn observed(&self) -> ObservedCall<'a> {
        self.observers.call(self.operation)
    }

    /// Begins a wait, which ends when the returned timer is dropped.
    pub(crate) fn wait(&self, reason: WaitReason) -> Option<WaitTimer<'a>> {
        let operation = self.operation;
        self.observers
            .wait(reason, operation.application, Some(operation))
    }

    pub(crate) fn retrying(&self, error: &Error, attempts: u32, wait: Duration) {
        spans::retrying(error, attempts, wait);
        if self.observers.any() {
            let error_type = ErrorType::of(error);
            let retry = Retry {
                call: self.observed(),
                error_type: error_type.as_str(),
                attempts,
                wait,
            };
            self.observers.notify(|observer| observer.retrying(&retry));
        }
    }

    pub(crate) fn denied(&self, error: &Error, attempts: u32, reason: Denial) {
        spans::denied(attempts, reason);
        if self.observers.any() {
            let error_type = ErrorType::of(error);
            let denied = RetryDenied {
                call: self.observed(),
                error_type: error_type.as_str(),
                attempts,
                reason,
            };
            self.observers
                .notify(|observer| observer.retry_denied(&denied));
        }
    }

    /// Emits a warning, once per operation and suite, if a response announces the end of its operation (RFC 9745, RFC
    /// 8594). Nothing else depends on these headers.
    pub(crate) fn note_deprecation(&self, headers: &HeaderMap) {
        // An early draft of the RFC uses booleans.
        let is_true = |it: &HeaderValue| !matches!(it.as_bytes(), b"?0" | b"false");
        let announced =
            headers.get_all("deprecation").iter().any(is_true) || headers.contains_key("sunset");
        if announced && self.observers.is_first_deprecation(self.operation) {
            spans::deprecated(self.operation, self.observers.installation());
        }
    }

    /// `redact` removes secrets from the response's request ID.
    pub(crate) fn end(
        &self,
        attempts: u32,
        result: &Result<Reply, Error>,
        redact: &dyn Fn(&str) -> String,
    ) {
        match result {
            _ if self.is_unobserved() => {}
            Ok(reply) => self.notify(&CallEnded {
                outcome: Outcome::Ok,
                status: Some(reply.status),
                schema_mismatch: reply.mismatch,
                reply: Some(reply),
                request_id: &|| request_id(&reply.headers).map(redact),
                ..self.cancelled(attempts, None)
            }),
            Err(error) => self.notify(&CallEnded {
                outcome: Outcome::Error,
                kind: Some(error.kind()),
                error_type: Some(ErrorType::of(error).as_str()),
                status: error.status(),
                request_id: &|| error.request_id().map(str::to_owned),
                ..self.cancelled(attempts, Some(error.effect()))
            }),
        }
    }

    pub(crate) fn cancel(&self, attempts: u32, effect: Effect) {
        if !self.is_unobserved() {
            self.notify(&self.cancelled(attempts, Some(effect)));
        }
    }

    /// Contains no response data.
    fn cancelled(&self, attempts: u32, effect: Option<Effect>) -> CallEnded<'a> {
        CallEnded {
            call: self.observed(),
            outcome: Outcome::Cancelled,
            attempts,
            effect,
            kind: None,
            error_type: None,
            status: None,
            schema_mismatch: false,
            started: self.started,
            reply: None,
            request_id: &|| None,
        }
    }

    fn is_unobserved(&self) -> bool {
        self.span.is_none() && !self.observers.any()
    }

    fn notify(&self, ended: &CallEnded<'_>) {
        spans::call_ended(&self.span, ended);
        self.observers.notify(|observer| observer.call_ended(ended));
    }
}

/// The address of a server, shareable by events without a copy.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    pub(crate) address: Arc<str>,
    pub(crate) port: u16,
}

impl Server {
    pub(crate) fn of(url: &Url) -> Self {
        Self {
            address: url.host_str().unwrap_or_default().into(),
            port: url.port_or_known_default().unwrap_or_default(),
        }
    }
}

/// An attempt in flight. If it is dropped before it ends, it was cancelled.
pub(crate) struct AttemptSpan<'a> {
    observers: &'a Observers,
    attempt: ObservedAttempt<'a>,
    pub(crate) span: Span,
    pub(crate) started: Instant,
    /// The instant of the last byte, if there is an observer.
    received: Option<Instant>,
    ended: bool,
}

impl<'a> AttemptSpan<'a> {
    pub(crate) fn begin(
        observers: &'a Observers,
        attempt: ObservedAttempt<'a>,
        started: Instant,
        url: &Url,
        headers: &mut HeaderMap,
    ) -> Self {
        let span = spans::attempt_span(&attempt, url);
        if observers.any() {
            let _entered = span.enter();
            let mut extra = ExtraHeaders::new(headers);
            observers.notify(|observer| observer.attempt_started(&attempt, &mut extra));
        }
        Self {
            observers,
            attempt,
            span,
            started,
            received: None,
            ended: false,
        }
    }

    pub(crate) fn received(&mut self) {
        if self.observers.any() {
            self.received = Some(Instant::now());
        }
    }

    pub(crate) fn duration(&self) -> Duration {
        let received = self.received.unwrap_or_else(Instant::now);
        received.saturating_duration_since(self.started)
    }

    pub(crate) fn end(mut self, attributes: &AttemptAttributes<'_>) {
        let failed = attributes.failure.is_some();
        let outcome = if failed { Outcome::Error } else { Outcome::Ok };
        self.notify(outcome, attributes);
    }

    fn notify(&mut self, outcome: Outcome, attributes: &AttemptAttributes<'_>) {
        self.ended = true;
        if !self.span.is_none() || self.observers.any() {
            let ended = AttemptEnded {
                attempt: self.attempt,
                outcome,
                status: attributes.status,
                protocol_version: attributes.protocol_version(),
                error_type: attributes.failure.as_ref().map(ErrorType::as_str),
                effect: attributes.effect,
                request_id: attributes.request_id,
                started: self.started,
                received: self.received.unwrap_or_else(Instant::now),
            };
            spans::attempt_ended(&self.span, &ended);
            self.observers
                .notify(|observer| observer.attempt_ended(&ended));
        }
    }
}

impl Drop for AttemptSpan<'_> {
    fn drop(&mut self) {
        if !self.ended {
            let attributes = AttemptAttributes {
                // The caller did not wait for the response. A token request has no effect.
                effect: self.attempt.call.map(|_| Effect::Unknown),
                ..AttemptAttributes::default()
            };
            self.notify(Outcome::Cancelled, &attributes);
        }
    }
}
