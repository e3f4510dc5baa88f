//! A single attempt: the state of its call, its request, its outcome on the wire, and its result. `classify` converts
//! the outcome into the result.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, USER_AGENT};
use http::{HeaderMap, Version};
use tokio::time::{Instant, timeout_at};

use crate::app::TOKEN_PATH;
use crate::call::Call;
use crate::client::ApiClient;
use crate::client::limits::Limits;
use crate::command::key::IdempotencyKey;
use crate::error::Error;
use crate::error::kind::{AttemptRecord, Effect, push};
use crate::observe::active::{AttemptSpan, CallSpan};
use crate::observe::events::{AttemptAttributes, ErrorType};
use crate::operation::{Operation, Safety};
use crate::options::{ExactReplay, IDEMPOTENCY_KEY};
use crate::reply::decode::{ResponseHead, Unreadable};
use crate::reply::response::Reply;
use crate::request::draft::Draft;
use crate::secret::redactor::Redactor;
use crate::text::TextKind;
use crate::token::bearer::BearerToken;
use crate::transport::error::TransportError;
use crate::transport::reply_body::{self, BodyError, Incoming};
use crate::transport::request_body::{Outgoing, SendTracker};

/// Decodes a response and stores the value. Returns whether a mismatch was tolerated. A trait object, so that the retry
/// loop is compiled only once.
pub(super) type DecodeResponse<'a> = &'a mut (
            dyn FnMut(ResponseHead<'_>, &Bytes, &dyn Fn(&str) -> String) -> Result<bool, Unreadable>
                + Send
        );

/// The state of a running call. If it is dropped before the call ends, the caller dropped the call.
pub(super) struct CallState<'a> {
    pub(super) client: &'a ApiClient,
    pub(super) operation: &'static Operation,
    pub(super) limits: &'a Limits,
    pub(super) call_span: CallSpan<'a>,
    pub(super) attempts: u32,
    /// The strongest effect that any attempt may have had.
    pub(super) effect: Effect,
    pub(super) log: Vec<AttemptRecord>,
    /// The delay before the next attempt or the attempt in flight.
    pub(super) waited: Duration,
    /// The number of attempts that followed a 401. They don't count as retries.
    pub(super) renewals: u32,
    /// The number of consecutive 401 responses.
    pub(super) consecutive_401s: u32,
    /// Whether the call may be retried after an attempt with an unknown effect.
    pub(super) may_replay: bool,
    pub(super) bearer: Option<Arc<BearerToken>>,
    /// The last 401, while its token is renewed.
    pub(super) last_401: Option<Error>,
    in_flight: bool,
    ended: bool,
    call: &'a Call,
    pub(super) draft: &'a mut Draft,
}

impl<'a> CallState<'a> {
    pub(super) fn new(call: &'a Call, draft: &'a mut Draft, limits: &'a Limits) -> Self {
        // A stored command that was sent may already have been applied. No later response can disprove that.
        let was_sent = call.stored.as_ref().is_some_and(|it| it.was_sent());
        Self {
            client: &call.client,
            operation: call.operation,
            limits,
            call_span: call.begin(),
            attempts: 0,
            effect: if was_sent {
                Effect::Unknown
            } else {
                Effect::NotSent
            },
            log: Vec::new(),
            waited: Duration::ZERO,
            renewals: 0,
            consecutive_401s: 0,
            may_replay: may_replay(call, limits),
            bearer: None,
            last_401: None,
            in_flight: false,
            ended: false,
            call,
            draft,
        }
    }

    pub(super) fn start_attempt(&mut self) {
        self.attempts += 1;
        self.in_flight = true;
    }

    pub(super) fn end_attempt(
        &mut self,
        attempt: AttemptSpan<'_>,
        head: Option<(u16, Version)>,
        error: Option<&Error>,
    ) {
        self.in_flight = false;
        if let Some(error) = error {
            self.effect = self.effect.or(error.effect());
            let record = AttemptRecord {
                began_after: attempt
                    .started
                    .saturating_duration_since(self.call_span.started),
                duration: attempt.duration(),
                waited: std::mem::take(&mut self.waited),
                ..error.as_attempt(self.attempts)
            };
            push(&mut self.log, record);
        }
        attempt.end(&AttemptAttributes {
            status: head.map(|(status, _)| status),
            version: head.map(|(_, version)| version),
            failure: error.map(ErrorType::of),
            effect: error.map(Error::effect),
            request_id: error.and_then(Error::request_id),
        });
    }

    pub(super) fn end(mut self, result: &Result<Reply, Error>) {
        self.ended = true;
        self.call_span.end(self.attempts, result, &|id| {
            let body = result.as_ref().map_or(&[][..], |reply| &reply.body);
            self.redactor(body).line(TextKind::RequestId, id)
        });
    }

    /// Returns a redactor for every secret of the call, including those in this response body.
    pub(super) fn redactor(&self, body: &[u8]) -> Redactor {
        self.call.redactor_with(self.draft, body)
    }

    /// Whether the response may be secret. A raw call's response is secret if its path is the token endpoint.
    pub(super) fn is_secret_reply(&self) -> bool {
        if !self.operation.is_raw() {
            return self.operation.secret_response;
        }
        let path = self.draft.url.path();
        let token_endpoint = self.client.suite().token_endpoint.as_ref();
        path.ends_with(TOKEN_PATH) || token_endpoint.is_some_and(|it| it.path() == path)
    }
}

