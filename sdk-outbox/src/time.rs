//! The time that a worker has for a claim.

use std::time::{Duration, SystemTime};

use tokio::time::Instant;

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
