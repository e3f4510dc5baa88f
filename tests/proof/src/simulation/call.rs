//! One call of a caller: its options, its terms and its outcome.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use sdk_core::{
    self as sdk, Backoff, Error, ErrorKind, PreparedCommand, Receipt, Response, RetryPolicy,
};
use sdk_outbox::StoredOutcome;
use suite_checker::{Command, Effect, Event, Failed, Outcome, Terms};
use tokio::time::timeout;

use super::answer::{json, reference};
use super::broken;
use super::network::body_digest;
use super::stage::{Number, Stage, digest, micros};

/// The random options of a call.
pub(super) struct Options {
    pub(super) number: u64,
    /// The call's number, sent as a header.
    pub(super) header: String,
    pub(super) timeout: Option<Duration>,
    pub(super) deadline: Option<Duration>,
    pub(super) retry: Option<RetryPolicy>,
    /// The time after which the caller drops the call.
    patience: Option<Duration>,
}

impl Options {
    pub(super) fn draw(stage: &Stage, rng: &mut Rng) -> Self {
        let number = stage.next(Number::Call);
        let quiet = stage.is_calm() || stage.simulation.faultless;
        let one_in = |rng: &mut Rng, of: u8| !quiet && rng.u8(..of) == 0;
        let seconds = |rng: &mut Rng, most: f64| Duration::from_secs_f64(0.05 + most * rng.f64());
        Self {
            number,
            header: number.to_string(),
            timeout: one_in(rng, 8).then(|| seconds(rng, 4.0)),
            deadline: one_in(rng, 6).then(|| seconds(rng, 20.0)),
            retry: one_in(rng, 8).then(|| retry(rng)),
            patience: one_in(rng, 25).then(|| seconds(rng, 3.0).mul_f64(rng.f64())),
        }
    }
}

pub(super) fn retry(rng: &mut Rng) -> RetryPolicy {
    let most = Duration::from_millis(rng.u64(1..3_000));
    let backoff = Backoff::new(most / 4, most);
    RetryPolicy::default()
        .with_attempts(rng.u32(1..6))
        .with_backoff(backoff)
}

macro_rules! with_options {
    ($call:expr, $options:expr, $header:expr) => {{
        let mut call = $call.header($header, &$options.header);
        if let Some(timeout) = $options.timeout {
            call = call.timeout(timeout);
        }
        if let Some(deadline) = $options.deadline {
            call = call.deadline(deadline);
        }
        if let Some(retry) = $options.retry {
            call = call.retry(retry);
        }
        call
    }};
}

pub(super) use with_options;

pub(super) trait Completed {
    fn outcome(&self) -> Outcome;
}

impl<T> Completed for Response<T> {
    fn outcome(&self) -> Outcome {
        Outcome::Response {
            body: digest(self.bytes()),
        }
    }
}

impl<T> Completed for Receipt<T> {
    fn outcome(&self) -> Outcome {
        Outcome::Receipt {
            body: digest(self.bytes()),
            key: self.idempotency_key().map(|it| it.as_str().to_owned()),
            reference: reference(&json(self.bytes())),
            replayed: self.is_replay() == Some(true),
        }
    }
}

/// A call in flight. Dropping it early records that the caller got no result.
pub(super) struct Open<'a>(
    pub(super) &'a Stage,
    pub(super) u64,
    pub(super) Option<Outcome>,
);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        let outcome = self.2.take().unwrap_or_else(|| {
            self.0.count("calls dropped");
            Outcome::Dropped
        });
        self.0.record(Event::Returned {
            call: self.1,
            outcome,
        });
    }
}

pub(super) struct Failure {
    pub(super) effect: sdk::Effect,
    pub(super) kind: ErrorKind,
    pub(super) tokenless: bool,
    pub(super) attempts: u32,
    pub(super) retry_after: Option<Duration>,
    pub(super) command: Option<Box<PreparedCommand>>,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        // If no attempt failed with this kind, the error comes from the token endpoint.
        let last = error.attempt_log().last().map(|it| it.kind);
        let tokenless = error.is_unauthenticated() && last != Some(error.kind());
        Self {
            effect: error.effect(),
            kind: error.kind(),
            tokenless: tokenless || error.kind() == ErrorKind::TokenUnavailable,
            attempts: error.attempts(),
            retry_after: error.retry_after(),
            command: error.into_command().map(Box::new),
        }
    }
}

impl Failure {
    fn error(&self) -> Outcome {
        Outcome::Error(Failed {
            effect: match self.effect {
                sdk::Effect::NotSent => Effect::NotSent,
                sdk::Effect::Refused => Effect::Refused,
                sdk::Effect::Unknown => Effect::Unknown,
            },
            kind: self.kind.as_str().to_owned(),
            tokenless: self.tokenless,
            attempts: self.attempts,
            command: self.command.as_deref().map(form),
        })
    }

    /// Returns the outcome for the rule of stored commands.
    pub(super) fn stored_outcome(&self) -> StoredOutcome {
        StoredOutcome::Failed {
            effect: self.effect,
            kind: self.kind,
            retry_after: self.retry_after,
        }
    }
}

/// Converts a command to the checker's form.
pub(super) fn form(command: &PreparedCommand) -> Command {
    Command {
        key: command.idempotency_key().map(|it| it.as_str().to_owned()),
        target: command.path().to_owned(),
        body: body_digest(command.body().as_bytes()),
    }
}

/// The terms of a call without its own options.
#[derive(Clone)]
pub(super) struct About {
    pub(super) stage: Arc<Stage>,
    pub(super) terms: Terms,
    /// The deadline of calls that set none. `None` if the call as a whole has no deadline.
    pub(super) deadline: Option<Duration>,
    /// The retry policy of calls that set none.
    pub(super) policy: RetryPolicy,
}

impl About {
    /// Sets the path and query of the call.
    pub(super) fn to(mut self, target: impl Into<String>) -> Self {
        self.terms.asked.target = Some(target.into());
        self
    }

    fn time(&self, options: &Options) -> Option<Duration> {
        self.deadline.map(|usual| options.deadline.unwrap_or(usual))
    }

    pub(super) fn begin<'a>(&'a self, options: &Options) -> Open<'a> {
        let (stage, call) = (&*self.stage, options.number);
        let policy = options.retry.unwrap_or(self.policy);
        let time = self.time(options);
        let terms = Terms {
            deadline: time.map(|it| stage.now().saturating_add(micros(it))),
            // A list has no total limit on time or attempts over all its pages.
            most: time.map(|_| policy.attempts),
            timeout: options.timeout.map_or(self.terms.timeout, micros),
            backoff: micros(policy.backoff.cap),
            ..self.terms.clone()
        };
        stage.record(Event::Called { call, terms });
        Open(stage, call, None)
    }

    /// Makes the call and records it. Returns `None` if the caller dropped the call.
    pub(super) async fn make<R: Completed>(
        &self,
        options: &Options,
        call: impl Future<Output = Result<R, Error>>,
    ) -> Option<Result<R, Failure>> {
        let stage = &*self.stage;
        if stage.is_stuck() {
            return pending().await;
        }
        let mut open = self.begin(options);
        let time = self.time(options).unwrap_or_default();
        let call = broken::call(stage, time, call);
        let result = match options.patience {
            Some(patience) => timeout(patience, call).await.ok()?,
            None => call.await,
        };
        open.2 = Some(match &result {
            Ok(result) => result.outcome(),
            Err(failure) => {
                stage.count(match failure.effect {
                    sdk::Effect::Refused => "calls rejected",
                    _ => "calls failed",
                });
                failure.error()
            }
        });
        Some(result)
    }
}
