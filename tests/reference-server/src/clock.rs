//! The server's clock, which starts at a fixed instant or with the machine's clock, and which tests can move.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::adapters::Transport;
use crate::builder::Builder;

/// The default start of the clock, so that data and dates are the same in every run.
const START: Timestamp = Timestamp::constant(1_768_467_600, 0);

#[derive(Clone, Copy, Debug)]
pub(crate) enum Start {
    At(Timestamp),
    /// The machine's time when the server starts.
    Now,
}

impl Default for Start {
    fn default() -> Start {
        Start::At(START)
    }
}

/// The pace of the clock without moves by a test.
#[derive(Clone, Copy, Debug)]
enum Pace {
    Frozen,
    /// Real time, even while the caller's runtime pauses its clock.
    Real(Instant),
    /// The machine's clock, including its adjustments and the time of a sleeping machine.
    Wall,
    /// The clock of the caller's runtime.
    Tokio(tokio::time::Instant),
}

/// The server's time: the start, plus the elapsed time (unless frozen), plus the moves by a test. The unit is a
/// millisecond, which is precise enough on the wire and keeps dates short.
#[derive(Debug)]
pub(crate) struct Clock {
    start: AtomicI64,
    pace: Pace,
    advanced: AtomicI64,
}

impl Clock {
    pub(crate) fn new(settings: &Builder) -> Clock {
        let start = match settings.start {
            Start::At(start) => start.as_millisecond(),
            Start::Now => this_second(),
        };
        let pace = match (settings.transport, settings.start) {
            _ if settings.frozen_clock => Pace::Frozen,
            (Transport::InMemory, _) => Pace::Tokio(tokio::time::Instant::now()),
            (_, Start::Now) => Pace::Wall,
            (Transport::Wiremock | Transport::Hyper, _) => Pace::Real(Instant::now()),
        };
        Clock {
            start: start.into(),
            pace,
            advanced: AtomicI64::new(0),
        }
    }

    /// The dates of the data are relative to it.
    pub(crate) fn start(&self) -> Timestamp {
        Timestamp::from_millisecond(self.start.load(Ordering::Relaxed)).unwrap_or(Timestamp::MAX)
    }

    pub(crate) fn now(&self) -> Timestamp {
        let start = self.start.load(Ordering::Relaxed);
        let advanced = self.advanced.load(Ordering::Relaxed);
        let now = (start + self.passed(start)).saturating_add(advanced);
        Timestamp::from_millisecond(now).unwrap_or(Timestamp::MAX)
    }

    fn passed(&self, start: i64) -> i64 {
        let passed = match self.pace {
            Pace::Frozen => Duration::ZERO,
            Pace::Real(since) => since.elapsed(),
            Pace::Wall => return Timestamp::now().as_millisecond() - start,
            Pace::Tokio(since) => since.elapsed(),
        };
        i64::try_from(passed.as_millis()).unwrap_or(i64::MAX / 2)
    }

    /// Goes back to the start. A clock that follows the machine's clock starts at the current second.
    pub(crate) fn restart(&self) {
        if let Pace::Wall = self.pace {
            self.start.store(this_second(), Ordering::Relaxed);
            self.advanced.store(0, Ordering::Relaxed);
        } else {
            self.set(self.start());
        }
    }

    /// Moves to an instant, also backwards, and continues from there at the same pace.
    pub(crate) fn set(&self, to: Timestamp) {
        let start = self.start.load(Ordering::Relaxed);
        let advanced = to.as_millisecond() - start - self.passed(start);
        self.advanced.store(advanced, Ordering::Relaxed);
    }

    /// Returns how far the clock can still move forward.
    pub(crate) fn left(&self) -> Duration {
        let left = Timestamp::MAX.duration_since(self.now());
        Duration::try_from(left).unwrap_or_default()
    }

    pub(crate) fn advance(&self, by: Duration) {
        let millis = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
        let _ = self
            .advanced
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |total| {
                Some(total.saturating_add(millis))
            });
    }
}

/// Whole seconds keep the dates of the data short.
fn this_second() -> i64 {
    Timestamp::now().as_second() * 1_000
}
