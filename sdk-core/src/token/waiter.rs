//! A caller on its way to a token: what it needs, what it has waited for, and when it looks again.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime;
use tokio::time::Instant;

use crate::token::bearer::BearerToken;
use crate::token::error::TokenError;

/// How a renewal ended. All its waiters get a clone.
pub(super) type Outcome = Result<Arc<BearerToken>, TokenError>;

#[derive(Clone, Copy, Debug)]
pub(super) struct Renewal {
    pub(super) id: u64,
    /// Where its task runs. If nobody drives this runtime, it never ends.
    pub(super) runtime: runtime::Id,
    /// When callers on other runtimes stop waiting for it.
    pub(super) overtaken: Instant,
    /// When it should have ended.
    pub(super) overdue: Instant,
}

impl Renewal {
    /// When a caller on this runtime gives it up. Whoever runs on the same runtime knows that somebody drives it.
    pub(super) fn limit(&self, runtime: runtime::Id) -> Instant {
        if runtime == self.runtime {
            self.overdue
        } else {
            self.overtaken
        }
    }
}

/// What a caller does next.
#[derive(Debug)]
pub(super) enum Action {
    Use(Arc<BearerToken>),
    Fail(TokenError),
    /// Look again once a renewal has ended, and at this instant at the latest.
    Wait(Instant),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Waiter {
    /// Where a renewal would run.
    pub(super) runtime: runtime::Id,
    /// How long the token has to last: the timeout of an attempt.
    pub(super) min_validity: Duration,
    /// How many results there were when it began to wait: the next one answers it.
    pub(super) waits_since: Option<u64>,
    /// When it has spent half the rest of its live token, so that a stalled endpoint does no harm early.
    pub(super) fallback_at: Option<Instant>,
}

impl Waiter {
    pub(super) fn new(runtime: runtime::Id, min_validity: Duration) -> Self {
        Self {
            runtime,
            min_validity,
            waits_since: None,
            fallback_at: None,
        }
    }

    /// Whether it has spent the spare time of its live token.
    pub(super) fn has_reached_fallback(&self, now: Instant) -> bool {
        self.fallback_at.is_some_and(|at| at <= now)
    }

    /// When to look again while it waits for `renewal`.
    pub(super) fn wait_for(
        &mut self,
        renewal: &Renewal,
        live: Option<&BearerToken>,
        now: Instant,
    ) -> Instant {
        let limit = renewal.limit(self.runtime);
        let Some(token) = live else {
            return limit;
        };
        let rest = token.expires_at().saturating_duration_since(now);
        let fallback_at = *self.fallback_at.get_or_insert(now + rest / 2);
        fallback_at.min(limit)
    }
}
