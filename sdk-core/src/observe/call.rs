//! One call, from its first poll to its result, or until its caller drops it.

use std::time::Duration;

use http::{HeaderMap, HeaderValue};
use tokio::time::Instant;
use tracing::Span;

use crate::error::Error;
use crate::error::kind::Effect;
use crate::error::kind::{AttemptRecord, push};
use crate::observe::attempt::AttemptSpan;
use crate::observe::error_type::ErrorType;
use crate::observe::event::{
    AttemptEnd, CallEnded, Denial, ObservedCall, Outcome, Retry, RetryDenied, WaitReason,
};
use crate::observe::observers::{Observers, WaitTimer};
use crate::observe::spans;
use crate::operation::Operation;
use crate::reply::response::{Reply, request_id};

/// A call under way. If it is dropped before it ended, its caller dropped it.
pub(crate) struct CallSpan<'a> {
    observers: &'a Observers,
    operation: &'static Operation,
    pub(crate) span: Span,
    pub(crate) started: Instant,
    /// How many attempts were made.
    pub(crate) attempts: u32,
    /// The strongest effect that any attempt may have had.
    pub(crate) effect: Effect,
    /// Its failed attempts.
    pub(crate) log: Vec<AttemptRecord>,
    /// How long it waited before the attempt that comes next or is in flight.
    waited: Duration,
    in_flight: bool,
    ended: bool,
}

impl<'a> CallSpan<'a> {
    pub(crate) fn begin(observers: &'a Observers, operation: &'static Operation) -> Self {
        let span = spans::call_span(operation, observers.installation());
        let watch = Self::new(observers, operation, span, false);
        if observers.any() {
            let call = watch.observed();
            observers.notify(|observer| observer.call_started(&call));
        }
        watch
    }

    /// A call, of which nobody is told if it has already ended.
    pub(crate) fn new(
        observers: &'a Observers,
        operation: &'static Operation,
        span: Span,
        ended: bool,
    ) -> Self {
        Self {
            observers,
            operation,
            span,
            started: Instant::now(),
            attempts: 0,
            effect: Effect::NotSent,
            log: Vec::new(),
            waited: Duration::ZERO,
            in_flight: false,
            ended,
        }
    }

    fn observed(&self) -> ObservedCall<'a> {
        ObservedCall {
            operation: self.operation,
            installation: self.observers.installation(),
        }
    }

    /// Notes that an attempt begins.
    pub(crate) fn attempting(&mut self) {
        self.attempts += 1;
        self.in_flight = true;
    }

    /// Ends an attempt, with its error if it failed.
    pub(crate) fn attempted(
        &mut self,
        attempt: AttemptSpan<'_>,
        end: &AttemptEnd<'_>,
        error: Option<&Error>,
    ) {
        self.in_flight = false;
        if let Some(error) = error {
            self.effect = self.effect.or(error.effect());
            let started = attempt.planned.started;
            let record = AttemptRecord {
                began_after: started.saturating_duration_since(self.started),
                duration: attempt.duration(),
                waited: std::mem::take(&mut self.waited),
                ..error.as_attempt(self.attempts)
            };
            push(&mut self.log, record);
        }
        attempt.end(end);
    }

    /// Begins a wait, which ends when the result is dropped.
    pub(crate) fn wait(&self, reason: WaitReason) -> Option<WaitTimer<'a>> {
        let operation = self.operation;
        self.observers
            .wait(reason, operation.application, Some(operation))
    }

    /// Tells that the call is attempted again after a failure.
    pub(crate) fn retrying(&mut self, error: &Error, wait: Duration) {
        self.waited = wait;
        spans::repeating(error, self.attempts, wait);
        if self.observers.any() {
            let error_type = ErrorType::of(error);
            let retry = Retry {
                call: self.observed(),
                error_type: error_type.as_str(),
                attempts: self.attempts,
                wait,
            };
            self.observers.notify(|observer| observer.retrying(&retry));
        }
    }

    /// Tells that a call that could be attempted again is not.
    pub(crate) fn denied(&self, error: &Error, reason: Denial) {
        spans::denied(self.attempts, reason);
        if self.observers.any() {
            let error_type = ErrorType::of(error);
            let denied = RetryDenied {
                call: self.observed(),
                error_type: error_type.as_str(),
                attempts: self.attempts,
                reason,
            };
            self.observers
                .notify(|observer| observer.retry_denied(&denied));
        }
    }

    /// Warns once per operation and suite if a response announces the end of its operation (RFC 9745, RFC 8594). Nothing
    /// else depends on these headers.
    pub(crate) fn note_deprecation(&self, headers: &HeaderMap) {
        // An early draft has booleans.
        let says_yes = |it: &HeaderValue| !matches!(it.as_bytes(), b"?0" | b"false");
        let announced =
            headers.get_all("deprecation").iter().any(says_yes) || headers.contains_key("sunset");
        if announced && self.observers.warns_of(self.operation) {
            spans::deprecated(self.operation, self.observers.installation());
        }
    }

    /// Ends the call. `redact` makes the request id of a reply fit to be shown.
    pub(crate) fn end(mut self, result: &Result<Reply, Error>, redact: &dyn Fn(&str) -> String) {
        self.ended = true;
        match result {
            _ if self.is_unseen() => {}
            Ok(reply) => self.notify(&CallEnded {
                outcome: Outcome::Ok,
                status: Some(reply.status),
                schema_mismatch: reply.mismatch,
                reply: Some(reply),
                request_id: &|| request_id(&reply.headers).map(redact),
                ..self.cancelled(None)
            }),
            Err(error) => self.notify(&CallEnded {
                outcome: Outcome::Error,
                kind: Some(error.kind()),
                error_type: Some(ErrorType::of(error).as_str()),
                status: error.status(),
                request_id: &|| error.request_id().map(str::to_owned),
                ..self.cancelled(Some(error.effect()))
            }),
        }
    }

    /// The end of a call about which no more is known.
    fn cancelled(&self, effect: Option<Effect>) -> CallEnded<'a> {
        CallEnded {
            call: self.observed(),
            outcome: Outcome::Cancelled,
            attempts: self.attempts,
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

    fn is_unseen(&self) -> bool {
        self.span.is_none() && !self.observers.any()
    }

    fn notify(&self, ended: &CallEnded<'_>) {
        spans::call_ended(&self.span, ended);
        self.observers.notify(|observer| observer.call_ended(ended));
    }
}

impl Drop for CallSpan<'_> {
    fn drop(&mut self) {
        if !self.ended && !self.is_unseen() {
            let in_flight = self.in_flight.then_some(Effect::Unknown);
            let effect = in_flight.unwrap_or(self.effect);
            self.notify(&self.cancelled(Some(effect)));
        }
    }
}
