//! What a 401 does to a token, and how a storm of them is limited.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Duration;

use tokio::time::Instant;

use crate::operation::Operation;
use crate::token::bearer::BearerToken;
use crate::token::lifetime;
use crate::token::policy::TokenPolicy;

/// How many tokens in a row one call may have replaced while other calls succeed with them.
pub(super) const MOST_RENEWALS: u32 = 3;

/// How long a target that refuses every token is doubted about one that was accepted elsewhere.
const DOUBT: Duration = Duration::from_secs(5);

/// How many operations and paths that refused tokens are remembered.
const MOST_STREAKS: usize = 256;

/// What happened to a token that a service answered with 401.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rejection {
    /// The token is dropped: the next call obtains another.
    Dropped,
    /// The token was replaced or dropped before: the next call has another.
    Superseded,
    /// The token is kept: another would be refused too.
    Kept,
}

impl Rejection {
    /// Whether the next token is a different one, so that a resend makes sense.
    pub fn allows_resend(self) -> bool {
        !matches!(self, Self::Kept)
    }
}

/// What a token is sent to: an operation and one of its paths.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    operation: &'static Operation,
    path: u64,
}

/// An operation, or one of its paths.
pub(super) type Key = (usize, Option<u64>);

impl Target {
    /// The target of a request.
    pub fn new(operation: &'static Operation, path: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        path.hash(&mut hasher);
        Self {
            operation,
            path: hasher.finish(),
        }
    }

    /// The path, and the operation as a whole.
    fn keys(self) -> [Key; 2] {
        let operation = std::ptr::from_ref(self.operation).addr();
        [(operation, Some(self.path)), (operation, None)]
    }
}

/// Decides which rejections drop a token.
///
/// A token that has served calls may be revoked early, and is then dropped at once. But a renewal does not help when a target
/// refuses every token (a wrong audience, a missing entitlement answered with 401, a gateway that lacks one operation). This
/// must neither turn each call into an exchange nor cost other calls a token that works. Such a target refuses tokens as soon
/// as they arrive: the first two of these rejections are believed at once. Further ones are believed more and more rarely, if
/// they follow each other closely and no call to the target succeeds in between.
#[derive(Clone, Debug, Default)]
pub(super) struct Rejections(pub(super) BTreeMap<Key, Streak>);

/// Tokens in a row that an operation, or one of its paths, refused as soon as they arrived.
#[derive(Clone, Debug)]
pub(super) struct Streak {
    pub(super) length: u32,
    pub(super) last: Instant,
    pub(super) backoff_until: Option<Instant>,
    /// The last token that was counted.
    pub(super) generation: u64,
}

impl Streak {
    /// Whether it is recent enough to count.
    fn counts(&self, now: Instant, policy: &TokenPolicy) -> bool {
        // Twice the longest wait: otherwise each rejection of a long storm would count as the first.
        let cap = policy.renewal_backoff.cap;
        let memory = cap.saturating_mul(2).max(Duration::from_secs(60));
        now.saturating_duration_since(self.last) < memory
    }
}

impl Rejections {
    /// Whether to ignore a rejection, because the target, or its operation on several paths, has recently refused one token
    /// after another. If the token was accepted anywhere, it may have been revoked since, so the target is doubted for a few
    /// seconds only.
    pub(super) fn in_backoff(&self, target: Target, token: &BearerToken, now: Instant) -> bool {
        let in_backoff = |key: Key| {
            self.0.get(&key).is_some_and(|streak| {
                let doubted = !token.was_accepted() || now < lifetime::later(streak.last, DOUBT);
                doubted && streak.backoff_until.is_some_and(|until| now < until)
            })
        };
        target.keys().into_iter().any(in_backoff)
    }

    /// Records that a token was replaced because of a target, which is then doubted again.
    pub(super) fn replaced(&mut self, target: Target, now: Instant) {
        for key in target.keys() {
            if let Some(streak) = self.0.get_mut(&key) {
                streak.last = now;
            }
        }
    }

    /// Counts a token that a target refused as soon as it arrived.
    pub(super) fn count(
        &mut self,
        target: Target,
        generation: u64,
        now: Instant,
        policy: &TokenPolicy,
        roll: f64,
    ) {
        let backoff = policy.renewal_backoff;
        self.0.retain(|_, streak| streak.counts(now, policy));
        if self.0.len() >= MOST_STREAKS {
            // Of several, the first one: a map without an order would choose by chance.
            let oldest = self.0.iter().min_by_key(|(_, streak)| streak.last);
            if let Some(oldest) = oldest.map(|(key, _)| *key) {
                self.0.remove(&oldest);
            }
        }
        for key in target.keys() {
            let streak = self.0.entry(key).or_insert(Streak {
                length: 0,
                last: now,
                backoff_until: None,
                generation: 0,
            });
            // Many calls may see the same token refused.
            if streak.generation == generation {
                continue;
            }
            if streak.length > 0 {
                let wait = backoff.half_jitter(streak.length, roll);
                streak.backoff_until = Some(lifetime::later(now, wait));
            }
            (streak.generation, streak.last) = (generation, now);
            streak.length = streak.length.saturating_add(1);
        }
    }

    /// Whether a target is remembered for refusing tokens.
    pub(super) fn knows(&self, target: Target) -> bool {
        target.keys().iter().any(|key| self.0.contains_key(key))
    }

    /// Forgets a target, which accepted a token.
    pub(super) fn forget(&mut self, target: Target) {
        for key in target.keys() {
            self.0.remove(&key);
        }
    }

    /// Whether no rejection counts any more.
    pub(super) fn is_quiet(&self, now: Instant, policy: &TokenPolicy) -> bool {
        !self.0.values().any(|streak| streak.counts(now, policy))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
