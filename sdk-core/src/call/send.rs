//! The attempt loop: token, send, classify, wait, again.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::{Instant, sleep};
use tracing::Instrument as _;

use crate::call::classify::classify;
use crate::call::progress::{Progress, Take};
use crate::call::refusal::unscoped;
use crate::call::verdict::{Verdict, fail};
use crate::call::{Call, attempt};
use crate::client::limits::Limits;
use crate::error::Error;
use crate::error::kind::{Effect, ErrorKind};
use crate::observe::attempt::{AttemptWatch, Planned};
use crate::observe::call::CallWatch;
use crate::observe::error_type::ErrorType;
use crate::observe::event::{Denial, End, WaitReason};
use crate::options::ScopePolicy;
use crate::policy::in_flight::Place;
use crate::reply::response::Reply;
use crate::request::draft::Draft;
use crate::text::Line;
use crate::token::bearer::BearerToken;
use crate::transport::request_body::{Outgoing, SendTracker};

impl Call {
    /// Runs the call in a span of its own.
    pub(super) async fn execute(
        &self,
        draft: &mut Draft,
        limits: &Limits,
        take: Take<'_>,
    ) -> Result<Reply, Error> {
        let mut watch = CallWatch::begin(&self.client.suite().watcher, self.operation);
        // As after an earlier attempt of the same call: what this one is told proves nothing about that one.
        if self.stored.as_ref().is_some_and(|it| it.was_sent()) {
            watch.effect = Effect::Unknown;
        }
        let span = watch.span.clone();
        let running = self.run(draft, limits, take, &mut watch);
        let result = running.instrument(span).await;
        watch.end(&result, &|id| {
            let body = result.as_ref().map_or(&[][..], |reply| &reply.body);
            let confidential = self.confidential_with(draft, body);
            confidential.line(Line::RequestId, id)
        });
        result
    }

    async fn run(
        &self,
        draft: &mut Draft,
        limits: &Limits,
        take: Take<'_>,
        watch: &mut CallWatch<'_>,
    ) -> Result<Reply, Error> {
        self.client.suite().calls.fetch_add(1, Ordering::Relaxed);
        Error::without_runtime().map_err(|error| error.with_operation(self.operation))?;
        self.decorate(draft)?;
        let draft = &*draft;
        let mut progress = Progress::new(self, draft, limits, watch);
        loop {
            if self.is_authenticated() {
                match self.bearer(limits, progress.watch).await {
                    Ok(bearer) => progress.bearer = Some(bearer),
                    Err(error) => return Err(self.finish(error, &mut progress)),
                }
            }
            let place = match self.turn(&mut progress).await {
                Ok(place) => place,
                Err(error) => return Err(self.finish(error, &mut progress)),
            };
            let (error, again, after) = match self.attempt(&mut progress, place, take).await {
                Verdict::Done(reply) => {
                    self.client.budget().refund();
                    return Ok(Reply {
                        key: self.options.key.clone(),
                        ..reply
                    });
                }
                Verdict::Renew(error) => {
                    progress.refusal = None;
                    if !self.may_resend(&progress) {
                        return Err(self.finish(error, &mut progress));
                    }
                    progress.renewals += 1;
                    progress.refused_in_a_row += 1;
                    progress.watch.retrying(&error, Duration::ZERO);
                    progress.refusal = Some(error);
                    continue;
                }
                Verdict::Fail {
                    error,
                    again,
                    after,
                } => (error, again, after),
            };
            progress.refusal = None;
            progress.refused_in_a_row = 0;
            if !again {
                return Err(self.finish(error, &mut progress));
            }
            let made = progress.watch.attempts - progress.renewals;
            let wait = match self.wait_before_next(limits, made, after) {
                Ok(wait) => wait,
                Err(denial) => {
                    progress.watch.denied(&error, denial);
                    return Err(self.finish(error, &mut progress));
                }
            };
            progress.watch.retrying(&error, wait);
            let reason = match after {
                _ if error.kind() == ErrorKind::RateLimited => WaitReason::Rate,
                Some(_asked) => WaitReason::RetryAfter,
                None => WaitReason::Backoff,
            };
            let _waiting = progress.watch.wait(reason);
            sleep(wait).await;
        }
    }

    /// Whether a call that got a 401 is sent again with another token.
    ///
    /// Always after the first 401. After that only a few times, and only if some call got the rejected token accepted: then
    /// the token died early, while one that is rejected from the start means that no token will be accepted.
    fn may_resend(&self, progress: &Progress<'_, '_>) -> bool {
        progress.bearer.as_ref().is_some_and(|bearer| {
            let tokens = self.client.tokens();
            let rejection = tokens.reject(bearer, self.operation, progress.refused_in_a_row);
            rejection.allows_resend()
        })
    }

