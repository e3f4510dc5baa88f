//! What a call makes of outcomes that are only imagined, by the code that judges real ones: for `testing`.

use std::sync::Arc;

use bytes::Bytes;
use tracing::Span;

use crate::call::Call;
use crate::call::attempt::Outcome;
use crate::call::classify::classify;
use crate::call::progress::Progress;
use crate::call::refusal::unscoped;
use crate::call::verdict::Verdict;
use crate::client::limits::Limits;
use crate::error::Error;
use crate::error::attempts::push;
use crate::error::kind::Effect;
use crate::observe::call::CallWatch;
use crate::reply::receive::{Head, Receive, receive};
use crate::reply::response::{Reply, Response};
use crate::request::draft::Draft;
use crate::token::bearer::BearerToken;

/// A call that is never sent, and what its attempts are said to have done.
pub(crate) struct Rehearsal {
    pub(crate) call: Call,
    draft: Draft,
    limits: Limits,
    bearer: Option<Arc<BearerToken>>,
    attempts: u32,
    /// What the attempts before the last one may have done.
    before: Effect,
}

impl Rehearsal {
    /// The end of a call after this many attempts, of which those before the last one had this effect.
    pub(crate) fn new(
        mut call: Call,
        draft: Draft,
        bearer: BearerToken,
        attempts: u32,
        before: Effect,
    ) -> Self {
        call.ensure_key();
        Self {
            limits: call.client.limits(&call.options),
            bearer: call.is_authenticated().then(|| Arc::new(bearer)),
            call,
            draft,
            attempts,
            before,
        }
    }

    /// What the call makes of an outcome. The schema version counts where the contract shows none.
    pub(crate) fn judge<T: Receive>(
        &self,
        outcome: Outcome,
        schema_version: Option<&'static str>,
    ) -> Result<Response<T>, Error> {
        let mut terms = self.call.terms(&self.limits);
        terms.schema_version = terms.schema_version.or(schema_version);
        let mut value = None;
        let mut take = |head: Head<'_>, body: &Bytes, shown: &dyn Fn(&str) -> String| {
            let (decoded, mismatch) = receive::<T>(head, body, terms, shown)?;
            value = Some(decoded);
            Ok(mismatch)
        };
        let mut watch = self.watch();
        match classify(outcome, false, &self.progress(&mut watch), &mut take) {
            Verdict::Done(reply) => {
                let key = self.call.options.key.clone();
                let value = value.expect("an accepted reply was decoded");
                Ok(Response::new(value, Reply { key, ..reply }))
            }
            Verdict::Renew(error) | Verdict::Fail { error, .. } => Err(self.ended(error)),
        }
    }

    /// The error of a call that is not sent, because its token surely lacks the scope.
    pub(crate) fn unscoped(&self) -> Error {
        let bearer = self.bearer.as_ref().expect("the operation takes a token");
        let confidential = self.call.confidential();
        self.ended(unscoped(self.call.operation, bearer, &confidential))
    }

    /// The error of a call that ends with this one.
    pub(crate) fn ended(&self, error: Error) -> Error {
        let mut watch = self.watch();
        watch.effect = self.before;
        for number in 1..=self.attempts {
            let mut record = error.as_attempt(number);
            if number < self.attempts {
                record.effect = self.before;
            }
            push(&mut watch.log, record);
        }
        self.call.finish(error, &mut self.progress(&mut watch))
    }

    fn watch(&self) -> CallWatch<'_> {
        let watcher = &self.call.client.suite().watcher;
        let mut watch = CallWatch::new(watcher, self.call.operation, Span::none(), true);
        watch.attempts = self.attempts;
        watch
    }

    fn progress<'a, 'w>(&'a self, watch: &'a mut CallWatch<'w>) -> Progress<'a, 'w> {
        let mut progress = Progress::new(&self.call, &self.draft, &self.limits, watch);
        progress.bearer.clone_from(&self.bearer);
        progress
    }
}
