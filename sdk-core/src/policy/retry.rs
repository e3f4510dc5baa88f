//! Retry policies: the number of attempts, the delays between them, and `Retry-After`.

use std::time::{Duration, SystemTime};

use http::HeaderMap;
use http::header::{DATE, HeaderName, RETRY_AFTER};

/// The maximum delay, whatever is set. Far from overflow.
const DAY: Duration = Duration::from_secs(24 * 3600);

/// The growth of delays. The maximum delay is `base` after the first failure, doubles with each further failure, and
/// never exceeds `cap`. Each delay is random, so that clients that fail together don't retry together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Backoff {
    /// The maximum delay after the first failure.
    pub base: Duration,
    /// The maximum delay after any number of failures. At most a day.
    pub cap: Duration,
}

impl Backoff {
    /// Creates a backoff whose maximum delay grows from `base` to `cap`.
    #[must_use]
    pub const fn new(base: Duration, cap: Duration) -> Self {
        Self { base, cap }
    }

    /// Creates a backoff without delays, for tests or if attempts are limited elsewhere.
    #[must_use]
    pub const fn none() -> Self {
        Self::new(Duration::ZERO, Duration::ZERO)
    }

    fn ceiling(self, failures: u32) -> Duration {
        let factor = 1_u32
            .checked_shl(failures.saturating_sub(1))
            .unwrap_or(u32::MAX);
        self.base.saturating_mul(factor).min(self.cap).min(DAY)
    }

    /// Returns a delay between attempts, from zero to the maximum. This spreads clients the most.
    pub(crate) fn full_jitter(self, failures: u32, random: f64) -> Duration {
        self.ceiling(failures).mul_f64(random.clamp(0.0, 1.0))
    }

    /// Returns a delay during which nothing is tried, from half the maximum to the maximum, so it is never close to
    /// zero. `random` is a number from 0 to 1.
    #[must_use]
    pub fn half_jitter(self, failures: u32, random: f64) -> Duration {
        self.ceiling(failures)
            .mul_f64(0.5 + random.clamp(0.0, 1.0) / 2.0)
    }
}

/// The number of attempts of a call, and the delays between them.
///
/// Whether a failure may be retried depends on the operation's [`Safety`](crate::Safety). See
/// [the guide](crate::guide::retries) for the failures that are retried.
///
/// ```
/// use std::time::Duration;
/// use sdk_core::{Backoff, RetryPolicy};
///
/// let backoff = Backoff::new(Duration::from_millis(200), Duration::from_secs(20));
/// let patient = RetryPolicy::default().with_attempts(6).with_backoff(backoff);
/// let once = RetryPolicy::none();
/// # let _ = (patient, once);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RetryPolicy {
    /// The maximum number of attempts, including the first; 0 counts as 1. The default is 3: two retries are enough to
    /// survive a restart behind a load balancer, and more would prolong an outage.
    pub attempts: u32,
    /// The delays between attempts. By default, they grow from 200 ms, enough to rebuild a connection, to 5 s, beyond
    /// which an error is more useful to the caller.
    pub backoff: Backoff,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts: 3,
            backoff: Backoff::new(Duration::from_millis(200), Duration::from_secs(5)),
        }
    }
}

impl RetryPolicy {
    /// Returns a policy with a single attempt.
    #[must_use]
    pub fn none() -> Self {
        Self::default().with_attempts(1)
    }

    /// Sets [`attempts`](Self::attempts).
    #[must_use]
    pub fn with_attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    /// Sets [`backoff`](Self::backoff).
    #[must_use]
    pub fn with_backoff(mut self, backoff: Backoff) -> Self {
        self.backoff = backoff;
        self
    }
}

/// Returns the delay that a server requests, in seconds or as a date in any of HTTP's three formats. A date is compared
/// with the response's `Date` header, so a wrong local clock has no effect. The local clock is used only if that header
/// is missing. A negative, past or unreadable value is ignored.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // A number that is too large to parse means a long delay. Every use caps it.
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX)));
    }
    let now = date(headers, &DATE).unwrap_or_else(SystemTime::now);
    let wait = date(headers, &RETRY_AFTER)?.duration_since(now).ok()?;
    (!wait.is_zero()).then_some(wait)
}

fn date(headers: &HeaderMap, name: &HeaderName) -> Option<SystemTime> {
    let value = headers.get(name)?.to_str().ok()?;
    httpdate::parse_http_date(value.trim()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_the_cap() {
        let backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(30));
        let full = [1, 2, 3, 5, 6, 33, 40, u32::MAX]
            .map(|failures| backoff.full_jitter(failures, 1.0).as_secs());
        assert_eq!(full, [1, 2, 4, 16, 30, 30, 30, 30]);
        assert_eq!(backoff.full_jitter(3, 0.0), Duration::ZERO);
        assert_eq!(backoff.half_jitter(3, 0.0), Duration::from_secs(2));
        assert_eq!(backoff.half_jitter(3, 1.0), Duration::from_secs(4));
        let endless = Backoff::new(Duration::MAX, Duration::MAX);
        for wait in [Backoff::full_jitter, Backoff::half_jitter] {
            assert_eq!(wait(endless, u32::MAX, 1.0), DAY);
            assert_eq!(wait(Backoff::none(), u32::MAX, 1.0), Duration::ZERO);
        }
    }

    fn read(value: &str, date: Option<&str>) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        headers.insert("retry-after", value.parse().unwrap());
        if let Some(date) = date {
            headers.insert("date", date.parse().unwrap());
        }
        retry_after(&headers)
    }

    #[test]
    fn seconds_and_all_three_date_formats_are_parsed() {
        let date = Some("Sun, 06 Nov 1994 08:49:37 GMT");
        for later in [
            "Sun, 06 Nov 1994 08:49:57 GMT",
            "Sunday, 06-Nov-94 08:49:57 GMT",
            "Sun Nov  6 08:49:57 1994",
            "20",
        ] {
            assert_eq!(read(later, date), Some(Duration::from_secs(20)), "{later}");
        }
        for ignored in ["Sun, 06 Nov 1994 08:49:37 GMT", "-1", "1.5", "soon", ""] {
            assert_eq!(read(ignored, date), None, "{ignored}");
        }
        assert_eq!(read("Sun, 06 Nov 1994 08:49:57 GMT", None), None);
        assert!(read("Fri, 31 Dec 9999 23:59:59 GMT", None).is_some());
        let endless = Some(Duration::from_secs(u64::MAX));
        assert_eq!(read("100000000000000000000", date), endless);
    }
}
