//! What a call makes of outcomes that are only imagined, by the code that judges real ones: for `testing`.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;

use crate::call::Call;
use crate::call::attempt::Outcome;
use crate::call::classify::classify;
use crate::call::progress::Progress;
use crate::call::refusal::unscoped;
use crate::call::unreached::{failed, timed_out};
use crate::call::verdict::Verdict;
use crate::client::limits::Limits;
use crate::error::Error;
use crate::error::kind::Effect;
use crate::reply::decode::{FromReply, decode};
use crate::reply::response::{Reply, Response};
use crate::request::draft::Draft;
use crate::token::bearer::BearerToken;
use crate::transport::error::TransportError;

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

/// How an attempt ends without a reply.
#[derive(Clone, Copy)]
pub(crate) enum Silence {
    /// No connection comes up.
    Unconnected,
    /// The connection breaks.
    Lost,
    /// Nothing comes in time. `begun`: the request may have been sent.
    Late { begun: bool },
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

    /// What the call makes of a reply. The schema version counts where the contract shows none.
    pub(crate) fn reply<T: FromReply>(
        &self,
        status: u16,
        headers: HeaderMap,
        body: Bytes,
        schema_version: Option<&'static str>,
    ) -> Result<Response<T>, Error> {
        let mut terms = self.call.terms(&self.limits);
        terms.schema_version = terms.schema_version.or(schema_version);
        let mut value = None;
        let mut take = |body: &Bytes, shown: &dyn Fn(&str) -> String| {
            value = Some(decode::<T>(body, terms, shown)?);
            Ok(())
        };
        let outcome = Outcome::Reply {
            status,
            headers,
            body: Ok(body),
        };
        match classify(outcome, false, &self.progress(), &mut take) {
            Verdict::Done(reply) => {
                let key = self.call.options.key.clone();
                let value = value.expect("an accepted reply was decoded");
                Ok(Response::new(value, Reply { key, ..reply }))
            }
            Verdict::Renew(error) | Verdict::Fail { error, .. } => Err(self.ended(error)),
        }
    }

    /// The error of an attempt without a reply.
    pub(crate) fn silence(&self, silence: Silence) -> Error {
        let progress = &self.progress();
        let verdict = match silence {
            Silence::Unconnected => {
                let cause = io::Error::from(io::ErrorKind::ConnectionRefused);
                failed(TransportError::not_sent(cause), progress)
            }
            Silence::Lost => {
                let cause = io::Error::from(io::ErrorKind::ConnectionReset);
                failed(TransportError::unknown(cause), progress)
            }
            Silence::Late { begun } => timed_out(false, !begun, progress),
        };
        match verdict {
            Verdict::Renew(error) | Verdict::Fail { error, .. } => self.ended(error),
            Verdict::Done(_) => unreachable!("nothing replied"),
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
        let mut progress = self.progress();
        progress.effect = self.before;
        self.call.finish(error, &mut progress)
    }

    fn progress(&self) -> Progress<'_> {
        let mut progress = Progress::new(&self.call, &self.draft, &self.limits);
        progress.attempts = self.attempts;
        progress.bearer.clone_from(&self.bearer);
        progress
    }
}
