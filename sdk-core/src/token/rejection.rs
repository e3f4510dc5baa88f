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
/// A service that refuses every token (a wrong audience, a missing entitlement answered with 401, a skewed clock)
/// must not turn each call into an exchange, nor rob the calls that the token serves well. The first two rejections
/// are believed at once; further ones, if they follow each other closely, ever more rarely.
#[derive(Debug, Default)]
pub(super) struct Rejections {
    streak: u32,
    last: Option<Instant>,
    quiet_until: Option<Instant>,
}

impl Rejections {
    /// Whether a rejection at `now` may drop the token; if so, it counts.
    pub(super) fn admit(&mut self, now: Instant, policy: &TokenPolicy, roll: f64) -> bool {
        if self.quiet_until.is_some_and(|until| now < until) {
            return false;
        }
        // Twice the longest quiet time, or else a lasting storm would count as a series of first rejections.
        let memory = policy
            .backoff_cap
            .saturating_mul(2)
            .max(Duration::from_secs(60));
        let recent = self
            .last
            .is_some_and(|last| now.saturating_duration_since(last) < memory);
        self.streak = if recent {
            self.streak.saturating_add(1)
        } else {
            1
        };
        self.last = Some(now);
        self.quiet_until = (self.streak > 1).then(|| {
            let quiet = backoff::half_jitter(
                policy.backoff_base,
                policy.backoff_cap,
                self.streak - 1,
                roll,
            );
            lifetime::later(now, quiet)
        });
        true
    }
}
