//! In-flight slots of senders, and their pauses after failures.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sdk_core::{Backoff, PreparedSender};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::store::Wanted;

/// The longest pause of a sender, and between two attempts to reach the database.
pub(crate) const MAX_PAUSE: Duration = Duration::from_secs(60);

pub(crate) struct Slot {
    pub(crate) sender: Arc<dyn PreparedSender>,
    pub(crate) application: &'static str,
    pub(crate) installation: String,
    limit: usize,
    permits: Arc<Semaphore>,
    pub(crate) health: Health,
    /// Whether the last claim found fewer commands than it asked for.
    pub(crate) is_drained: bool,
}

impl Slot {
    pub(crate) fn new(sender: Arc<dyn PreparedSender>, limit: usize) -> Self {
        Self {
            application: sender.application().name(),
            installation: sender.installation().unwrap_or_default().to_owned(),
            sender,
            limit,
            permits: Arc::new(Semaphore::new(limit)),
            health: Health::default(),
            is_drained: false,
        }
    }

    pub(crate) fn takes(&self, application: &str, installation: &str) -> bool {
        self.application == application && self.installation == installation
    }

    pub(crate) fn permit(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.permits).try_acquire_owned().ok()
    }

    /// Returns the number of commands that this sender can take now, if any. `index` is the index of this slot.
    pub(crate) fn wanted(&self, index: usize) -> Option<Wanted> {
        let available = self.permits.available_permits();
        let free = match self.health.state() {
            _ if self.is_drained => 0,
            Healthy::Yes => available,
            Healthy::Trying => usize::from(available == self.limit),
            Healthy::Paused => 0,
        };
        (free > 0).then(|| Wanted {
            application: self.application,
            installation: self.installation.clone(),
            free,
            index,
        })
    }
}

/// Tracks whether a sender's application responds.
#[derive(Clone, Default)]
pub(crate) struct Health(Arc<Mutex<Failures>>);

#[derive(Default)]
struct Failures {
    in_a_row: u32,
    paused_until: Option<Instant>,
}

enum Healthy {
    Yes,
    /// After a pause, one command may try again.
    Trying,
    Paused,
}

impl Health {
    fn state(&self) -> Healthy {
        let failures = self.failures();
        match failures.paused_until {
            None => Healthy::Yes,
            Some(until) if until <= Instant::now() => Healthy::Trying,
            Some(_) => Healthy::Paused,
        }
    }

    pub(crate) fn responded(&self) {
        *self.failures() = Failures::default();
    }

    /// Pauses the sender, and returns the length of the pause. The pause is at least the application's `Retry-After`,
    /// limited to the longest pause.
    pub(crate) fn failed(&self, asked: Duration) -> Duration {
        let mut failures = self.failures();
        let now = Instant::now();
        // If several commands in flight fail together, they count as one failure.
        if failures.paused_until.is_none_or(|until| until <= now) {
            failures.in_a_row = failures.in_a_row.saturating_add(1);
            let backoff = Backoff::new(Duration::from_secs(1), MAX_PAUSE);
            let pause = backoff.half_jitter(failures.in_a_row, fastrand::f64());
            failures.paused_until = Some(now + pause.max(asked.min(MAX_PAUSE)));
        }
        failures
            .paused_until
            .map_or(Duration::ZERO, |until| until - now)
    }

    fn failures(&self) -> MutexGuard<'_, Failures> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
