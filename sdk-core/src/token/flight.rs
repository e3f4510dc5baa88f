//! One renewal, in a task of its own.

use std::error::Error as _;
use std::future::{Future as _, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use tokio::runtime;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};
use tracing::Instrument as _;

use super::{
    AccessToken, BearerToken, TokenEntry, TokenError, TokenErrorKind, TokenRequest, TokenSource,
};

/// How a renewal ended: all its waiters get a clone.
pub(super) type Outcome = Result<Arc<BearerToken>, TokenError>;

/// A renewal under way, as its waiters see it.
#[derive(Clone)]
pub(super) struct Flight {
    pub(super) id: u64,
    pub(super) outcome: watch::Receiver<Option<Outcome>>,
    /// Where its task runs: a runtime that nobody drives any more would never finish it.
    pub(super) runtime: runtime::Id,
    /// When it should be long over.
    pub(super) overdue: Instant,
}

/// The order to start a renewal: whoever gets it must spawn its task.
pub(super) struct Ticket {
    pub(super) id: u64,
    pub(super) outcome: watch::Sender<Option<Outcome>>,
}

/// Obtains a token, puts it into the entry and tells all waiters.
///
/// If the runtime drops this future, the waiters see the sender go and start anew.
pub(super) async fn run(entry: Arc<TokenEntry>, ticket: Ticket) {
    // A trace of its own: any number of calls wait for it, and none of them owns it.
    let span = tracing::info_span!(
        parent: None,
        "suite.token",
        otel.name = "token renewal",
        otel.kind = "internal",
        otel.status_code = tracing::field::Empty,
        suite.audience = entry.request().audience(),
        error.type = tracing::field::Empty,
    );
    renew(entry, ticket).instrument(span).await;
}

async fn renew(entry: Arc<TokenEntry>, ticket: Ticket) {
    let started = Instant::now();
    let answer = timeout(
        entry.policy().renewal_timeout,
        contained(entry.source(), entry.request()),
    )
    .await
    .unwrap_or_else(|_elapsed| Err(TokenError::new(TokenErrorKind::Timeout)));
    let outcome = entry.settle(ticket.id, started, answer);
    report(&entry, started, &outcome);
    // No receiver is no error: the renewal ran in the background.
    ticket.outcome.send_replace(Some(outcome));
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
                cause = error.source().map(tracing::field::display),
                took = ?started.elapsed(),
                live_token = entry.live().is_some(),
                next_attempt_in = ?entry.quiet(),
                "token renewal failed"
            );
        }
    }
}
