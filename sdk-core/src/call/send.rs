//! The attempt loop: token, send, classify, wait, again.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::{Instant, sleep, timeout_at};
use tracing::{Instrument as _, Span};

use super::Call;
use super::attempt::{self, Outcome};
use super::classify::{Verdict, classify, scope_hint};
use super::observe;
use crate::error::{Effect, Error, ErrorKind};
use crate::idempotency::IdempotencyKey;
use crate::ledger::Claim;
use crate::operation::{Operation, Safety};
use crate::response::Reply;
use crate::retry::RetryPolicy;
use crate::runtime::{Draft, Unreadable};
use crate::scopes::surely_missing;
use crate::token::BearerToken;

/// Decodes a body and keeps the value. The loop itself knows no types, so it exists once.
pub(super) type Take<'a> = &'a mut (dyn FnMut(&Bytes) -> Result<(), Unreadable> + Send);

/// The limits that hold for one call.
pub(super) struct Limits {
    pub(super) attempt_timeout: Duration,
    pub(super) deadline: Instant,
    pub(super) max_bytes: usize,
    retry: RetryPolicy,
}

/// What a call knows while it runs.
pub(super) struct Progress<'a> {
    pub(super) operation: &'static Operation,
    pub(super) key: Option<&'a IdempotencyKey>,
    pub(super) attempts: u32,
    pub(super) may_replay: bool,
    pub(super) bearer: Option<Arc<BearerToken>>,
    /// The most that any attempt so far may have done.
    effect: Effect,
    /// The key, kept from other bodies for as long as it stands for this one.
    claim: Option<Claim<'a>>,
}

impl Call {
    /// Runs the call in a span of its own.
    pub(super) async fn execute(&self, draft: &mut Draft, take: Take<'_>) -> Result<Reply, Error> {
        let span = observe::call_span(self.operation);
        let result = self.run(draft, take).instrument(span.clone()).await;
        if !span.is_none() {
            observe::call_ended(&span, &result);
        }
        result
    }

    async fn run(&self, draft: &mut Draft, take: Take<'_>) -> Result<Reply, Error> {
        self.client.suite().counters.call();
        self.decorate(draft)?;
        let limits = self.limits();
        let mut progress = Progress {
            operation: self.operation,
            key: self.options.key.as_deref(),
            claim: self.claim_key(draft)?,
            attempts: 0,
            may_replay: self.may_replay(),
            bearer: None,
            effect: Effect::NotSent,
        };
        let mut renewed = false;
        loop {
            if self.operation.authenticated {
                match self
                    .bearer(&limits)
                    .await
                    .and_then(|bearer| self.permitted(bearer))
                {
                    Ok(bearer) => progress.bearer = Some(bearer),
                    Err(error) => return Err(self.finish(error, &mut progress, draft)),
                }
            }
            let (error, again, after) =
                match self.attempt(draft, &limits, &mut progress, take).await {
                    Verdict::Done(reply) => {
                        self.client.suite().budget.refund();
                        return Ok(Reply {
                            key: self.options.key.clone(),
                            ..reply
                        });
                    }
                    Verdict::Renew(error) => {
                        // One renewal for one call: a second 401 says nothing about the token that just came.
                        let resend = !renewed
                            && progress.bearer.as_ref().is_some_and(|bearer| {
                                self.client.tokens().reject(bearer).allows_resend()
                            });
                        if !resend {
                            return Err(self.finish(error, &mut progress, draft));
                        }
                        renewed = true;
                        continue;
                    }
                    Verdict::Fail {
                        error,
                        again,
                        after,
                    } => (error, again, after),
                };
            let wait = again
                .then(|| self.wait_before_next(&limits, progress.attempts, after))
                .flatten();
            let Some(wait) = wait else {
                return Err(self.finish(error, &mut progress, draft));
            };
            observe::repeating(&error, progress.attempts, wait);
            sleep(wait).await;
        }
    }

    /// One attempt in a span of its own, judged.
    async fn attempt(
        &self,
        draft: &Draft,
        limits: &Limits,
        progress: &mut Progress<'_>,
        take: Take<'_>,
    ) -> Verdict {
        let unsent = |error| Verdict::Fail {
            error,
            again: false,
            after: None,
        };
        if limits.deadline <= Instant::now() {
            let message = "the deadline of the call passed before it was sent";
            return unsent(Error::new(ErrorKind::Timeout, message).with_retryable(true));
        }
        let (sending, span) = match self.begin(draft, progress) {
            Ok(begun) => begun,
            Err(error) => return unsent(error),
        };
        // Within its own time and the call's.
        let until = Instant::now()
            .checked_add(limits.attempt_timeout)
            .map_or(limits.deadline, |end| end.min(limits.deadline));
        let outcome = timeout_at(until, attempt::run(sending, limits.max_bytes))
            .instrument(span.clone())
            .await
            .unwrap_or(Outcome::TimedOut {
                whole_call: until == limits.deadline,
            });
        let verdict = classify(outcome, progress, take);
        if !span.is_none() {
            observe::attempt_ended(&span, &verdict);
        }
        if let Verdict::Fail { error, .. } = &verdict {
            // What one attempt may have done, no later one undoes.
            if progress.effect != Effect::Unknown {
                progress.effect = error.effect();
            }
        }
        verdict
    }

