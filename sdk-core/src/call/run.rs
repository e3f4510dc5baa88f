//! The steps of a call in order: options, token, permit, request, attempt, and the delay before the next attempt.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::{Instant, sleep};
use tracing::Instrument as _;

use crate::call::Call;
use crate::call::attempt::{
    self, Answer, AttemptOutcome, AttemptResult, CallState, DecodeResponse, build_request, failed,
};
use crate::call::classify::{classify, missing_scope};
use crate::client::limits::Limits;
use crate::error::Error;
use crate::error::kind::{Effect, ErrorKind};
use crate::observe::active::{AttemptSpan, CallSpan};
use crate::observe::events::{Denial, ObservedAttempt, WaitReason};
use crate::observe::spans;
use crate::options::ScopePolicy;
use crate::policy::concurrency::{ConcurrencyLimit, Permit, PermitTimeout};
use crate::reply::response::Reply;
use crate::request::draft::Draft;
use crate::text::counted;
use crate::token::bearer::BearerToken;
use crate::transport::request_body::{Outgoing, SendTracker};

impl Call {
    /// Runs the call in its own span.
    pub(super) async fn execute(
        &self,
        draft: &mut Draft,
        limits: &Limits,
        decode: DecodeResponse<'_>,
    ) -> Result<Reply, Error> {
        let mut state = CallState::new(self, draft, limits);
        let span = state.call_span.span.clone();
        let result = self.run(&mut state, decode).instrument(span).await;
        state.end(&result);
        result
    }

    /// Makes attempts until an attempt succeeds, or until a retry would not help or is not allowed.
    async fn run(
        &self,
        state: &mut CallState<'_>,
        decode: DecodeResponse<'_>,
    ) -> Result<Reply, Error> {
        Error::without_runtime()?;
        self.apply_options(state.draft)?;
        let error = loop {
            state.bearer = match self.token(state.limits, &state.call_span).await {
                Ok(bearer) => bearer,
                Err(error) => break error,
            };
            let permit = match self.acquire_permit(state).await {
                Ok(permit) => permit,
                Err(error) => break error,
            };
            let next = match self.send_once(state, permit, decode).await {
                AttemptResult::Done(reply) => return Ok(self.succeeded(reply)),
                AttemptResult::RefreshToken(error) => self.may_resend(state, error),
                AttemptResult::Failed {
                    error,
                    retry,
                    retry_after,
                } => self.next_wait(state, error, retry, retry_after),
            };
            match next {
                Ok(None) => {}
                Ok(Some((wait, reason))) => {
                    let _waiting = state.call_span.wait(reason);
                    sleep(wait).await;
                }
                Err(error) => break error,
            }
        };
        Err(self.add_error_context(error, state))
    }

    /// Returns the token, if the operation requires a token. Fails if the token is known to lack the scope and
    /// [`ScopePolicy::Refuse`] is set.
    async fn token(
        &self,
        limits: &Limits,
        call_span: &CallSpan<'_>,
    ) -> Result<Option<Arc<BearerToken>>, Error> {
        if !self.is_authenticated() {
            return Ok(None);
        }
        let tokens = self.client.tokens();
        let bearer = if let Some(bearer) = tokens.try_bearer() {
            bearer
        } else {
            let _waiting = call_span.wait(WaitReason::Token);
            let wait = tokens.bearer_for(limits.attempt_time());
            self.client.in_time(limits, wait).await?
        };
        self.check_scopes(limits, bearer).map(Some)
    }

    fn check_scopes(
        &self,
        limits: &Limits,
        bearer: Arc<BearerToken>,
    ) -> Result<Arc<BearerToken>, Error> {
        let rejects = limits.scope_policy == ScopePolicy::Refuse;
        if rejects && self.operation.lacks_required_scope(bearer.granted_scopes()) {
            return Err(missing_scope(self.operation, &bearer, &self.redactor()));
        }
        Ok(bearer)
    }

    /// Returns a permit for the next attempt, or `None` without a limit.
    async fn acquire_permit(&self, state: &mut CallState<'_>) -> Result<Option<Permit>, Error> {
        let Some(limit) = self.client.concurrency_limit() else {
            return Ok(None);
        };
        let permit = match limit.try_acquire() {
            Some(permit) => permit,
            // Boxed, because few calls wait and the futures of all calls should stay small.
            None => Box::pin(self.wait_for_permit(limit, state)).await?,
        };
        Ok(Some(permit))
    }

