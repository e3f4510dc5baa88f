//! The task of one renewal: obtains a token, stores it in its entry, and notifies all waiters.

use std::error::Error as _;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::{Instant, timeout};
use tracing::{Instrument as _, Span};

use crate::app::App;
use crate::text::one_line;

use crate::token::entry::TokenEntry;
use crate::token::error::{TokenError, TokenErrorKind, catch_panic};
use crate::token::waiter::Outcome;
use crate::token::waiter::{Action, Waiter};

/// How often a renewal checks whether anybody can still use its token.
const CHECK: Duration = Duration::from_millis(500);

impl TokenEntry {
    /// What a caller does next. Starts a renewal if one is due.
    pub(super) fn next_action(self: &Arc<Self>, runtime: &Handle, waiter: &mut Waiter) -> Action {
        let (action, start) = self.write().next(Instant::now(), waiter, self.policy());
        if let Some(id) = start {
            self.started();
            let entry = Arc::clone(self);
            let renewal = run(RenewalGuard { entry, id }).instrument(self.span());
            // Outside the lock: a runtime that shuts down drops the task, and with it the guard, at once.
            runtime.spawn(renewal);
        }
        action
    }

    /// The span of a renewal that begins: a separate trace, because many calls may wait for it, and none owns it. It follows
    /// from the call that starts it.
    fn span(&self) -> Span {
        let (app, observers) = self.watched();
        let span = tracing::info_span!(
            parent: None,
            "suite.token",
            otel.name = "token renewal",
            otel.kind = "internal",
            otel.status_code = tracing::field::Empty,
            suite.application = app.map(App::name),
            suite.installation = observers.installation(),
            suite.audience = self.request().audience(),
            error.type = tracing::field::Empty,
        );
        span.follows_from(Span::current());
        span
    }
}

/// A renewal to run. When it is dropped, the renewal has ended or was lost with its runtime, and all waiters are notified.
pub(super) struct RenewalGuard {
    pub(super) entry: Arc<TokenEntry>,
    pub(super) id: u64,
}

impl Drop for RenewalGuard {
    fn drop(&mut self) {
        self.entry.abandon_renewal(self.id);
    }
}

pub(super) async fn run(guard: RenewalGuard) {
    let (entry, started) = (&guard.entry, Instant::now());
    let (app, observers) = entry.watched();
    let watch = observers.renewal(app, TokenErrorKind::Lost.as_str());
    // Its runtime may have stood still until others gave it up.
    if !entry.renews(guard.id) {
        return;
    }
    let limit = entry.policy().renewal_timeout;
    let (source, request) = (entry.source(), entry.request());
    // Not called outside: the call itself may panic.
    let answer = async { source.token(request).await };
    let answer = catch_panic("the token source or its transport", answer);
    let mut answer = pin!(timeout(limit, answer));
    let answer = loop {
        if let Ok(answer) = timeout(CHECK, answer.as_mut()).await {
            break answer;
        }
        // The suite and all its clients are gone: nobody can ever use the token.
        if Arc::strong_count(entry) == 1 {
            return;
        }
    };
    let answer = answer.unwrap_or_else(|_elapsed| {
        let late = format!("the token source did not answer within {limit:?}");
        Err(TokenError::new(TokenErrorKind::Timeout).with_description(late))
    });
    let outcome = entry.settle(guard.id, started, answer);
    report(entry, started, &outcome);
    watch.end(outcome.err().map(|error| error.kind().as_str()));
}

fn report(entry: &TokenEntry, started: Instant, outcome: &Outcome) {
    let request = entry.request();
    match outcome {
        Ok(token) => tracing::debug!(
            name: "suite.token.renewed",
            audience = request.audience(),
            scopes = ?request.scopes(),
            generation = token.generation(),
            expires_in_s = token.expires_in().as_secs_f64(),
            took_s = started.elapsed().as_secs_f64(),
            "token renewed"
        ),
        Err(error) => {
            let span = tracing::Span::current();
            span.record("otel.status_code", "ERROR");
            span.record("error.type", error.kind().as_str());
            tracing::warn!(
                name: "suite.token.renewal_failed",
                audience = request.audience(),
                scopes = ?request.scopes(),
                error = %error,
                cause = error.source().map(|cause| one_line(&cause.to_string())),
                took_s = started.elapsed().as_secs_f64(),
                live_token = entry.live().is_some(),
                next_attempt_in_s = entry.backoff_left().as_secs_f64(),
                "token renewal failed"
            );
        }
    }
}
