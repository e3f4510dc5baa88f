//! The state of a running call.

use std::sync::Arc;

use bytes::Bytes;
use url::form_urlencoded;

use crate::app::TOKEN_PATH;
use crate::call::Call;
use crate::client::ApiClient;
use crate::client::limits::Limits;
use crate::error::Error;
use crate::observe::call::CallWatch;
use crate::operation::{Operation, Safety};
use crate::options::{self, ExactReplay};
use crate::reply::decode::Unreadable;
use crate::reply::receive::Head;
use crate::reply::response::Response;
use crate::request::draft::Draft;
use crate::secret::confidential::Confidential;
use crate::text::Line;
use crate::token::bearer::BearerToken;

/// Reads a reply and keeps the value; says whether a mismatch was tolerated. The loop is not generic over it, so it is compiled
/// once.
pub(super) type Take<'a> = &'a mut (
            dyn FnMut(Head<'_>, &Bytes, &dyn Fn(&str) -> String) -> Result<bool, Unreadable> + Send
        );

/// The state of a running call.
pub(super) struct Progress<'a, 'w> {
    pub(super) client: &'a ApiClient,
    pub(super) operation: &'static Operation,
    pub(super) limits: &'a Limits,
    /// What its attempts came to.
    pub(super) watch: &'a mut CallWatch<'w>,
    /// How many attempts followed a 401; they do not count as retries.
    pub(super) renewals: u32,
    /// How many of these followed each other directly.
    pub(super) refused_in_a_row: u32,
    pub(super) may_replay: bool,
    pub(super) bearer: Option<Arc<BearerToken>>,
    /// The last 401, while its token is renewed.
    pub(super) refusal: Option<Error>,
    call: &'a Call,
    pub(super) draft: &'a Draft,
}

impl<'a, 'w> Progress<'a, 'w> {
    pub(super) fn new(
        call: &'a Call,
        draft: &'a Draft,
        limits: &'a Limits,
        watch: &'a mut CallWatch<'w>,
    ) -> Self {
        Self {
            client: &call.client,
            operation: call.operation,
            limits,
            watch,
            renewals: 0,
            refused_in_a_row: 0,
            may_replay: call.may_replay(limits),
            bearer: None,
            refusal: None,
            call,
            draft,
        }
    }

    /// What no text may repeat once this body was received.
    pub(super) fn confidential(&self, body: &[u8]) -> Confidential {
        self.call.confidential_with(self.draft, body)
    }

    /// Whether the reply may be secret. For a raw call by path, this is so at the token endpoint.
    pub(super) fn is_secret_reply(&self) -> bool {
        if !self.operation.is_raw() {
            return self.operation.secret_reply;
        }
        let path = self.draft.url.path();
        let token_endpoint = self.client.suite().token_endpoint.as_ref();
        path.ends_with(TOKEN_PATH) || token_endpoint.is_some_and(|it| it.path() == path)
    }
}

impl Call {
    /// What no text may repeat: the credential, the tokens, the key, and the caller's values in headers and query.
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
        // The caller set the query of a stored command when preparing it.
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

    /// [`confidential`](Self::confidential) with the secrets in a request and its reply.
    pub(super) fn confidential_with(&self, draft: &Draft, body: &[u8]) -> Confidential {
        let mut confidential = self.confidential();
        draft.confide(&mut confidential);
        if self.operation.secret_reply {
            confidential.add_secrets_of_reply(body);
        }
        confidential
    }

    /// An error about the content of a reply that was received and decoded.
    pub(crate) fn unfit<T>(&self, error: Error, response: &Response<T>) -> Error {
        let confidential = self.confidential();
        let id = response.request_id();
        response
            .failed(error.withheld(&confidential))
            .with_headers(response.headers(), &confidential)
            .with(|parts| parts.request_id = id.map(|id| confidential.line(Line::RequestId, id)))
    }

    /// Whether an attempt whose effect is unknown may be followed by another.
    fn may_replay(&self, limits: &Limits) -> bool {
        match self.operation.safety {
            Safety::Read | Safety::Keyed => true,
            Safety::Idempotent => limits.exact_replay != Some(ExactReplay::Forbidden),
            // A caller who set a key vouches for it, unless an option says otherwise.
            Safety::Unkeyed => limits
                .exact_replay
                .map_or(self.options.key.is_some(), |replay| {
                    replay == ExactReplay::Allowed
                }),
        }
    }
}
