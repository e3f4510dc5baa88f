//! The task of one renewal: obtains a token, puts it into its entry, and tells all who wait.

use std::error::Error as _;
use std::future::{Future as _, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::{Instant, interval_at, timeout};
use tracing::Instrument as _;

use crate::text::one_line;
use crate::token::entry::TokenEntry;
use crate::token::error::{TokenError, TokenErrorKind};
use crate::token::flight::Outcome;
use crate::token::source::{AccessToken, TokenRequest, TokenSource};
use crate::token::state::{Caller, Step};

/// How often a renewal under way shows that its runtime is still driven.
const BEAT: Duration = Duration::from_millis(500);

impl TokenEntry {
    /// What a caller does next. Starts a renewal if one is due.
    pub(super) fn step(self: &Arc<Self>, runtime: &Handle, caller: Caller) -> Step {
        let (step, started) = self.write().next(Instant::now(), caller, self.policy());
        if let Some(id) = started {
            let entry = Arc::clone(self);
            // Outside the lock: a runtime that is shutting down drops the task at once.
            runtime.spawn(run(Ticket { entry, id }));
        }
        step
    }
}

/// The order to start a renewal. Dropped before it is carried out, it was lost with its runtime, and all who wait for it
/// are told.
pub(super) struct Ticket {
    pub(super) entry: Arc<TokenEntry>,
    pub(super) id: u64,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.entry.lose(self.id);
    }
}

/// Obtains a token, puts it into the entry and tells all waiters.
pub(super) async fn run(ticket: Ticket) {
    // A trace of its own: any number of calls wait for it, and none of them owns it.
    let span = tracing::info_span!(
        parent: None,
        "suite.token",
        otel.name = "token renewal",
        otel.kind = "internal",
        otel.status_code = tracing::field::Empty,
        suite.audience = ticket.entry.request().audience(),
        error.type = tracing::field::Empty,
    );
    renew(ticket).instrument(span).await;
}

async fn renew(ticket: Ticket) {
    let (entry, started) = (&ticket.entry, Instant::now());
    let Some(beats) = entry.beats(ticket.id) else {
        return;
    };
    let mut answer = pin!(timeout(
        entry.policy().renewal_timeout,
        contained(entry.source(), entry.request()),
    ));
    let mut beat = interval_at(started + BEAT, BEAT);
    let answer = poll_fn(|context| {
        while beat.poll_tick(context).is_ready() {
            beats.fetch_add(1, Ordering::Relaxed);
        }
        answer.as_mut().poll(context)
    })
    .await
    .unwrap_or_else(|_elapsed| Err(TokenError::new(TokenErrorKind::Timeout)));
    let outcome = entry.settle(ticket.id, started, answer);
    report(entry, started, &outcome);
}

/// Turns a panic of the source into an error for everyone who waits.
async fn contained(
    source: &dyn TokenSource,
    request: &TokenRequest,
) -> Result<AccessToken, TokenError> {
    let mut answer = pin!(async move { source.token(request).await });
    poll_fn(|context| {
        // The source is shared by reference and sees its own broken invariants, if any; the future is not polled again.
        catch_unwind(AssertUnwindSafe(|| answer.as_mut().poll(context))).unwrap_or_else(
            |_payload| {
                Poll::Ready(Err(TokenError::new(TokenErrorKind::Source)
                    .with_description("the token source panicked")))
            },
        )
    })
    .await
}

fn report(entry: &TokenEntry, started: Instant, outcome: &Outcome) {
    let request = entry.request();
    match outcome {
        Ok(token) => tracing::debug!(
            audience = request.audience(),
            scopes = ?request.scopes(),
            generation = token.generation(),
            expires_in = ?token.expires_in(),
            took = ?started.elapsed(),
            "token renewed"
        ),
        Err(error) => {
            let span = tracing::Span::current();
            span.record("otel.status_code", "ERROR");
            span.record("error.type", error.kind().as_str());
            tracing::warn!(
                audience = request.audience(),
                scopes = ?request.scopes(),
                error = %error,
                cause = error.source().map(|cause| one_line(&cause.to_string())),
                took = ?started.elapsed(),
                live_token = entry.live().is_some(),
                next_attempt_in = ?entry.backoff_left(),
                "token renewal failed"
            );
        }
    }
}
