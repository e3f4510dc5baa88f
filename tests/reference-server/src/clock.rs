//! The server's clock: it starts at a fixed instant or with the machine's, and is moved by tests.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

use crate::adapters::Transport;
use crate::builder::Builder;

/// Where a server's time begins unless it is told otherwise, so that data and dates are the same in every run.
const START: Timestamp = Timestamp::constant(1_768_467_600, 0);

/// When the server's time begins.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Start {
    At(Timestamp),
    /// When the server does.
    Now,
}

impl Default for Start {
    fn default() -> Start {
        Start::At(START)
    }
}

/// How the server's time passes by itself.
#[derive(Clone, Copy, Debug)]
enum Pace {
    /// Not at all.
    Frozen,
    /// In real time, also while the caller's runtime pauses its clock.
    Real(Instant),
    /// As the machine's clock has it, also when that is set, or was asleep.
    Wall,
    /// On the clock of the caller's runtime.
    Tokio(tokio::time::Instant),
}

/// The time by the server: the start, plus the time passed (unless frozen), plus what a test added.
#[derive(Debug)]
pub(crate) struct Clock {
    start: Timestamp,
    pace: Pace,
    advanced_millis: AtomicI64,
}

impl Clock {
    pub(crate) fn new(settings: &Builder) -> Clock {
        let start = match settings.start {
            Start::At(start) => start,
            // Whole seconds keep the dates of the data short.
            Start::Now => Timestamp::constant(Timestamp::now().as_second(), 0),
        };
        let pace = match (settings.transport, settings.start) {
            _ if settings.frozen_clock => Pace::Frozen,
            (Transport::InMemory, _) => Pace::Tokio(tokio::time::Instant::now()),
            (_, Start::Now) => Pace::Wall,
            (Transport::Wiremock | Transport::Hyper, _) => Pace::Real(Instant::now()),
        };
        Clock {
            start,
            pace,
            advanced_millis: AtomicI64::new(0),
        }
    }

    /// When the server's time began, which its data go by.
    pub(crate) fn start(&self) -> Timestamp {
        self.start
    }

    pub(crate) fn now(&self) -> Timestamp {
        let passed = match self.pace {
            Pace::Frozen => SignedDuration::ZERO,
            Pace::Real(since) => signed(since.elapsed()),
            Pace::Wall => Timestamp::now().duration_since(self.start),
            Pace::Tokio(since) => signed(since.elapsed()),
        };
        // Milliseconds suffice on the wire, and keep the dates short.
        let millis = i64::try_from(passed.as_millis()).unwrap_or(i64::MAX);
        let total = millis.saturating_add(self.advanced_millis.load(Ordering::Relaxed));
        self.start
            .checked_add(SignedDuration::from_millis(total))
            .unwrap_or(Timestamp::MAX)
    }

    /// Goes back to the start.
    pub(crate) fn restart(&self) {
        let passed = self.now().duration_since(START).as_millis();
        let passed = i64::try_from(passed).unwrap_or(i64::MAX);
        self.advanced_millis.fetch_sub(passed, Ordering::Relaxed);
    }

    pub(crate) fn advance(&self, by: Duration) {
        let millis = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
        let _ = self
            .advanced_millis
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |total| {
                Some(total.saturating_add(millis))
            });
    }
}

fn signed(passed: Duration) -> SignedDuration {
    SignedDuration::try_from(passed).unwrap_or(SignedDuration::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frozen_clock_moves_only_when_told() {
        let clock = Clock::new(&Builder::default().frozen_clock());
        assert_eq!(clock.now().to_string(), "2026-01-15T09:00:00Z");

        clock.advance(Duration::from_secs(300));

        assert_eq!(clock.now().to_string(), "2026-01-15T09:05:00Z");
    }
}