    async fn wait_for_permit(
        &self,
        limit: &ConcurrencyLimit,
        state: &mut CallState<'_>,
    ) -> Result<Permit, Error> {
        let limits = state.limits;
        loop {
            let waiting = state.call_span.wait(WaitReason::Limit);
            let since = Instant::now();
            let acquired = limit.acquire(limits.deadline).await;
            drop(waiting);
            spans::waited_for_permit(since.elapsed());
            let permit = acquired.map_err(|timeout| {
                // The permit was missing, not the token.
                state.last_401 = None;
                self.no_permit(timeout, limits)
            })?;
            if state.bearer.is_none() {
                return Ok(permit);
            }
            // The token may have been replaced or have expired during the wait.
            if let Some(live) = self.client.tokens().live() {
                state.bearer = Some(self.check_scopes(limits, live)?);
                return Ok(permit);
            }
            // A call that waits for a token must not occupy a permit that other calls could use.
            drop(permit);
            state.bearer = self.token(limits, &state.call_span).await?;
        }
    }

    /// Returns the error for a call whose deadline passed while it waited for a permit.
    fn no_permit(&self, timeout: PermitTimeout, limits: &Limits) -> Error {
        let PermitTimeout { most, waiting } = timeout;
        let (app, total) = (self.operation.application, limits.total);
        let message = format!(
            "the deadline of the call passed after {total:?} while it waited for a permit: {} of {app} in flight, the maximum \
             of `max_in_flight`, and {waiting} more waiting",
            counted(most, "attempt")
        );
        let hint = "raise `max_in_flight` on the suite's builder, or make fewer concurrent calls";
        Error::timeout(Effect::NotSent, message).with_hint(hint)
    }

    /// Makes and classifies an attempt in its own span. The permit is freed when the response has been read.
    async fn send_once(
        &self,
        state: &mut CallState<'_>,
        permit: Option<Permit>,
        decode: DecodeResponse<'_>,
    ) -> AttemptResult {
        let (limits, started) = (state.limits, Instant::now());
        if limits.deadline <= started {
            let message = "the deadline of the call passed before it was sent";
            return failed(Error::timeout(Effect::NotSent, message), false);
        }
        let tracker = self.send_tracker(limits);
        // Dropping the call also cancels its request.
        let _cancelled = tracker.as_ref().map(SendTracker::cancel_on_drop);
        let (tracker, until) = (tracker.as_ref(), limits.attempt_end());
        let (sending, mut attempt_span) = match self.start_request(state, tracker, started, until) {
            Ok(started) => started,
            Err(error) => return failed(error, false),
        };
        let has_body = state.draft.body.is_some();
        let max_bytes = self.client.suite().max_response_bytes;
        let outcome = attempt::run(sending, max_bytes, until, tracker, has_body)
            .instrument(attempt_span.span.clone())
            .await;
        drop(permit);
        attempt_span.received();
        Self::note_reply(state, &outcome);
        let head = outcome.head();
        let result = classify(outcome, until == limits.deadline, state, decode);
        state.end_attempt(attempt_span, head, result.error());
        result
    }

    /// Returns a tracker that records whether the request of an attempt was sent, if one is needed.
    ///
    /// If the HTTP client's connect timeout is shorter than the attempt's, its error proves that nothing was sent.
    /// Otherwise, the tracked body proves it. In return, the HTTP client can't resend that body on its own.
    fn send_tracker(&self, limits: &Limits) -> Option<SendTracker> {
        let connecting = self.client.endpoint().sender().connect_timeout();
        let proven = connecting.is_some_and(|connecting| connecting <= limits.attempt_time());
        (!proven).then(SendTracker::default)
    }

