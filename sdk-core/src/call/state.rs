//! The state of a running call.

use std::sync::Arc;

use bytes::Bytes;

use crate::app::TOKEN_PATH;
use crate::call::Call;
use crate::client::ApiClient;
use crate::client::limits::Limits;
use crate::error::Error;
use crate::observe::active::CallSpan;
use crate::operation::{Operation, Safety};
use crate::options::ExactReplay;
use crate::reply::decode::{ResponseHead, Unreadable};
use crate::request::draft::Draft;
use crate::secret::redactor::Redactor;
use crate::token::bearer::BearerToken;

/// Decodes a reply and stores the value; says whether a mismatch was tolerated. The loop is not generic over it, so it is
/// compiled once.
pub(super) type DecodeResponse<'a> = &'a mut (
            dyn FnMut(ResponseHead<'_>, &Bytes, &dyn Fn(&str) -> String) -> Result<bool, Unreadable>
                + Send
        );

/// The state of a running call.
pub(super) struct CallState<'a, 'w> {
    pub(super) client: &'a ApiClient,
    pub(super) operation: &'static Operation,
    pub(super) limits: &'a Limits,
    /// What its attempts came to.
    pub(super) call_span: &'a mut CallSpan<'w>,
    /// How many attempts followed a 401; they do not count as retries.
    pub(super) renewals: u32,
    /// How many of these followed each other directly.
    pub(super) refused_in_a_row: u32,
    /// Whether an attempt whose effect is unknown may be followed by another.
    pub(super) may_replay: bool,
    pub(super) bearer: Option<Arc<BearerToken>>,
    /// The last 401, while its token is renewed.
    pub(super) refusal: Option<Error>,
    call: &'a Call,
    pub(super) draft: &'a Draft,
}

impl<'a, 'w> CallState<'a, 'w> {
    pub(super) fn new(
        call: &'a Call,
        draft: &'a Draft,
        limits: &'a Limits,
        call_span: &'a mut CallSpan<'w>,
    ) -> Self {
        Self {
            client: &call.client,
            operation: call.operation,
            limits,
            call_span,
            renewals: 0,
            refused_in_a_row: 0,
            may_replay: may_replay(call, limits),
            bearer: None,
            refusal: None,
            call,
            draft,
        }
    }

    /// What no text may repeat once this body was received.
    pub(super) fn redactor(&self, body: &[u8]) -> Redactor {
        self.call.redactor_with(self.draft, body)
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

/// Whether an attempt whose effect is unknown may be followed by another.
fn may_replay(call: &Call, limits: &Limits) -> bool {
    let allowed = limits
        .exact_replay
        .map(|replay| replay == ExactReplay::Allowed);
    match call.operation.safety {
        Safety::Read | Safety::Keyed => true,
        Safety::Idempotent => allowed != Some(false),
        // A caller who set a key vouches for it, unless an option says otherwise.
        Safety::Unkeyed => allowed.unwrap_or(call.options.key.is_some()),
    }
}
