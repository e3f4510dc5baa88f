//! A caller on its way to a token: what it needs, what it has waited for, and when it looks again.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime;
use tokio::time::Instant;

use crate::token::bearer::BearerToken;
use crate::token::error::TokenError;
use crate::token::flight::Flight;

/// What a caller does next.
#[derive(Debug)]
pub(super) struct Decision {
    pub(super) step: Step,
    /// The renewal that the caller must start.
    pub(super) start: Option<u64>,
    /// Whether the caller gave up a renewal, so that all waiters must look again.
    pub(super) news: bool,
}

#[derive(Debug)]
pub(super) enum Step {
    Use(Arc<BearerToken>),
    Fail(TokenError),
    /// Look again once a renewal has ended, and at this instant at the latest.
    Wait(Instant),
}

impl From<Step> for Decision {
    fn from(step: Step) -> Self {
        Self {
            step,
            start: None,
            news: false,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Caller {
    /// Where a renewal would run.
    pub(super) runtime: runtime::Id,
    /// Whether it waits for a fresh token where others use an ageing one.
    pub(super) eager: bool,
    /// How long the token has to last: the timeout of an attempt.
    pub(super) need: Duration,
    /// The renewal that it has waited for, the last of several.
    pub(super) wait: Option<Wait>,
}

/// A caller's wait for a renewal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    pub(super) flight: u64,
    /// When it has spent half the rest of its live token, so that a stalled endpoint does no harm early.
    pub(super) spare: Option<Instant>,
}

impl Caller {
    pub(super) fn new(runtime: runtime::Id, eager: bool, need: Duration) -> Self {
        Self {
            runtime,
            eager,
            need,
            wait: None,
        }
    }

    /// The renewal that it has waited for, if any.
    pub(super) fn waited(&self) -> Option<u64> {
        self.wait.map(|wait| wait.flight)
    }

    /// Whether it has spent the spare time of its live token.
    pub(super) fn has_spent(&self, now: Instant) -> bool {
        let spare = self.wait.and_then(|wait| wait.spare);
        spare.is_some_and(|spare| spare <= now)
    }

    /// Waits for `flight`. Returns when to look again.
    pub(super) fn wait_for(
        &mut self,
        flight: &Flight,
        live: Option<&BearerToken>,
        now: Instant,
    ) -> Instant {
        let known = self.wait.filter(|wait| wait.flight == flight.id);
        let half = |token: &BearerToken| now + token.end().saturating_duration_since(now) / 2;
        let spare = live.map(|token| known.and_then(|it| it.spare).unwrap_or(half(token)));
        self.wait = Some(Wait {
            flight: flight.id,
            spare,
        });
        let limit = flight.limit(self.runtime);
        spare.map_or(limit, |spare| spare.min(limit))
    }
}