impl Drop for CallState<'_> {
    fn drop(&mut self) {
        if !self.ended {
            let in_flight = self.in_flight.then_some(Effect::Unknown);
            let effect = in_flight.unwrap_or(self.effect);
            self.call_span.cancel(self.attempts, effect);
        }
    }
}

/// Whether the call may be retried after an attempt with an unknown effect.
fn may_replay(call: &Call, limits: &Limits) -> bool {
    let allowed = limits
        .exact_replay
        .map(|replay| replay == ExactReplay::Allowed);
    match call.operation.safety {
        Safety::Read | Safety::Keyed => true,
        Safety::Idempotent => allowed != Some(false),
        // A caller who sets a key asserts that a retry is safe, unless an option forbids retries.
        Safety::Unkeyed => allowed.unwrap_or(call.options.key.is_some()),
    }
}

pub(super) fn build_request(
    call: &Call,
    draft: &Draft,
    bearer: Option<&BearerToken>,
) -> Result<Outgoing, Error> {
    let mut request = request_of(draft, call.operation.media_type);
    let headers = &mut request.headers;
    if call.stored.is_none() {
        call.client.defaults().apply_headers(headers);
    }
    call.options.apply_headers(headers);
    headers.insert(ACCEPT, header_of(call.operation.accept));
    headers.insert(USER_AGENT, HeaderValue::clone(&call.client.suite().agent));
    if let Some(bearer) = bearer {
        headers.insert(AUTHORIZATION, bearer.header().clone());
    }
    if let Some(key) = &call.options.key {
        headers.insert(IDEMPOTENCY_KEY, key_header(key)?);
    }
    Ok(request)
}

/// The default is JSON.
fn header_of(media_type: Option<&'static str>) -> HeaderValue {
    const JSON: HeaderValue = HeaderValue::from_static("application/json");
    media_type.map_or(JSON, HeaderValue::from_static)
}

/// The body is shared.
fn request_of(draft: &Draft, media_type: Option<&'static str>) -> Outgoing {
    const FORM: HeaderValue = HeaderValue::from_static("application/x-www-form-urlencoded");
    // Includes capacity for the HTTP client's headers, such as host and length.
    let mut headers = HeaderMap::with_capacity(12);
    if draft.body.is_some() {
        let form = draft.is_form.then_some(FORM);
        headers.insert(CONTENT_TYPE, form.unwrap_or_else(|| header_of(media_type)));
    }
    Outgoing {
        method: draft.method.to_http(),
        url: draft.url.clone(),
        headers,
        body: draft.body.clone(),
    }
}

/// The header value is sensitive and shares the key's memory.
fn key_header(key: &Arc<IdempotencyKey>) -> Result<HeaderValue, Error> {
    struct Shared(Arc<IdempotencyKey>);

    impl AsRef<[u8]> for Shared {
        fn as_ref(&self) -> &[u8] {
            self.0.as_str().as_bytes()
        }
    }

    let bytes = Bytes::from_owner(Shared(Arc::clone(key)));
    let mut value = HeaderValue::from_maybe_shared(bytes).map_err(|error| {
        Error::invalid(
            "Idempotency-Key",
            "be a valid header value",
            "invalid characters",
        )
        .with_cause(error)
    })?;
    value.set_sensitive(true);
    Ok(value)
}

pub(crate) enum AttemptOutcome {
    /// The head of a response, and its body if that could be read.
    Reply {
        status: u16,
        version: Version,
        headers: HeaderMap,
        body: Result<Bytes, BodyError>,
    },
    Failed(TransportError),
    /// The time limit passed before a response began.
    TimedOut {
        /// Whether the request was still waiting for a connection, so that nothing was sent.
        not_sent: bool,
    },
}

impl AttemptOutcome {
    /// Returns the status and HTTP version of the response, if any.
    pub(super) fn head(&self) -> Option<(u16, Version)> {
        match self {
            Self::Reply {
                status, version, ..
            } => Some((*status, *version)),
            Self::Failed(_) | Self::TimedOut { .. } => None,
        }
    }
}

pub(super) enum AttemptResult {
    Done(Reply),
    /// A 401, which is retried once with a new token.
    RefreshToken(Error),
    Failed {
        error: Error,
        /// Whether a retry may help and is allowed.
        retry: bool,
        retry_after: Option<Duration>,
    },
}

impl AttemptResult {
    pub(super) fn error(&self) -> Option<&Error> {
        match self {
            Self::Done(_) => None,
            Self::RefreshToken(error) | Self::Failed { error, .. } => Some(error),
        }
    }
}

pub(super) fn failed(error: Error, retry: bool) -> AttemptResult {
    AttemptResult::Failed {
        error,
        retry,
        retry_after: None,
    }
}

/// The result of a transport's `send`.
pub(super) type Answer = Result<Incoming, TransportError>;

/// Waits for a response and reads it in time. An outcome without a readable body still has status and headers.
pub(super) async fn run(
    sending: impl Future<Output = Answer>,
    max_bytes: usize,
    until: Instant,
    tracker: Option<&SendTracker>,
    has_body: bool,
) -> AttemptOutcome {
    let mut response = match timeout_at(until, sending).await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => {
            let cancelled = tracker.is_some_and(SendTracker::cancel);
            return AttemptOutcome::Failed(error.infer_send_state(cancelled, has_body));
        }
        Err(_elapsed) => {
            let not_sent = has_body && tracker.is_some_and(SendTracker::cancel);
            return AttemptOutcome::TimedOut { not_sent };
        }
    };
    let body = reply_body::read(&mut response, max_bytes, until).await;
    AttemptOutcome::Reply {
        status: response.status,
        version: response.version,
        headers: response.headers,
        body,
    }
}
