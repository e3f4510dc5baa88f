//! The attempt loop: token, send, classify, wait, again.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, HeaderValue};
use reqwest::Request;
use tokio::time::{Instant, sleep, timeout_at};
use url::Url;

use super::Call;
use super::attempt::{self, Outcome};
use super::classify::{Verdict, classify};
use crate::error::{Effect, Error, ErrorKind};
use crate::operation::{Operation, Safety};
use crate::options::IDEMPOTENCY_KEY;
use crate::prepared::PreparedCommand;
use crate::response::Reply;
use crate::retry::RetryPolicy;
use crate::runtime::{ApiClient, Unreadable};
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
pub(super) struct Progress {
    pub(super) operation: &'static Operation,
    pub(super) attempts: u32,
    pub(super) may_replay: bool,
    pub(super) bearer: Option<Arc<BearerToken>>,
}

impl Call {
    pub(super) async fn execute(
        &self,
        mut request: Request,
        take: Take<'_>,
    ) -> Result<Reply, Error> {
        self.client.suite().counters.call();
        self.decorate(&mut request)?;
        let limits = self.limits();
        let mut progress = Progress {
            operation: self.operation,
            attempts: 0,
            may_replay: self.may_replay(),
            bearer: None,
        };
        let mut renewed = false;
        // The last attempt takes the request itself; only one that may be followed by another sends a copy.
        let mut template = Some(request);
        loop {
            if self.operation.authenticated {
                progress.bearer = Some(self.bearer(&limits, progress.attempts).await?);
            }
            let Some(mut request) = template.as_ref().and_then(Request::try_clone) else {
                return Err(
                    Error::new(ErrorKind::Transport, "the request cannot be repeated")
                        .of(self.operation),
                );
            };
            if let Some(bearer) = &progress.bearer {
                request
                    .headers_mut()
                    .insert(AUTHORIZATION, bearer.header().clone());
            }
            progress.attempts += 1;
            self.client.suite().counters.attempt();
            let outcome = self.attempt(request, &limits).await;
            match classify(outcome, &progress, take) {
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
                        return Err(self.finish(error, template.take()));
                    }
                    renewed = true;
                }
                Verdict::Fail {
                    error,
                    again: false,
                    ..
                } => return Err(self.finish(error, template.take())),
                Verdict::Fail {
                    error,
                    again: true,
                    after,
                } => {
                    let Some(wait) = self.wait_before_next(&limits, progress.attempts, after)
                    else {
                        return Err(self.finish(error, template.take()));
                    };
                    tracing::debug!(
                        operation = self.operation.id,
                        attempt = progress.attempts,
                        wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
                        error = %error,
                        "repeating"
                    );
                    sleep(wait).await;
                }
            }
        }
    }

    /// One attempt within its own time and the call's.
    async fn attempt(&self, request: Request, limits: &Limits) -> Outcome {
        let until = limits.deadline.min(Instant::now() + limits.attempt_timeout);
        let http = self.client.endpoint().http();
        match timeout_at(until, attempt::run(http, request, limits.max_bytes)).await {
            Ok(outcome) => outcome,
            Err(_elapsed) => Outcome::TimedOut {
                whole_call: until == limits.deadline,
            },
        }
    }

    async fn bearer(&self, limits: &Limits, attempts: u32) -> Result<Arc<BearerToken>, Error> {
        let tokens = self.client.tokens();
        if let Some(bearer) = tokens.try_bearer() {
            return Ok(bearer);
        }
        match timeout_at(limits.deadline, tokens.bearer()).await {
            Ok(Ok(bearer)) => Ok(bearer),
            Ok(Err(error)) => Err(Error::from_token(error)),
            Err(_elapsed) => Err(Error::new(
                ErrorKind::Timeout,
                "the deadline passed while waiting for a token",
            )
            .with_retryable(true)),
        }
        .map_err(|error| {
            error
                .of(self.operation)
                .with_attempts(attempts)
                .with_key(self.options.key.clone())
        })
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

    /// Completes the error of a command with what is needed to repeat it.
    fn finish(&self, error: Error, request: Option<Request>) -> Error {
        let error = error.with_key(self.options.key.clone());
        match request {
            Some(request)
                if self.operation.safety.is_command() && error.effect() != Effect::Refused =>
            {
                match self.prepared_from(&request) {
                    Ok(command) => error.with_command(command),
                    Err(_) => error,
                }
            }
            _ => error,
        }
    }

    /// Adds the options of the client and the call, and the key.
    pub(super) fn decorate(&self, request: &mut Request) -> Result<(), Error> {
        for options in [self.client.defaults(), &self.options] {
            options.check().map_err(|error| error.of(self.operation))?;
            if options.has_extras() {
                options.apply(request);
            }
        }
        if let Some(key) = &self.options.key {
            let mut value = HeaderValue::from_str(key.as_str()).map_err(|_| {
                Error::invalid("Idempotency-Key", "is a header value", "another text")
            })?;
            value.set_sensitive(true);
            request.headers_mut().insert(IDEMPOTENCY_KEY, value);
        }
        Ok(())
    }

    pub(super) fn prepared_from(&self, request: &Request) -> Result<PreparedCommand, Error> {
        let base = self.client.endpoint().base();
        let path = request
            .url()
            .as_str()
            .strip_prefix(base)
            .unwrap_or_else(|| request.url().path());
        let body = request
            .body()
            .and_then(reqwest::Body::as_bytes)
            .map(Bytes::copy_from_slice)
            .unwrap_or_default();
        PreparedCommand::new(
            self.operation,
            self.client.audience(),
            path.to_owned(),
            self.options.key.clone(),
            &body,
        )
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

/// The request of a prepared command, if it is this client's and unchanged.
pub(super) fn replay_request(
    client: &ApiClient,
    command: &PreparedCommand,
) -> Result<(Call, Request), Error> {
    let refuse = |message: String| Err(Error::new(ErrorKind::PreparedCommand, message));
    command.verify()?;
    let application = client.application().name;
    if command.application() != application {
        return refuse(format!(
            "it is for {}, this client is for {application}",
            command.application()
        ));
    }
    if command.audience() != client.audience() {
        return refuse(format!(
            "it was prepared for the audience {}, this client's is {}",
            command.audience().unwrap_or("(none)"),
            client.audience().unwrap_or("(none)")
        ));
    }
    let Some(operation) = client.operation(command.operation()) else {
        return refuse(format!(
            "this SDK knows no operation {}",
            command.operation()
        ));
    };
    let text = format!("{}{}", client.endpoint().base(), command.path());
    let url = match Url::parse(&text) {
        Ok(url) if command.path().starts_with('/') => url,
        _ => return refuse("its path is not one of the application".to_owned()),
    };
    let mut request = Request::new(operation.method.to_http(), url);
    let headers = request.headers_mut();
    headers.insert(
        http::header::ACCEPT,
        HeaderValue::from_static("application/json"),
    );
    headers.insert(
        http::header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    *request.body_mut() = Some(Bytes::copy_from_slice(command.body().as_bytes()).into());
    Ok((Call::new(client, operation), request))
}
