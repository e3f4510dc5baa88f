//! What a call knows while it runs.

use std::sync::Arc;

use bytes::Bytes;
use tokio::time::Instant;
use url::form_urlencoded;

use crate::call::Call;
use crate::client::ApiClient;
use crate::client::limits::Limits;
use crate::error::Error;
use crate::error::kind::Effect;
use crate::operation::{Operation, Safety};
use crate::options::{self, ExactReplay};
use crate::reply::decode::Unreadable;
use crate::reply::response::Response;
use crate::request::draft::Draft;
use crate::secret::confidential::Confidential;
use crate::text::Line;
use crate::token::bearer::BearerToken;

/// Decodes a body and keeps the value. The loop itself knows no types, so it exists once.
pub(super) type Take<'a> =
    &'a mut (dyn FnMut(&Bytes, &dyn Fn(&str) -> String) -> Result<(), Unreadable> + Send);

/// Form fields that are no secret: what they hold stands in documentation.
const PUBLIC_FIELDS: [&str; 5] = ["grant_type", "scope", "audience", "resource", "client_id"];

/// What is in a path whose replies may be secrets.
const SECRET_PATHS: [&str; 5] = ["oauth", "token", "secret", "credential", "key"];

/// What a call knows while it runs.
pub(super) struct Progress<'a> {
    pub(super) client: &'a ApiClient,
    pub(super) operation: &'static Operation,
    pub(super) limits: &'a Limits,
    pub(super) attempts: u32,
    /// How many of them were resent because of a 401; they are not taken off the retries.
    pub(super) renewals: u32,
    /// How many of these came one after the other.
    pub(super) refused_in_a_row: u32,
    pub(super) may_replay: bool,
    pub(super) bearer: Option<Arc<BearerToken>>,
    /// The last 401, while its token is renewed.
    pub(super) refusal: Option<Error>,
    /// The most that any attempt so far may have done.
    pub(super) effect: Effect,
    pub(super) started: Instant,
    call: &'a Call,
    pub(super) draft: &'a Draft,
}

impl<'a> Progress<'a> {
    pub(super) fn new(call: &'a Call, draft: &'a Draft, limits: &'a Limits) -> Self {
        Self {
            client: &call.client,
            operation: call.operation,
            limits,
            attempts: 0,
            renewals: 0,
            refused_in_a_row: 0,
            may_replay: call.may_replay(limits),
            bearer: None,
            refusal: None,
            effect: Effect::NotSent,
            started: Instant::now(),
            call,
            draft,
        }
    }

    /// What no text of a reply with this body may make us print.
    pub(super) fn confidential(&self, body: &[u8]) -> Confidential {
        let mut confidential = self.call.confidential_with(body);
        if self.draft.is_form
            && let Some(body) = &self.draft.body
        {
            for (name, value) in form_urlencoded::parse(body) {
                if !PUBLIC_FIELDS.contains(&&*name) {
                    confidential.add_secret(&value);
                }
            }
        }
        confidential
    }

    /// Whether the reply may hold what nobody should read. Of a raw path the path has to tell.
    pub(super) fn is_secret_reply(&self) -> bool {
        if !self.operation.is_raw() {
            return self.operation.secret_reply;
        }
        let path = self.draft.url.path();
        let token_endpoint = self.client.suite().token_endpoint.as_ref();
        token_endpoint.is_some_and(|endpoint| endpoint.path() == path)
            || SECRET_PATHS
                .iter()
                .any(|it| path.to_ascii_lowercase().contains(it))
    }
}

impl Call {
    /// What no text of a reply may make us print: the credential, the tokens, the key, and the values that the caller gave to
    /// headers and query.
    pub(super) fn confidential(&self) -> Confidential {
        let suite = self.client.suite();
        let mut confidential = Confidential::default();
        suite.confide(&mut confidential);
        if let Some(key) = &self.options.key {
            confidential.add(key.as_str());
        }
        for options in [self.client.defaults(), &self.options] {
            options.confide(&mut confidential);
        }
        // Its query was given to the call that prepared it.
        if let Some((_, query)) = self
            .stored
            .as_ref()
            .and_then(|it| it.path().split_once('?'))
        {
            for (_, value) in form_urlencoded::parse(query.as_bytes()) {
                options::confide(&value, &mut confidential);
            }
        }
        confidential
    }

    /// [`confidential`](Self::confidential) with what a reply brings that is secret itself.
    pub(super) fn confidential_with(&self, body: &[u8]) -> Confidential {
        let mut confidential = self.confidential();
        if self.operation.secret_reply {
            confidential.add_secrets_of(body);
        }
        confidential
    }

    /// An error about a reply that came and was taken, and whose content does not do.
    pub(crate) fn unfit<T>(&self, error: Error, response: &Response<T>) -> Error {
        let confidential = self.confidential();
        let id = response.request_id();
        response
            .failed(error.withheld(&confidential))
            .with_request_id(id.map(|id| confidential.line(Line::RequestId, id)))
            .with_headers(response.headers(), &confidential)
    }

    /// Whether an attempt whose effect is unknown may be followed by another.
    fn may_replay(&self, limits: &Limits) -> bool {
        match self.operation.safety {
            Safety::Read | Safety::Keyed => true,
            // Whoever gave it a key vouches for it, unless somebody said otherwise.
            Safety::Unkeyed => limits
                .exact_replay
                .map_or(self.options.key.is_some(), |replay| {
                    replay == ExactReplay::Allowed
                }),
        }
    }
}
