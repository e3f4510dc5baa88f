//! The steps of a call, in their order: options, token, permit, request, attempt, and the wait before the next attempt.

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
    /// Runs the call in a span of its own.
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

    /// Makes attempts until one succeeds, or until another would not help or is not allowed.
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

    /// The token, if the operation takes one, unless it certainly lacks the scope and [`ScopePolicy::Refuse`] is set.
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

    /// A permit for the next attempt; `None` if any number may be in flight.
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
                // It is not the token that was missing.
                state.last_401 = None;
                self.no_permit(timeout, limits)
            })?;
            if state.bearer.is_none() {
                return Ok(permit);
            }
            // Meanwhile the token may have been replaced, or have expired.
            if let Some(live) = self.client.tokens().live() {
                state.bearer = Some(self.check_scopes(limits, live)?);
                return Ok(permit);
            }
            // A call that waits for a token holds no permit that others could use.
            drop(permit);
            state.bearer = self.token(limits, &state.call_span).await?;
        }
    }

    /// The error of a call whose deadline passed while it waited for a permit.
    fn no_permit(&self, timeout: PermitTimeout, limits: &Limits) -> Error {
        let PermitTimeout { most, waiting } = timeout;
        let (app, total) = (self.operation.application, limits.total);
        let message = format!(
            "the deadline of the call passed, {total:?} after it began, while it waited for its turn: {} of {app} in flight, as \
             many as `max_in_flight` allows, and {waiting} more wait",
            counted(most, "attempt")
        );
        let hint = "raise `max_in_flight` of the suite's builder, or make fewer calls at once";
        Error::timeout(Effect::NotSent, message).with_hint(hint)
    }

    /// One attempt in a span of its own, classified. It returns its permit once the reply was read.
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
        // A call that is dropped cancels its request too.
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

    /// What proves whether the request of an attempt was sent.
    ///
    /// If the HTTP client's own connect timeout is shorter, its error proves that nothing was sent. Otherwise the tracked body
    /// proves it, at the price that the HTTP client cannot resend that body by itself.
    fn send_tracker(&self, limits: &Limits) -> Option<SendTracker> {
        let connecting = self.client.endpoint().sender().connect_timeout();
        let proven = connecting.is_some_and(|connecting| connecting <= limits.attempt_time());
        (!proven).then(SendTracker::default)
    }

    /// Starts the request of an attempt before anything awaits it, so that no future has to hold the request.
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

    /// Reads from the head of a reply whether the token was accepted, and whether the operation is deprecated.
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

    /// Whether a call that got a 401 is sent again with another token, without a wait; otherwise the error.
    ///
    /// Always after the first 401. After that only a few times, and only if some call got the rejected token accepted: then
    /// the token died early, while one that is rejected from the start means that no token will be accepted.
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

    /// How long and why to wait before the next attempt; the error if there must be none.
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
            Some(_asked) => WaitReason::RetryAfter,
            None => WaitReason::Backoff,
        };
        Ok(Some((wait, reason)))
    }

    /// The delay between attempts, or why there must be no other attempt.
    fn delay(
        &self,
        limits: &Limits,
        made: u32,
        retry_after: Option<Duration>,
    ) -> Result<Duration, Denial> {
        if made >= limits.retry.attempts {
            return Err(Denial::Attempts);
        }
        // Never earlier than the server asked, and with jitter, so that callers do not all return at once.
        let random = self.client.suite().random.fraction();
        let delay = retry_after
            .unwrap_or_default()
            .saturating_add(limits.retry.backoff.full_jitter(made, random));
        // If the delay does not end before the deadline, the caller gets the error now.
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

    /// Completes an error with what is known of all attempts, and with the command to send again.
    fn add_error_context(&self, error: Error, state: &mut CallState<'_>) -> Error {
        // A failed renewal explains why the call was not sent again; the 401 is its result.
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

/// Whether and when a call is attempted again: at once, or after a wait with its reason; or the error with which it ends.
type NextAttempt = Result<Option<(Duration, WaitReason)>, Error>;

/// Whether a status proves that the application accepted the token. A status that a proxy may send proves nothing.
fn accepts_token(status: u16) -> bool {
    matches!(status, 200..=299 | 403 | 404 | 409 | 422)
}