    /// Starts the request of an attempt before it is awaited, so that the future doesn't contain the request.
    fn start_request<'a>(
        &'a self,
        state: &mut CallState<'_>,
        tracker: Option<&SendTracker>,
        started: Instant,
        until: Instant,
    ) -> Result<(impl Future<Output = Answer> + use<>, AttemptSpan<'a>), Error> {
        let mut request = build_request(self, state.draft, state.bearer.as_deref())?;
        let (suite, endpoint) = (self.client.suite(), self.client.endpoint());
        state.start_attempt();
        suite.attempts.fetch_add(1, Ordering::Relaxed);
        let attempt = ObservedAttempt {
            call: Some(suite.observers.call(self.operation)),
            installation: suite.observers.installation(),
            number: state.attempts,
            method: state.draft.method,
            template: self.operation.route,
            server_address: &endpoint.server().address,
            server_port: endpoint.server().port,
        };
        let Outgoing { url, headers, .. } = &mut request;
        let attempt_span = AttemptSpan::begin(&suite.observers, attempt, started, url, headers);
        let sender = endpoint.sender();
        let sending = attempt_span
            .span
            .in_scope(|| sender.send(request, tracker, until));
        Ok((sending, attempt_span))
    }

    /// Records from the head of a response whether the token was accepted, and whether the operation is deprecated.
    fn note_reply(state: &CallState<'_>, outcome: &AttemptOutcome) {
        let AttemptOutcome::Reply {
            status, headers, ..
        } = outcome
        else {
            return;
        };
        if let Some(bearer) = &state.bearer
            && accepts_token(*status)
        {
            bearer.mark_accepted();
        }
        state.call_span.note_deprecation(headers);
    }

    fn succeeded(&self, reply: Reply) -> Reply {
        self.client.budget().deposit();
        Reply {
            key: self.options.key.clone(),
            ..reply
        }
    }

    /// Decides whether a call that got a 401 is resent with a new token, without a delay. Otherwise, returns the error.
    ///
    /// The first 401 is always followed by a resend. Further consecutive 401s are followed by a resend only a few
    /// times, and only if some call used the rejected token successfully. Such a token was revoked early. If a new
    /// token is rejected immediately, the next token would probably be rejected too.
    fn may_resend(&self, state: &mut CallState<'_>, error: Error) -> NextAttempt {
        state.last_401 = None;
        let allowed = state.bearer.as_ref().is_some_and(|bearer| {
            let tokens = self.client.tokens();
            tokens.reject(bearer, self.operation, state.consecutive_401s)
        });
        if !allowed {
            return Err(error);
        }
        state.renewals += 1;
        state.consecutive_401s += 1;
        state.waited = Duration::ZERO;
        state
            .call_span
            .retrying(&error, state.attempts, state.waited);
        state.last_401 = Some(error);
        Ok(None)
    }

    fn next_wait(
        &self,
        state: &mut CallState<'_>,
        error: Error,
        retry: bool,
        retry_after: Option<Duration>,
    ) -> NextAttempt {
        state.last_401 = None;
        state.consecutive_401s = 0;
        if !retry {
            return Err(error);
        }
        let made = state.attempts - state.renewals;
        let wait = match self.delay(state.limits, made, retry_after) {
            Ok(wait) => wait,
            Err(denial) => {
                state.call_span.denied(&error, state.attempts, denial);
                return Err(error);
            }
        };
        state.waited = wait;
        state.call_span.retrying(&error, state.attempts, wait);
        let reason = match retry_after {
            _ if error.kind() == ErrorKind::RateLimited => WaitReason::Rate,
            Some(_) => WaitReason::RetryAfter,
            None => WaitReason::Backoff,
        };
        Ok(Some((wait, reason)))
    }

    /// Returns the delay between attempts, or the reason why no attempt may follow.
    fn delay(
        &self,
        limits: &Limits,
        made: u32,
        retry_after: Option<Duration>,
    ) -> Result<Duration, Denial> {
        if made >= limits.retry.attempts {
            return Err(Denial::Attempts);
        }
        // Wait at least as long as the server asked, plus jitter so that callers don't retry simultaneously.
        let random = self.client.suite().random.fraction();
        let delay = retry_after
            .unwrap_or_default()
            .saturating_add(limits.retry.backoff.full_jitter(made, random));
        // If the delay would not end before the deadline, return the error immediately.
        let until = Instant::now().checked_add(delay);
        if until.is_none_or(|until| until >= limits.deadline) {
            return Err(Denial::Deadline);
        }
        if self.client.budget().withdraw() {
            Ok(delay)
        } else {
            Err(Denial::Budget)
        }
    }

    fn add_error_context(&self, error: Error, state: &mut CallState<'_>) -> Error {
        // A failed renewal explains why the call was not resent. The 401 is its result.
        let error = match state.last_401.take() {
            Some(rejected) => rejected.after_failed_renewal(error),
            None => error,
        };
        let effect = state.effect.or(error.effect());
        let error = error.with(|parts| {
            parts.attempts = state.attempts;
            parts.attempt_log = std::mem::take(&mut state.log);
            parts.effect = effect;
            parts.key.clone_from(&self.options.key);
        });
        if !self.operation.safety.is_command() || effect == Effect::Refused {
            return error;
        }
        let first_sent = SystemTime::now().checked_sub(state.call_span.started.elapsed());
        let sent = effect != Effect::NotSent;
        match self.prepared_from(state.draft, first_sent.unwrap_or(UNIX_EPOCH), sent) {
            Ok(command) => error.with_command(command),
            Err(_) => error,
        }
    }
}

/// Whether and when a call is retried: immediately, or after a delay with its reason. Otherwise, the call's error.
type NextAttempt = Result<Option<(Duration, WaitReason)>, Error>;

/// Whether a status proves that the application accepted the token. A status that a proxy may send proves nothing.
fn accepts_token(status: u16) -> bool {
    matches!(status, 200..=299 | 403 | 404 | 409 | 422)
}
