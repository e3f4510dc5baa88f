//! One call, from its first poll to its result, or until its caller drops it.

use std::time::Duration;

use tokio::time::Instant;
use tracing::Span;

use crate::error::Error;
use crate::error::attempts::{AttemptRecord, push};
use crate::error::kind::Effect;
use crate::observe::attempt::AttemptWatch;
use crate::observe::error_type::ErrorType;
use crate::observe::event::{
    CallEnded, Denial, End, ObservedCall, Outcome, RequestId, Retry, RetryDenied, WaitReason,
};
use crate::observe::spans;
use crate::observe::watcher::{Waiting, Watcher};
use crate::operation::Operation;
use crate::reply::response::Reply;

/// A call under way. If it is dropped before it ended, its caller dropped it.
pub(crate) struct CallWatch<'a> {
    watcher: &'a Watcher,
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

impl<'a> CallWatch<'a> {
    pub(crate) fn begin(watcher: &'a Watcher, operation: &'static Operation) -> Self {
        let span = spans::call_span(operation, watcher.installation());
        let watch = Self {
            watcher,
            operation,
            span,
            started: Instant::now(),
            attempts: 0,
            effect: Effect::NotSent,
            log: Vec::new(),
            waited: Duration::ZERO,
            in_flight: false,
            ended: false,
        };
        if watcher.is_watching() {
            let call = watch.observed();
            watcher.tell(|observer| observer.call_started(&call));
        }
        watch
    }

    /// A call that is never made, of which nobody is told.
    #[cfg(feature = "test-util")]
    pub(crate) fn rehearsed(
        watcher: &'a Watcher,
        operation: &'static Operation,
        attempts: u32,
    ) -> Self {
        Self {
            watcher,
            operation,
            span: Span::none(),
            started: Instant::now(),
            attempts,
            effect: Effect::NotSent,
            log: Vec::new(),
            waited: Duration::ZERO,
            in_flight: false,
            ended: true,
        }
    }

    fn observed(&self) -> ObservedCall<'a> {
        ObservedCall {
            operation: self.operation,
            installation: self.watcher.installation(),
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
        attempt: AttemptWatch<'_>,
        end: &End<'_>,
        error: Option<&Error>,
    ) {
        self.in_flight = false;
        if let Some(error) = error {
            self.effect = self.effect.or(error.effect());
            let record = AttemptRecord {
                number: self.attempts,
                kind: error.kind(),
                status: error.status(),
                effect: error.effect(),
                request_id: error.request_id().map(str::to_owned),
                began_after: attempt
                    .planned
                    .started
                    .saturating_duration_since(self.started),
                duration: attempt.duration(),
                waited: std::mem::take(&mut self.waited),
            };
            push(&mut self.log, record);
        }
        attempt.end(end);
    }

    /// Begins a wait, which ends when the result is dropped.
    pub(crate) fn wait(&self, reason: WaitReason) -> Option<Waiting<'a>> {
        let operation = self.operation;
        self.watcher
            .wait(reason, operation.application, Some(operation))
    }

    /// Tells that the call is attempted again after a failure.
    pub(crate) fn retrying(&mut self, error: &Error, wait: Duration) {
        self.waited = wait;
        spans::repeating(error, self.attempts, wait);
        if self.watcher.is_watching() {
            let error_type = ErrorType::of(error);
            let retry = Retry {
                call: self.observed(),
                error_type: error_type.as_str(),
                attempts: self.attempts,
                wait,
            };
            self.watcher.tell(|observer| observer.retrying(&retry));
        }
    }

    /// Tells that a call that could be attempted again is not.
    pub(crate) fn denied(&self, error: &Error, reason: Denial) {
        spans::denied(self.attempts, reason);
        if self.watcher.is_watching() {
            let error_type = ErrorType::of(error);
            let denied = RetryDenied {
                call: self.observed(),
                error_type: error_type.as_str(),
                attempts: self.attempts,
                reason,
            };
            self.watcher.tell(|observer| observer.retry_denied(&denied));
        }
    }

    /// Ends the call. `redact` makes the request id of a reply fit to be shown.
    pub(crate) fn end(mut self, result: &Result<Reply, Error>, redact: &dyn Fn(&str) -> String) {
        self.ended = true;
        if !self.span.is_none() {
            spans::call_ended(&self.span, result, redact);
        }
        if !self.watcher.is_watching() {
            return;
        }
        let error_type = result.as_ref().err().map(ErrorType::of);
        self.tell(match result {
            Ok(reply) => CallEnded {
                outcome: Outcome::Ok,
                attempts: reply.attempts,
                status: Some(reply.status),
                schema_mismatch: reply.mismatch,
                reply: Some(reply),
                request_id: RequestId::Redact(redact),
                ..self.cancelled(None)
            },
            Err(error) => CallEnded {
                outcome: Outcome::Error,
                attempts: error.attempts(),
                kind: Some(error.kind()),
                error_type: error_type.as_ref().map(ErrorType::as_str),
                status: error.status(),
                request_id: RequestId::Shown(error.request_id()),
                ..self.cancelled(Some(error.effect()))
            },
        });
    }

    /// The end of a call about which no more is known.
    fn cancelled<'b>(&self, effect: Option<Effect>) -> CallEnded<'b>
    where
        'a: 'b,
    {
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
            request_id: RequestId::Shown(None),
        }
    }

    fn tell(&self, ended: CallEnded<'_>) {
        self.watcher.tell(|observer| observer.call_ended(&ended));
    }
}

impl Drop for CallWatch<'_> {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        let in_flight = if self.in_flight {
            Effect::Unknown
        } else {
            Effect::NotSent
        };
        let effect = self.effect.or(in_flight);
        if !self.span.is_none() {
            spans::call_cancelled(&self.span, self.attempts, effect);
        }
        if self.watcher.is_watching() {
            self.tell(self.cancelled(Some(effect)));
        }
    }
}