    /// One attempt in a span of its own, judged. It gives its place back once the reply was read.
    async fn attempt(
        &self,
        progress: &mut Progress<'_, '_>,
        place: Option<Place>,
        take: Take<'_>,
    ) -> Verdict {
        let (limits, draft, started) = (progress.limits, progress.draft, Instant::now());
        if limits.deadline <= started {
            let message = "the deadline of the call passed before it was sent";
            return fail(Error::timeout(message), false);
        }
        // If the HTTP client's own connect timeout is shorter, its error proves that nothing was sent. Otherwise the watched body
        // proves it, at the price that the HTTP client cannot resend that body by itself.
        let connecting = self.client.endpoint().sender().connect_timeout();
        let proven = connecting.is_some_and(|connecting| connecting <= limits.attempt_time());
        let tracker = (!proven).then(SendTracker::default);
        // A call that is dropped gives its request up too.
        let _given_up = tracker.as_ref().map(SendTracker::cancel_on_drop);
        let until = limits.attempt_end();
        let (sending, mut watch) = match self.begin(progress, tracker.as_ref(), started, until) {
            Ok(begun) => begun,
            Err(error) => return fail(error, false),
        };
        let (tracker, has_body) = (tracker.as_ref(), draft.body.is_some());
        let outcome = attempt::run(sending, limits.max_bytes, until, tracker, has_body)
            .instrument(watch.span.clone())
            .await;
        drop(place);
        watch.received();
        if let Some(bearer) = &progress.bearer
            && outcome.status().is_some_and(accepts_token)
        {
            bearer.mark_accepted();
        }
        if let attempt::Outcome::Reply { headers, .. } = &outcome {
            progress.watch.note_deprecation(headers);
        }
        let (status, version) = (outcome.status(), outcome.version());
        let verdict = classify(outcome, until == limits.deadline, progress, take);
        let error = verdict.error();
        let end = End {
            status,
            version,
            failure: error.map(ErrorType::of),
            effect: error.map(Error::effect),
            request_id: error.and_then(Error::request_id),
        };
        progress.watch.attempted(watch, &end, error);
        verdict
    }

    /// Starts the request of an attempt before anything awaits it, so that no future has to hold the request.
    fn begin<'a>(
        &'a self,
        progress: &mut Progress<'_, '_>,
        tracker: Option<&SendTracker>,
        started: Instant,
        until: Instant,
    ) -> Result<
        (
            impl Future<Output = attempt::Answer> + use<>,
            AttemptWatch<'a>,
        ),
        Error,
    > {
        let mut request = self.outgoing(progress.draft, progress.bearer.as_deref())?;
        let (suite, endpoint) = (self.client.suite(), self.client.endpoint());
        progress.watch.attempting();
        suite.attempts.fetch_add(1, Ordering::Relaxed);
        let planned = Planned {
            operation: Some(self.operation),
            method: progress.draft.method,
            template: self.operation.route,
            server: endpoint.server(),
            number: progress.watch.attempts,
            started,
        };
        let Outgoing { url, headers, .. } = &mut request;
        let watch = AttemptWatch::begin(&suite.watcher, planned, url, headers);
        let sender = endpoint.sender();
        let sending = watch.span.in_scope(|| sender.send(request, tracker, until));
        Ok((sending, watch))
    }

    /// The token. With [`ScopePolicy::Refuse`], one that surely lacks the scope is an error.
    pub(super) async fn bearer(
        &self,
        limits: &Limits,
        watch: &CallWatch<'_>,
    ) -> Result<Arc<BearerToken>, Error> {
        let tokens = self.client.tokens();
        let bearer = if let Some(bearer) = tokens.try_bearer() {
            bearer
        } else {
            let _waiting = watch.wait(WaitReason::Token);
            let wait = tokens.bearer_for(limits.attempt_time());
            self.client.in_time(limits, wait).await?
        };
        self.scoped(limits, bearer)
    }

    /// The token, unless it surely lacks the scope and [`ScopePolicy::Refuse`] is set.
    pub(super) fn scoped(
        &self,
        limits: &Limits,
        bearer: Arc<BearerToken>,
    ) -> Result<Arc<BearerToken>, Error> {
        let refuses = limits.scope_policy == ScopePolicy::Refuse;
        if refuses && self.operation.lacks_required_scope(bearer.granted_scopes()) {
            return Err(unscoped(self.operation, &bearer, &self.confidential()));
        }
        Ok(bearer)
    }

    /// How long to wait before the next attempt, or why there must be none.
    fn wait_before_next(
        &self,
        limits: &Limits,
        made: u32,
        after: Option<Duration>,
    ) -> Result<Duration, Denial> {
        if made >= limits.retry.attempts {
            return Err(Denial::Attempts);
        }
        // Never earlier than the server asked, and with jitter, so that callers do not all return at once.
        let roll = self.client.suite().chance.roll();
        let wait = after
            .unwrap_or_default()
            .saturating_add(limits.retry.backoff.full_jitter(made, roll));
        // If the wait does not end before the deadline, the caller gets the error now.
        let until = Instant::now().checked_add(wait);
        if until.is_none_or(|until| until >= limits.deadline) {
            return Err(Denial::Deadline);
        }
        if self.client.budget().withdraw() {
            Ok(wait)
        } else {
            Err(Denial::Budget)
        }
    }

    /// Completes an error with what is known of all attempts, and with the command to send again.
    pub(super) fn finish(&self, error: Error, progress: &mut Progress<'_, '_>) -> Error {
        // A failed renewal explains why the call was not sent again; the refusal is its result.
        let error = match progress.refusal.take() {
            Some(refusal) => refusal.after_failed_renewal(error),
            None => error,
        };
        let effect = progress.watch.effect.or(error.effect());
        let error = error.with_operation(self.operation).with(|parts| {
            parts.attempts = progress.watch.attempts;
            parts.attempt_log = std::mem::take(&mut progress.watch.log);
            parts.effect = effect;
            parts.key.clone_from(&self.options.key);
        });
        if !self.operation.safety.is_command() || effect == Effect::Refused {
            return error;
        }
        let first_sent = SystemTime::now().checked_sub(progress.watch.started.elapsed());
        let sent = effect != Effect::NotSent;
        match self.prepared_from(progress.draft, first_sent.unwrap_or(UNIX_EPOCH), sent) {
            Ok(command) => error.with_command(command),
            Err(_) => error,
        }
    }
}

/// Whether a status proves that the application accepted the token. A status that a proxy may send proves nothing.
fn accepts_token(status: u16) -> bool {
    matches!(status, 200..=299 | 403 | 404 | 409 | 422)
}
