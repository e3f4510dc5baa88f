//! What a 401 does to a token, and how a storm of them is bounded.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Duration;

use tokio::time::Instant;

use crate::operation::Operation;
use crate::token::lifetime;
use crate::token::policy::TokenPolicy;

/// How many tokens in a row one call may see refused and replaced, if others are served by them.
pub(super) const MOST_RENEWALS: u32 = 3;

/// How long a target that refused token after token is not believed about one that was accepted elsewhere.
const DOUBT: Duration = Duration::from_secs(5);

/// How many operations and paths are remembered for refusing tokens.
const MOST_STREAKS: usize = 256;

/// What became of a token that a service answered with a 401.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rejection {
    /// The token is dropped: the next call obtains another.
    Dropped,
    /// The token had been replaced or dropped already: the next call has another.
    Superseded,
    /// The token is kept: another would be refused as well.
    Kept,
}

impl Rejection {
    /// Whether the next token is another than the one that was refused, so that a resend makes sense.
    pub fn allows_resend(self) -> bool {
        !matches!(self, Self::Kept)
    }
}

/// What a token is sent to: an operation, and one path of it.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    pub(super) operation: &'static Operation,
    path: u64,
}

/// An operation, or a path of it.
type Key = (usize, Option<u64>);

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

/// Decides which rejections may drop a token.
///
/// A token that has served calls before died in the middle of its life, and is dropped at once. But a target may refuse what
/// no renewal changes (a wrong audience, an entitlement answered with 401, a gateway that knows only one operation less):
/// that must not turn each call into an exchange, nor rob the others of a token that serves them well. It is known by the
/// tokens that the target refuses as soon as they come: the first two of these are believed at once, further ones, if they
/// follow each other closely and no call of the target succeeds in between, ever more rarely.
#[derive(Debug, Default)]
pub(super) struct Rejections(HashMap<Key, Streak>);

/// Tokens that an operation, or a path of it, refused as soon as they came.
#[derive(Debug)]
struct Streak {
    length: u32,
    last: Instant,
    backoff_until: Option<Instant>,
    /// The token that was counted last.
    generation: u64,
}

impl Rejections {
    /// Whether a rejection by a target is no news: it refused token after token of late. One that has `served` the operation
    /// says that not all its paths do. One that was `accepted` anywhere may have died since: that is doubted for a few
    /// seconds, however long the streak.
    pub(super) fn in_backoff(
        &self,
        target: Target,
        served: bool,
        accepted: bool,
        now: Instant,
    ) -> bool {
        let in_backoff = |key: Key| {
            self.0.get(&key).is_some_and(|streak| {
                let doubted = !accepted || now < lifetime::later(streak.last, DOUBT);
                doubted && streak.backoff_until.is_some_and(|until| now < until)
            })
        };
        let [path, any_path] = target.keys();
        in_backoff(path) || (!served && in_backoff(any_path))
    }

    /// Takes note that a target had a token that was accepted elsewhere replaced: not again at once.
    pub(super) fn replaced(&mut self, target: Target, now: Instant) {
        for key in target.keys() {
            if let Some(streak) = self.0.get_mut(&key) {
                streak.last = now;
            }
        }
    }

    /// Takes note that a target refused a token as soon as it came.
    pub(super) fn count(
        &mut self,
        target: Target,
        generation: u64,
        now: Instant,
        policy: &TokenPolicy,
        roll: f64,
    ) {
        let backoff = policy.renewal_backoff;
        // Twice the longest wait, or else a lasting storm would count as a series of first rejections.
        let memory = backoff.cap.saturating_mul(2).max(Duration::from_secs(60));
        self.0
            .retain(|_, streak| now.saturating_duration_since(streak.last) < memory);
        if self.0.len() >= MOST_STREAKS {
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
            // Any number of calls may see one token refused.
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

    /// Whether anything is held against a target.
    pub(super) fn knows(&self, target: Target) -> bool {
        target.keys().iter().any(|key| self.0.contains_key(key))
    }

    /// Takes note that a target took a token.
    pub(super) fn forget(&mut self, target: Target) {
        for key in target.keys() {
            self.0.remove(&key);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
