//! What a 401 does to a token, and how a storm of them is bounded.

use std::time::Duration;

use tokio::time::Instant;

use super::{TokenPolicy, backoff, lifetime};

/// What became of a token that a service answered with a 401.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rejection {
    /// The token is dropped: the next call obtains another.
    Dropped,
    /// The token had been replaced or dropped already: the next call has another.
    Superseded,
    /// The token is kept: new tokens have lately been refused as soon as they came, so that yet another would
    /// change nothing.
    Kept,
}

impl Rejection {
    /// Whether the next token is another than the one that was refused, so that a resend makes sense.
    pub fn allows_resend(self) -> bool {
        !matches!(self, Self::Kept)
    }
}

/// Decides which rejections may drop a token.
///
/// A token that has served the operation before died in the middle of its life, and is dropped at once. One that it has
/// never served may be refused because of what no renewal changes (a wrong audience, an entitlement answered with 401, a
/// gateway that knows only one operation less): such rejections must not turn each call into an exchange, nor rob the
/// operations that the token serves well. The first two of an operation are believed at once; further ones, if they follow
/// each other closely, ever more rarely.
#[derive(Debug, Default)]
pub(super) struct Rejections(Vec<Streak>);

/// Tokens that an operation refused before they had ever served it.
#[derive(Debug)]
struct Streak {
    operation: &'static str,
    length: u32,
    last: Instant,
    quiet_until: Option<Instant>,
}

impl Rejections {
    /// Whether a rejection at `now` may drop the token, which `served` the operation before or not; if so, it counts.
    pub(super) fn admit(
        &mut self,
        operation: &'static str,
        served: bool,
        now: Instant,
        policy: &TokenPolicy,
        roll: f64,
    ) -> bool {
        // Twice the longest quiet time, or else a lasting storm would count as a series of first rejections.
        let memory = policy
            .backoff_cap
            .saturating_mul(2)
            .max(Duration::from_secs(60));
        self.0.retain(|streak| {
            let recent = now.saturating_duration_since(streak.last) < memory;
            recent && !(served && streak.operation == operation)
        });
        if served {
            return true;
        }
        let streaks = &mut self.0;
        let Some(streak) = streaks.iter_mut().find(|it| it.operation == operation) else {
            streaks.push(Streak {
                operation,
                length: 1,
                last: now,
                quiet_until: None,
            });
            return true;
        };
        if streak.quiet_until.is_some_and(|until| now < until) {
            return false;
        }
        streak.last = now;
        let (base, cap) = (policy.backoff_base, policy.backoff_cap);
        let quiet = backoff::half_jitter(base, cap, streak.length, roll);
        streak.quiet_until = Some(lifetime::later(now, quiet));
        streak.length = streak.length.saturating_add(1);
        true
    }
}
