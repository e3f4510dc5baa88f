//! What a call makes of outcomes that are only imagined, by the code that judges real ones: for `testing`.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;

use crate::call::Call;
use crate::call::attempt::Outcome;
use crate::call::classify::classify;
use crate::call::progress::{Progress, Take};
use crate::call::refusal::unscoped;
use crate::call::unreached::{lost, timed_out, unconnected};
use crate::call::verdict::Verdict;
use crate::client::limits::Limits;
use crate::error::Error;
use crate::error::kind::{Effect, ErrorKind};
use crate::reply::decode::{FromReply, Terms, decode};
use crate::reply::response::{Reply, Response};
use crate::request::draft::Draft;
use crate::token::bearer::BearerToken;
use crate::transport::body::Unread;

/// A call that is never sent, and what its attempts are said to have done.
pub(crate) struct Rehearsal {
    call: Call,
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
    pub(crate) fn new(mut call: Call, draft: Draft, bearer: Arc<BearerToken>) -> Self {
        call.ensure_key();
        Self {
            limits: call.client.limits(&call.options),
            bearer: call.is_authenticated().then_some(bearer),
            call,
            draft,
            attempts: 1,
            before: Effect::NotSent,
        }
    }

    /// The same call after this many attempts, of which those before the last one had this effect.
    pub(crate) fn after(mut self, attempts: u32, before: Effect) -> Self {
        (self.attempts, self.before) = (attempts, before);
        self
    }

    /// What the call makes of a reply.
    pub(crate) fn reply<T: FromReply>(
        &self,
        status: u16,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Response<T>, Error> {
        self.reply_with(self.call.terms(&self.limits), status, headers, body)
    }

    /// [`reply`](Self::reply), for a contract that shows this schema version.
    pub(crate) fn versioned<T: FromReply>(
        &self,
        version: &'static str,
        status: u16,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Response<T>, Error> {
        let mut terms = self.call.terms(&self.limits);
        terms.schema_version = terms.schema_version.or(Some(version));
        self.reply_with(terms, status, headers, body)
    }

    fn reply_with<T: FromReply>(
        &self,
        terms: Terms,
        status: u16,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Response<T>, Error> {
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
        let reply = self.judge(|progress| classify(outcome, false, progress, &mut take))?;
        let value = value.ok_or_else(|| Error::decode("the reply was not decoded"));
        value.map(|value| Response::new(value, reply))
    }

    /// The error of a reply that begins and does not end in time.
    pub(crate) fn unended(&self, status: u16, headers: HeaderMap) -> Error {
        let outcome = Outcome::Reply {
            status,
            headers,
            body: Err(Unread::Late),
        };
        let take: Take<'_> = &mut |_, _| Ok(());
        let judged = self.judge(|progress| classify(outcome, false, progress, take));
        judged
            .err()
            .unwrap_or_else(|| Error::decode("the reply was read"))
    }

    /// The error of an attempt without a reply.
    pub(crate) fn silence(&self, silence: Silence) -> Error {
        let broken = |kind: io::ErrorKind| io::Error::from(kind);
        let judged = self.judge(|progress| match silence {
            Silence::Unconnected => {
                let cause = broken(io::ErrorKind::ConnectionRefused);
                unconnected(&cause.to_string(), false, cause, progress)
            }
            Silence::Lost => {
                let cause = broken(io::ErrorKind::ConnectionReset);
                lost(ErrorKind::Transport, cause, progress)
            }
            Silence::Late { begun } => timed_out(false, !begun, progress),
        });
        judged
            .err()
            .unwrap_or_else(|| Error::decode("there was a reply"))
    }

    /// The error of a call whose token surely lacks the scope, where the policy is not to send it.
    pub(crate) fn unscoped(&self) -> Error {
        let confidential = self.call.confidential();
        let bearer = self.bearer.as_deref();
        let error = bearer.map(|bearer| unscoped(self.call.operation, bearer, &confidential));
        self.unsent(error.unwrap_or_else(|| Error::configuration("the call takes no token")))
    }

    /// An error that ends the call between two attempts, or before the first one.
    pub(crate) fn unsent(&self, error: Error) -> Error {
        let mut progress = self.progress();
        progress.effect = self.before;
        self.call.finish(error, &mut progress)
    }

    /// An error about the content of a page that was received.
    pub(crate) fn unfit<T>(&self, error: Error, page: &Response<T>) -> Error {
        self.call.unfit(error, page)
    }

    fn progress(&self) -> Progress<'_> {
        let mut progress = Progress::new(&self.call, &self.draft, &self.limits);
        progress.attempts = self.attempts;
        progress.bearer.clone_from(&self.bearer);
        progress
    }

    /// The end of the call, if this is the verdict on its last attempt.
    fn judge(&self, judge: impl FnOnce(&Progress<'_>) -> Verdict) -> Result<Reply, Error> {
        let mut progress = self.progress();
        match judge(&progress) {
            Verdict::Done(reply) => Ok(Reply {
                key: self.call.options.key.clone(),
                ..reply
            }),
            Verdict::Renew(error) | Verdict::Fail { error, .. } => {
                progress.effect = self.before.or(error.effect());
                Err(self.call.finish(error, &mut progress))
            }
        }
    }
}
