//! The server's clock: it starts at a fixed instant or with the machine's, and is moved by tests.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use jiff::Timestamp;

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

/// The time by the server: the start, plus the time passed (unless frozen), plus what a test added; all in milliseconds, which
/// suffice on the wire and keep the dates short.
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

    /// When the server's time began, which its data go by.
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

    /// Goes back to the start; one that goes by the machine's clock starts now.
    pub(crate) fn restart(&self) {
        if let Pace::Wall = self.pace {
            self.start.store(this_second(), Ordering::Relaxed);
            self.advanced.store(0, Ordering::Relaxed);
        } else {
            self.set(self.start());
        }
    }

    /// Goes to an instant, also backwards, and passes from there as before.
    pub(crate) fn set(&self, to: Timestamp) {
        let start = self.start.load(Ordering::Relaxed);
        let advanced = to.as_millisecond() - start - self.passed(start);
        self.advanced.store(advanced, Ordering::Relaxed);
    }

    /// How far it can still be moved.
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
