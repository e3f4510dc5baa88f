//! The attempt loop: token, send, classify, wait, again.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::{Instant, sleep};
use tracing::{Instrument as _, Span};

use crate::call::classify::classify;
use crate::call::progress::{Progress, Take};
use crate::call::refusal::unscoped;
use crate::call::verdict::{Verdict, fail};
use crate::call::{Call, attempt};
use crate::client::limits::Limits;
use crate::error::Error;
use crate::error::kind::Effect;
use crate::observe::spans as observe;
use crate::options::ScopePolicy;
use crate::policy::in_flight::Place;
use crate::reply::response::Reply;
use crate::request::draft::Draft;
use crate::token::bearer::BearerToken;
use crate::token::rejection::Target;
use crate::transport::request::Begun;

/// The longest URL that the HTTP client takes, in bytes.
const LONGEST_URL: usize = 65_534;

impl Call {
    /// Runs the call in a span of its own.
    pub(super) async fn execute(
        &self,
        draft: &mut Draft,
        limits: &Limits,
        take: Take<'_>,
    ) -> Result<Reply, Error> {
        let span = observe::call_span(self.operation, self.client.suite().label.as_deref());
        let result = self.run(draft, limits, take).instrument(span.clone()).await;
        if !span.is_none() {
            let body = result.as_ref().map_or(&[][..], |reply| &reply.body);
            observe::call_ended(&span, &result, &self.confidential_with(body));
        }
        result
    }

    async fn run(
        &self,
        draft: &mut Draft,
        limits: &Limits,
        take: Take<'_>,
    ) -> Result<Reply, Error> {
        self.client.suite().counters.call();
        Error::without_runtime().map_err(|error| error.of(self.operation))?;
        self.decorate(draft)?;
        let draft = &*draft;
        let length = draft.url.as_str().len();
        if length > LONGEST_URL {
            let rule = format!("have at most {LONGEST_URL} bytes");
            let found = format!("{length} bytes, query included");
            return Err(Error::invalid("URL", &rule, &found).of(self.operation));
        }
        let mut progress = Progress::new(self, draft, limits);
        loop {
            if self.is_authenticated() {
                match self.bearer(limits).await {
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
            let made = progress.attempts - progress.renewals;
            let wait = again
                .then(|| self.wait_before_next(limits, made, after))
                .flatten();
            let Some(wait) = wait else {
                return Err(self.finish(error, &mut progress));
            };
            observe::repeating(&error, progress.attempts, wait);
            sleep(wait).await;
        }
    }

    /// Whether a call that got a 401 is sent again with another token.
    ///
    /// Always after the first 401. After that only a few times, and only if some call got the rejected token accepted: then
    /// the token died early, while one that is rejected from the start means that no token will be accepted.
    fn may_resend(&self, progress: &Progress<'_>) -> bool {
        progress.bearer.as_ref().is_some_and(|bearer| {
            let target = Target::new(self.operation, progress.draft.url.path());
            let tokens = self.client.tokens();
            let rejection = tokens.reject(bearer, target, progress.refused_in_a_row);
            rejection.allows_resend()
        })
    }

    /// One attempt in a span of its own, judged. It gives its place back once the reply was read.
    async fn attempt(
        &self,
        progress: &mut Progress<'_>,
        place: Option<Place>,
        take: Take<'_>,
    ) -> Verdict {
        let (limits, draft) = (progress.limits, progress.draft);
        if limits.deadline <= Instant::now() {
            let message = "the deadline of the call passed before it was sent";
            return fail(Error::timeout(message), false);
        }
        // If the suite's own connect timeout is shorter, its error proves that nothing was sent. Otherwise the watched body
        // proves it, at the price that the HTTP client cannot resend that body by itself.
        let connecting = self.client.suite().connections.connect_timeout();
        let watched = self.client.endpoint().sender().needs_watching();
        let begun = (watched || limits.attempt_time() < connecting).then(Begun::default);
        let (sending, span) = match self.begin(progress, begun.as_ref()) {
            Ok(begun) => begun,
            Err(error) => return fail(error, false),
        };
        let until = limits.attempt_end();
        let never_begun = || draft.body.is_some() && begun.as_ref().is_some_and(Begun::give_up);
        let outcome = attempt::run(sending, limits.max_bytes, until, never_begun)
            .instrument(span.clone())
            .await;
        drop(place);
        if let Some(bearer) = &progress.bearer
            && outcome.status().is_some_and(accepts_token)
        {
            let tokens = self.client.tokens();
            tokens.serves(bearer, self.operation, draft.url.path());
        }
        let verdict = classify(outcome, until == limits.deadline, progress, take);
        if !span.is_none() {
            observe::attempt_ended(&span, verdict.ended());
        }
        if let Verdict::Renew(error) | Verdict::Fail { error, .. } = &verdict {
            progress.effect = progress.effect.or(error.effect());
        }
        verdict
    }

    /// Starts the request of an attempt before anything awaits it, so that no future has to hold the request.
    fn begin(
        &self,
        progress: &mut Progress<'_>,
        begun: Option<&Begun>,
    ) -> Result<(impl Future<Output = attempt::Answer> + use<>, Span), Error> {
        let request = self.outgoing(progress.draft, progress.bearer.as_deref())?;
        let span = observe::attempt_span(self.operation, &request.url, progress.attempts);
        progress.attempts += 1;
        self.client.suite().counters.attempt();
        let sender = self.client.endpoint().sender();
        let sending = span.in_scope(|| sender.send(request, begun));
        Ok((sending, span))
    }

    /// The token. With [`ScopePolicy::Refuse`], one that surely lacks the scope is an error.
    pub(super) async fn bearer(&self, limits: &Limits) -> Result<Arc<BearerToken>, Error> {
        let tokens = self.client.tokens();
        let bearer = if let Some(bearer) = tokens.try_bearer() {
            bearer
        } else {
            let wait = tokens.bearer_for(limits.attempt_time());
            self.client.in_time(limits, wait).await?
        };
        if limits.scope_policy == ScopePolicy::Refuse
            && self.operation.surely_missing(bearer.granted_scopes())
        {
            return Err(unscoped(self.operation, &bearer, &self.confidential()));
        }
        Ok(bearer)
    }

    /// How long to wait before the next attempt; `None` if there must be none.
    fn wait_before_next(
        &self,
        limits: &Limits,
        made: u32,
        after: Option<Duration>,
    ) -> Option<Duration> {
        if made >= limits.retry.attempts {
            return None;
        }
        // Never earlier than the server asked, and with jitter, so that callers do not all return at once.
        let roll = self.client.suite().chance.roll();
        let wait = after
            .unwrap_or_default()
            .saturating_add(limits.retry.backoff.full_jitter(made, roll));
        // If the wait does not end before the deadline, the caller gets the error now.
        let until = Instant::now().checked_add(wait)?;
        (until < limits.deadline && self.client.budget().withdraw()).then_some(wait)
    }

    /// Completes an error with what is known of all attempts, and with the command to send again.
    pub(super) fn finish(&self, error: Error, progress: &mut Progress<'_>) -> Error {
        // A failed renewal explains why the call was not sent again; the refusal is its result.
        let error = match progress.refusal.take() {
            Some(refusal) => refusal.after_failed_renewal(error),
            None => error,
        };
        let effect = progress.effect.or(error.effect());
        let error = error
            .of(self.operation)
            .with_attempts(progress.attempts)
            .with_effect(effect)
            .with_key(self.options.key.clone());
        if !self.operation.safety.is_command() || effect == Effect::Refused {
            return error;
        }
        let first_sent = SystemTime::now().checked_sub(progress.started.elapsed());
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
