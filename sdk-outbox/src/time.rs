//! The clocks: times that are stored come from the database, which for SQLite is this machine. Waits are tokio's.

use std::time::{Duration, SystemTime};

use tokio::time::Instant;

/// The clock of a store in this process.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Clock {
    /// The system's clock, which all processes on this machine share.
    System,
    /// Tokio's clock, from this time on. A test can pause it.
    Tokio(SystemTime, Instant),
}

impl Clock {
    /// Tokio's clock, which says now what the system's clock says.
    pub(crate) fn tokio() -> Self {
        Self::Tokio(SystemTime::now(), Instant::now())
    }

    pub(crate) fn now(self) -> SystemTime {
        match self {
            Self::System => SystemTime::now(),
            Self::Tokio(epoch, since) => epoch + since.elapsed(),
        }
    }
}

/// A lease, counted from before it was asked for, by both clocks of this machine: the monotonic clock stands still while the
/// machine is suspended, and the system's clock can be set back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lease {
    since: (Instant, SystemTime),
    length: Duration,
}

impl Lease {
    pub(crate) fn begin(length: Duration) -> Self {
        Self {
            since: (Instant::now(), SystemTime::now()),
            length,
        }
    }

    /// The time since it began.
    pub(crate) fn elapsed(&self) -> Duration {
        let wall = self.since.1.elapsed().unwrap_or_default();
        self.since.0.elapsed().max(wall)
    }

    /// The time until a response must have arrived, so that it can be recorded before the lease ends.
    pub(crate) fn left_for_sending(&self) -> Duration {
        (self.length / 4 * 3).saturating_sub(self.elapsed())
    }
}
