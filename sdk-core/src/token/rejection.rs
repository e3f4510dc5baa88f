//! What a 401 does to a token, and how a storm of them is limited.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use crate::operation::Operation;
use crate::token::bearer::BearerToken;
use crate::token::lifetime;
use crate::token::policy::TokenPolicy;

/// How many tokens in a row one call may have replaced while other calls succeed with them.
pub(super) const MAX_RENEWALS: u32 = 3;

/// How long an operation that rejects tokens as soon as they arrive is doubted about one that was accepted.
const DOUBT: Duration = Duration::from_secs(5);

/// Decides which rejections drop a token.
///
/// A token that has served calls may be revoked early, and is then dropped immediately. But a renewal does not help when an
/// operation rejects every token, or those for one of its records (a wrong audience, a missing entitlement answered with 401,
/// a gateway that lacks one operation). This must neither turn each call into an exchange nor cost other calls a token that
/// works. Such an operation rejects tokens as soon as they arrive: the first of these rejections is believed immediately, and
/// each further token after a backoff that grows, if they follow each other closely.
///
/// An operation is known by its address.
#[derive(Clone, Debug, Default)]
pub(super) struct RejectionTracker(pub(super) BTreeMap<usize, RejectionStreak>);

/// Tokens that an operation rejected as soon as they arrived.
#[derive(Clone, Debug)]
pub(super) struct RejectionStreak {
    pub(super) length: u32,
    pub(super) last: Instant,
    pub(super) backoff_until: Option<Instant>,
    /// The last token that was counted.
    pub(super) generation: u64,
}

impl RejectionStreak {
    /// Whether it is recent enough to count.
    fn counts(&self, now: Instant, policy: &TokenPolicy) -> bool {
        // Twice the longest wait: otherwise each rejection of a long storm would count as the first.
        let cap = policy.renewal_backoff.cap;
        let memory = cap.saturating_mul(2).max(Duration::from_secs(60));
        now.saturating_duration_since(self.last) < memory
    }
}

impl RejectionTracker {
    /// Whether to ignore a rejection, because the operation has recently rejected one token after another. If the token was
    /// accepted anywhere, it may have been revoked since, so the operation is doubted for a few seconds only.
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

    /// Records that a token was replaced because of an operation, which is then doubted again.
    pub(super) fn replaced(&mut self, operation: &'static Operation, now: Instant) {
        if let Some(streak) = self.0.get_mut(&key(operation)) {
            streak.last = now;
        }
    }

    /// Counts a token that an operation rejected as soon as it arrived.
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

    /// Whether no rejection counts any more.
    pub(super) fn is_quiet(&self, now: Instant, policy: &TokenPolicy) -> bool {
        !self.0.values().any(|streak| streak.counts(now, policy))
    }
}

fn key(operation: &'static Operation) -> usize {
    std::ptr::from_ref(operation).addr()
}
