//! One call of a caller: what it was to be, and what the caller was told.

use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use sdk_core::{self as sdk, Backoff, Error, Receipt, Response, RetryPolicy};
use suite_checker::{Effect, Event, Kind, Told};
use tokio::time::timeout;

use super::installation::{json, reference};
use super::stage::{Number, Stage, digest};

/// The options of a call, drawn for it.
pub(super) struct Options {
    pub(super) number: u64,
    /// Its number as a header.
    pub(super) header: String,
    pub(super) timeout: Option<Duration>,
    pub(super) deadline: Option<Duration>,
    pub(super) retry: Option<RetryPolicy>,
    /// When its caller loses patience.
    patience: Option<Duration>,
}

impl Options {
    pub(super) fn draw(stage: &Stage, rng: &mut Rng) -> Self {
        let number = stage.next(Number::Call);
        let one_in = |rng: &mut Rng, of: u8| !stage.is_calm() && rng.u8(..of) == 0;
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

/// Any policy.
pub(super) fn retry(rng: &mut Rng) -> RetryPolicy {
    let most = Duration::from_millis(rng.u64(1..3_000));
    let backoff = Backoff::new(most / 4, most);
    RetryPolicy::default()
        .with_attempts(rng.u32(1..6))
        .with_backoff(backoff)
}

/// Sets the options of a call on its builder.
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

/// What a call gives.
pub(super) trait Reply {
    fn told(&self) -> Told;
}

impl<T> Reply for Response<T> {
    fn told(&self) -> Told {
        Told::Reply {
            body: digest(self.bytes()),
        }
    }
}

impl<T> Reply for Receipt<T> {
    fn told(&self) -> Told {
        Told::Receipt {
            body: digest(self.bytes()),
            key: self.idempotency_key().map(|it| it.as_str().to_owned()),
            reference: reference(&json(self.bytes())),
            replayed: self.is_replay() == Some(true),
        }
    }
}

/// A call under way. Dropped before its end, its caller was told nothing.
pub(super) struct Open<'a>(
    pub(super) &'a Stage,
    pub(super) u64,
    pub(super) Option<Told>,
);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        let told = self.2.take().unwrap_or_else(|| {
            self.0.count("calls dropped");
            Told::Dropped
        });
        self.0.record(Event::Returned { call: self.1, told });
    }
}

/// What a call is besides its options.
pub(super) struct About {
    pub(super) stage: Arc<Stage>,
    pub(super) suite: u32,
    pub(super) operation: &'static str,
    pub(super) kind: Kind,
    /// The deadline of calls that set none.
    pub(super) deadline: Option<Duration>,
    /// The stored command.
    pub(super) command: Option<u64>,
}

impl About {
    /// Makes the call and records it; `None` if its caller lost patience.
    pub(super) async fn make<R: Reply>(
        &self,
        options: &Options,
        call: impl Future<Output = Result<R, Error>>,
    ) -> Option<Result<R, Error>> {
        let stage = &*self.stage;
        let deadline = self.deadline.map(|usual| options.deadline.unwrap_or(usual));
        let micros = |it: Duration| u64::try_from(it.as_micros()).unwrap_or(u64::MAX);
        stage.record(Event::Called {
            call: options.number,
            suite: self.suite,
            operation: self.operation.to_owned(),
            kind: self.kind,
            deadline: deadline.map(|it| stage.now().saturating_add(micros(it))),
            command: self.command,
        });
        let mut open = Open(stage, options.number, None);
        let result = match options.patience {
            Some(patience) => timeout(patience, call).await.ok()?,
            None => call.await,
        };
        open.2 = Some(match &result {
            Ok(reply) => reply.told(),
            Err(error) => told(stage, error),
        });
        Some(result)
    }
}

/// What an error tells.
fn told(stage: &Stage, error: &Error) -> Told {
    stage.count("calls failed");
    if stage.keeps_lines() {
        stage.log(error);
        stage.log(&format!("{error:?}"));
    }
    let tokenless = error.attempts() == 0 && error.is_unauthenticated();
    Told::Error {
        effect: match error.effect() {
            sdk::Effect::NotSent => Effect::NotSent,
            sdk::Effect::Refused => Effect::Refused,
            sdk::Effect::Unknown => Effect::Unknown,
        },
        kind: error.kind().as_str().to_owned(),
        tokenless: tokenless || error.is_token_unavailable(),
        attempts: error.attempts(),
    }
}
