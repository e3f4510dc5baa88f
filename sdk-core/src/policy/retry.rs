//! When a failed call or exchange is attempted again: the number of attempts, the delays between them, and `Retry-After`.

use std::time::{Duration, SystemTime};

use http::HeaderMap;
use http::header::{DATE, HeaderName, RETRY_AFTER};

/// The longest wait, whatever is set: far from overflow.
const DAY: Duration = Duration::from_secs(24 * 3600);

/// How waits grow: at most `base` after the first failure, doubled by each further one, never above `cap`. Each wait is drawn
/// at random, so that clients that fail together do not come back together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Backoff {
    /// The longest wait after the first failure.
    pub base: Duration,
    /// The longest wait after any number of failures; a day at most.
    pub cap: Duration,
}

impl Backoff {
    /// Waits of at most `base` at first, and at most `cap` in the end.
    #[must_use]
    pub const fn new(base: Duration, cap: Duration) -> Self {
        Self { base, cap }
    }

    /// No waits: for tests, or where something else limits the attempts.
    #[must_use]
    pub const fn none() -> Self {
        Self::new(Duration::ZERO, Duration::ZERO)
    }

    /// The longest wait after this many failures.
    fn ceiling(self, failures: u32) -> Duration {
        let factor = 1_u32
            .checked_shl(failures.saturating_sub(1))
            .unwrap_or(u32::MAX);
        self.base.saturating_mul(factor).min(self.cap).min(DAY)
    }

    /// A wait between attempts, from zero to the ceiling: spreads clients the most.
    pub(crate) fn full_jitter(self, failures: u32, random: f64) -> Duration {
        self.ceiling(failures).mul_f64(random.clamp(0.0, 1.0))
    }

    /// A wait during which nothing is tried, from half the ceiling to the ceiling, so never close to zero. `random` is a number
    /// from 0 to 1.
    #[must_use]
    pub fn half_jitter(self, failures: u32, random: f64) -> Duration {
        self.ceiling(failures)
            .mul_f64(0.5 + random.clamp(0.0, 1.0) / 2.0)
    }
}

/// How often a call is attempted, and how long it waits in between.
///
/// Whether a failure may be retried at all depends on the operation: see [`Safety`](crate::Safety), and
/// [the guide](crate::guide::retries) for what is retried.
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
    /// Attempts in all, the first included; 0 counts as 1. 3 by default: two retries outlast a restart behind a load
    /// balancer, and more only prolong an outage.
    pub attempts: u32,
    /// The waits between attempts. By default they grow from 200 ms, enough to rebuild a connection while a person waits,
    /// to 5 s, beyond which an error serves the caller better.
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
    /// One attempt only.
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

/// The wait that a server asks for, in seconds or as a date in any of HTTP's three forms. A date is compared with the reply's
/// own `Date`, so that a wrong local clock does no harm, and with the local clock only if that is missing. A negative, past or
/// unreadable value asks for nothing.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // Too many digits to parse mean a long wait; every use caps it.
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    let now = date(headers, &DATE).unwrap_or_else(SystemTime::now);
    let wait = date(headers, &RETRY_AFTER)?.duration_since(now).ok()?;
    (!wait.is_zero()).then_some(wait)
}

fn date(headers: &HeaderMap, name: &HeaderName) -> Option<SystemTime> {
    let text = headers.get(name)?.to_str().ok()?;
    httpdate::parse_http_date(text.trim()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_their_cap_whatever_is_asked() {
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

    fn asked(retry_after_text: &str, date: Option<&str>) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        headers.insert("retry-after", retry_after_text.parse().unwrap());
        if let Some(date) = date {
            headers.insert("date", date.parse().unwrap());
        }
        retry_after(&headers)
    }

    #[test]
    fn seconds_and_all_three_forms_of_dates_are_understood() {
        let date = Some("Sun, 06 Nov 1994 08:49:37 GMT");
        for later in [
            "Sun, 06 Nov 1994 08:49:57 GMT",
            "Sunday, 06-Nov-94 08:49:57 GMT",
            "Sun Nov  6 08:49:57 1994",
            "20",
        ] {
            assert_eq!(asked(later, date), Some(Duration::from_secs(20)), "{later}");
        }
        for nothing in ["Sun, 06 Nov 1994 08:49:37 GMT", "-1", "1.5", "soon", ""] {
            assert_eq!(asked(nothing, date), None, "{nothing}");
        }
        assert_eq!(asked("Sun, 06 Nov 1994 08:49:57 GMT", None), None);
        assert!(asked("Fri, 31 Dec 9999 23:59:59 GMT", None).is_some());
        let endless = Some(Duration::from_secs(u64::MAX));
        assert_eq!(asked("100000000000000000000", date), endless);
    }
}
