//! One attempt, from its request to the end of its reply.

use std::sync::Arc;
use std::time::Duration;

use http::HeaderMap;
use tokio::time::Instant;
use tracing::Span;
use url::Url;

use crate::error::kind::Effect;
use crate::observe::error_type::ErrorType;
use crate::observe::event::{AttemptEnd, AttemptEnded, ObservedAttempt, ObservedCall, Outcome};
use crate::observe::headers::ExtraHeaders;
use crate::observe::observers::Observers;
use crate::observe::spans;
use crate::operation::{Method, Operation};

/// Where requests go, in a form that events share without a copy.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    address: Arc<str>,
    port: u16,
}

impl Server {
    pub(crate) fn of(url: &Url) -> Self {
        Self {
            address: url.host_str().unwrap_or_default().into(),
            port: url.port_or_known_default().unwrap_or_default(),
        }
    }
}

/// What an attempt is.
#[derive(Clone, Copy)]
pub(crate) struct AttemptInfo<'a> {
    /// `None` if it is a token exchange.
    pub(crate) operation: Option<&'static Operation>,
    pub(crate) method: Method,
    pub(crate) template: &'a str,
    pub(crate) server: &'a Server,
    pub(crate) number: u32,
    pub(crate) started: Instant,
}

/// An attempt under way. If it is dropped before it ended, it was cancelled.
pub(crate) struct AttemptSpan<'a> {
    observers: &'a Observers,
    pub(crate) planned: AttemptInfo<'a>,
    pub(crate) span: Span,
    /// When the last byte came, if that matters to anybody.
    received: Option<Instant>,
    ended: bool,
}

impl<'a> AttemptSpan<'a> {
    /// Begins an attempt, with the headers that its observers add.
    pub(crate) fn begin(
        observers: &'a Observers,
        planned: AttemptInfo<'a>,
        url: &Url,
        headers: &mut HeaderMap,
    ) -> Self {
        let observed = planned.observed(observers.installation());
        let span = spans::attempt_span(&observed, url);
        if observers.any() {
            let _entered = span.enter();
            let mut extra = ExtraHeaders::new(headers);
            observers.notify(|observer| observer.attempt_started(&observed, &mut extra));
        }
        Self {
            observers,
            planned,
            span,
            received: None,
            ended: false,
        }
    }

    /// Notes that the reply has been read.
    pub(crate) fn received(&mut self) {
        if self.observers.any() {
            self.received = Some(Instant::now());
        }
    }

    /// How long it took, or has taken until now.
    pub(super) fn duration(&self) -> Duration {
        let received = self.received.unwrap_or_else(Instant::now);
        received.saturating_duration_since(self.planned.started)
    }

    /// Ends it.
    pub(crate) fn end(mut self, end: &AttemptEnd<'_>) {
        let failed = end.failure.is_some();
        self.notify(if failed { Outcome::Error } else { Outcome::Ok }, end);
    }

    fn notify(&mut self, outcome: Outcome, end: &AttemptEnd<'_>) {
        self.ended = true;
        if !self.span.is_none() || self.observers.any() {
            let ended = AttemptEnded {
                attempt: self.planned.observed(self.observers.installation()),
                outcome,
                status: end.status,
                protocol_version: end.protocol_version(),
                error_type: end.failure.as_ref().map(ErrorType::as_str),
                effect: end.effect,
                request_id: end.request_id,
                started: self.planned.started,
                received: self.received.unwrap_or_else(Instant::now),
            };
            spans::attempt_ended(&self.span, &ended);
            self.observers
                .notify(|observer| observer.attempt_ended(&ended));
        }
    }
}

impl<'a> AttemptInfo<'a> {
    fn observed(&self, installation: Option<&'a str>) -> ObservedAttempt<'a> {
        ObservedAttempt {
            call: self.operation.map(|operation| ObservedCall {
                operation,
                installation,
            }),
            installation,
            number: self.number,
            method: self.method,
            template: self.template,
            server_address: &self.server.address,
            server_port: self.server.port,
        }
    }
}

impl Drop for AttemptSpan<'_> {
    fn drop(&mut self) {
        if !self.ended {
            let end = AttemptEnd {
                // Nobody waited to see. An exchange has no effect.
                effect: self.planned.operation.map(|_| Effect::Unknown),
                ..AttemptEnd::default()
            };
            self.notify(Outcome::Cancelled, &end);
        }
    }
}
