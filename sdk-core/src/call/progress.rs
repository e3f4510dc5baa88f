//! What a call knows while it runs.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;
use url::form_urlencoded;

use super::Call;
use crate::error::{Effect, Error};
use crate::idempotency::IdempotencyKey;
use crate::operation::{Operation, Safety};
use crate::response::Response;
use crate::retry::RetryPolicy;
use crate::runtime::{ApiClient, Draft, Unreadable};
use crate::text::Confidential;
use crate::token::BearerToken;

/// Decodes a body and keeps the value. The loop itself knows no types, so it exists once.
pub(super) type Take<'a> = &'a mut (dyn FnMut(&Bytes) -> Result<(), Unreadable> + Send);

/// Form fields that are no secret: what they hold stands in documentation.
const PUBLIC_FIELDS: [&str; 5] = ["grant_type", "scope", "audience", "resource", "client_id"];

/// The limits that hold for one call.
pub(super) struct Limits {
    pub(super) attempt_timeout: Duration,
    pub(super) deadline: Instant,
    pub(super) max_bytes: usize,
    pub(super) retry: RetryPolicy,
}

impl Limits {
    /// How long an attempt that begins now may take.
    pub(super) fn attempt_time(&self) -> Duration {
        let left = self.deadline.saturating_duration_since(Instant::now());
        left.min(self.attempt_timeout)
    }
}

/// What a call knows while it runs.
pub(super) struct Progress<'a> {
    pub(super) client: &'a ApiClient,
    pub(super) operation: &'static Operation,
    pub(super) attempts: u32,
    /// How many of them were resent because of a 401; they are not taken off the retries.
    pub(super) renewals: u32,
    pub(super) may_replay: bool,
    pub(super) bearer: Option<Arc<BearerToken>>,
    /// The last 401, while its token is renewed.
    pub(super) refusal: Option<Error>,
    /// The most that any attempt so far may have done.
    pub(super) effect: Effect,
    pub(super) started: Instant,
    call: &'a Call,
    draft: &'a Draft,
}

impl<'a> Progress<'a> {
    pub(super) fn new(call: &'a Call, draft: &'a Draft) -> Self {
        Self {
            client: &call.client,
            operation: call.operation,
            attempts: 0,
            renewals: 0,
            may_replay: call.may_replay(),
            bearer: None,
            refusal: None,
            effect: Effect::NotSent,
            started: Instant::now(),
            call,
            draft,
        }
    }

    /// What no text of a reply may make us print.
    pub(super) fn confidential(&self) -> Confidential<'_> {
        let mut confidential = self.call.confidential(self.bearer.as_deref());
        if self.draft.is_form
            && let Some(body) = &self.draft.body
        {
            for (name, value) in form_urlencoded::parse(body) {
                if !PUBLIC_FIELDS.contains(&&*name) {
                    confidential.add(value);
                }
            }
        }
        confidential
    }
}

impl Call {
    /// What no text of a reply may make us print: the credential, the token, the key, and the values that the caller gave to
    /// headers and query.
    pub(super) fn confidential<'a>(&'a self, bearer: Option<&'a BearerToken>) -> Confidential<'a> {
        let mut confidential = Confidential::default();
        if let Some(credentials) = &self.client.suite().credentials {
            credentials.confide(&mut confidential);
        }
        let token = bearer.and_then(BearerToken::secret);
        let key = self.options.key.as_deref().map(IdempotencyKey::as_str);
        for text in [token, key].into_iter().flatten() {
            confidential.add(text);
        }
        for options in [self.client.defaults(), &self.options] {
            for value in options.hidden_values() {
                confidential.add(value);
            }
        }
        confidential
    }

    /// An error about a reply that came and was taken, and whose content does not do.
    pub(crate) fn unfit<T>(&self, error: Error, response: &Response<T>) -> Error {
        let bearer = self.client.tokens().live();
        let confidential = self.confidential(bearer.as_deref());
        let id = response.request_id();
        response
            .failed(error)
            .with_request_id(id.map(|id| confidential.line_of(id, 200)))
            .with_headers(response.headers(), &confidential)
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

    pub(super) fn limits(&self) -> Limits {
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