    /// Sends the request of an attempt. It is begun before anything waits for it, so that no future has to hold the request.
    fn begin(
        &self,
        draft: &Draft,
        progress: &mut Progress<'_>,
    ) -> Result<(impl Future<Output = attempt::Answer> + use<>, Span), Error> {
        let request = self.outgoing(draft, progress.bearer.as_deref())?;
        let span = observe::attempt_span(self.operation, &request, progress.attempts);
        progress.attempts += 1;
        if let Some(claim) = &mut progress.claim {
            claim.may_have_happened = true;
        }
        self.client.suite().counters.attempt();
        let sending = span.in_scope(|| self.client.endpoint().http().execute(request));
        Ok((sending, span))
    }

    async fn bearer(&self, limits: &Limits) -> Result<Arc<BearerToken>, Error> {
        let tokens = self.client.tokens();
        if let Some(bearer) = tokens.try_bearer() {
            return Ok(bearer);
        }
        match timeout_at(limits.deadline, tokens.bearer()).await {
            Ok(Ok(bearer)) => Ok(bearer),
            Ok(Err(error)) => Err(Error::from_token(error)),
            Err(_elapsed) => {
                let message = "the deadline of the call passed while it waited for a token";
                Err(Error::new(ErrorKind::Timeout, message).with_retryable(true))
            }
        }
    }

    /// The token, unless the caller wants calls refused that it surely does not open.
    fn permitted(&self, bearer: Arc<BearerToken>) -> Result<Arc<BearerToken>, Error> {
        let refuse = self
            .options
            .refuse_missing_scopes
            .or(self.client.defaults().refuse_missing_scopes)
            .unwrap_or(self.client.suite().settings.refuse_missing_scopes);
        if refuse && surely_missing(self.operation, bearer.granted_scopes()) {
            return Err(Error::new(
                ErrorKind::Forbidden,
                "not sent, because the token lacks the scope",
            )
            .hint(scope_hint(self.operation, Some(&bearer))));
        }
        Ok(bearer)
    }

    /// How long to wait before another attempt; `None` when there must be none.
    fn wait_before_next(
        &self,
        limits: &Limits,
        made: u32,
        after: Option<Duration>,
    ) -> Option<Duration> {
        if made >= limits.retry.max_attempts {
            return None;
        }
        let wait = limits.retry.delay(made).max(after.unwrap_or_default());
        // A wait that the deadline would cut short helps nobody: the caller gets the error now.
        let until = Instant::now().checked_add(wait)?;
        (until < limits.deadline && self.client.suite().budget.withdraw()).then_some(wait)
    }

    /// Completes an error: what is known of all attempts, and what a command needs to be repeated.
    fn finish(&self, error: Error, progress: &mut Progress<'_>, draft: &Draft) -> Error {
        let effect = match progress.effect {
            Effect::Unknown => Effect::Unknown,
            _ => error.effect(),
        };
        if let Some(claim) = &mut progress.claim {
            claim.may_have_happened = effect == Effect::Unknown;
        }
        let error = error
            .of(self.operation)
            .with_attempts(progress.attempts)
            .with_effect(effect)
            .with_key(self.options.key.clone());
        if !self.operation.safety.is_command() || effect == Effect::Refused {
            return error;
        }
        match self.prepared_from(draft) {
            Ok(command) => error.with_command(command),
            Err(_) => error,
        }
    }

    /// Whether an attempt whose effect is unknown may be followed by another.
    fn may_replay(&self) -> bool {
        match self.operation.safety {
            Safety::Read | Safety::Keyed => true,
            Safety::Unkeyed => self
                .options
                .replay_exact
                .or(self.client.defaults().replay_exact)
                .unwrap_or(self.client.suite().settings.replay_exact),
        }
    }

    fn limits(&self) -> Limits {
        let (own, client, suite) = (
            &self.options,
            self.client.defaults(),
            &self.client.suite().settings,
        );
        let total = own.deadline.or(client.deadline).unwrap_or(suite.deadline);
        let now = Instant::now();
        Limits {
            attempt_timeout: own
                .timeout
                .or(client.timeout)
                .unwrap_or(suite.attempt_timeout),
            // A deadline beyond the clock's range is none.
            deadline: now
                .checked_add(total)
                .unwrap_or_else(|| now + Duration::from_secs(365 * 24 * 3600)),
            max_bytes: suite.max_response_bytes,
            retry: own.retry.or(client.retry).unwrap_or(suite.retry),
        }
    }
}
