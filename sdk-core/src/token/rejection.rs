//! Decides which 401 responses drop a token, and limits renewals when they repeat.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use crate::operation::Operation;
use crate::token::bearer::BearerToken;
use crate::token::lifetime;
use crate::token::policy::TokenPolicy;

/// The maximum number of consecutive tokens that one call may replace while other calls succeed with them.
pub(super) const MAX_RENEWALS: u32 = 3;

/// The time for which a rejection of an accepted token is ignored, if the operation recently rejected new tokens.
const DOUBT: Duration = Duration::from_secs(5);

/// Decides which rejections drop a token.
///
/// A token that has served calls may be revoked early, and is then dropped immediately. But a renewal doesn't help if
/// an operation rejects every token, or every token for a certain record. Examples are a wrong audience, a missing
/// entitlement that is answered with 401, or a gateway that lacks an operation. Such an operation must not cause a
/// token request per call. Nor may it cost other calls a token that works.
///
/// Such an operation rejects tokens that no service has accepted yet. The first rejection of this kind drops the token
/// immediately. If further rejections follow closely, each drops the next token only after a growing backoff.
///
/// Operations are identified by their address.
#[derive(Clone, Debug, Default)]
pub(super) struct RejectionTracker(pub(super) BTreeMap<usize, RejectionStreak>);

/// Consecutive tokens that an operation rejected before any service accepted them.
#[derive(Clone, Debug)]
pub(super) struct RejectionStreak {
    pub(super) length: u32,
    pub(super) last: Instant,
    pub(super) backoff_until: Option<Instant>,
    /// The last token that was counted.
    pub(super) generation: u64,
}

impl RejectionStreak {
    fn counts(&self, now: Instant, policy: &TokenPolicy) -> bool {
        // Twice the longest delay. With a shorter memory, each rejection of a long series would count as the first.
        let cap = policy.renewal_backoff.cap;
        let memory = cap.saturating_mul(2).max(Duration::from_secs(60));
        now.saturating_duration_since(self.last) < memory
    }
}

impl RejectionTracker {
    /// Whether to ignore a rejection, because the operation has recently rejected several tokens in a row. A token that
    /// a service accepted may have been revoked since, so its rejections are ignored only for a few seconds.
    pub(super) fn in_backoff(
        &self,
        operation: &'static Operation,
        token: &BearerToken,
        now: Instant,
    ) -> bool {
        self.0.get(&key(operation)).is_some_and(|streak| {
            let doubted = !token.was_accepted() || now < lifetime::later(streak.last, DOUBT);
            doubted && streak.backoff_until.is_some_and(|until| now < until)
        })
    }

    /// Records that a token was replaced because of this operation, which restarts the period of doubt.
    pub(super) fn replaced(&mut self, operation: &'static Operation, now: Instant) {
        if let Some(streak) = self.0.get_mut(&key(operation)) {
            streak.last = now;
        }
    }

    /// Counts a token that the operation rejected before any service accepted it.
    pub(super) fn count(
        &mut self,
        operation: &'static Operation,
        generation: u64,
        now: Instant,
        policy: &TokenPolicy,
        random: f64,
    ) {
        self.0.retain(|_, streak| streak.counts(now, policy));
        let streak = self.0.entry(key(operation)).or_insert(RejectionStreak {
            length: 0,
            last: now,
            backoff_until: None,
            generation: 0,
        });
        // Many calls may see the same token rejected.
        if streak.generation == generation {
            return;
        }
        if streak.length > 0 {
            let wait = policy.renewal_backoff.half_jitter(streak.length, random);
            streak.backoff_until = Some(lifetime::later(now, wait));
        }
        (streak.generation, streak.last) = (generation, now);
        streak.length = streak.length.saturating_add(1);
    }

    /// Whether no rejection counts any longer.
    pub(super) fn is_quiet(&self, now: Instant, policy: &TokenPolicy) -> bool {
        !self.0.values().any(|streak| streak.counts(now, policy))
    }
}

fn key(operation: &'static Operation) -> usize {
    std::ptr::from_ref(operation).addr()
}
