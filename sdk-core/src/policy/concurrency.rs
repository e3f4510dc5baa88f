//! Limits the number of attempts in flight.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

/// Permits for attempts, granted in order of request.
#[derive(Debug)]
pub(crate) struct ConcurrencyLimit {
    most: usize,
    permits: Arc<Semaphore>,
    waiting: AtomicUsize,
}

/// A permit. Dropping it, also with the runtime of its call, frees it.
pub(crate) type Permit = OwnedSemaphorePermit;

#[derive(Clone, Copy, Debug)]
pub(crate) struct PermitTimeout {
    pub(crate) most: usize,
    pub(crate) waiting: usize,
}

impl ConcurrencyLimit {
    pub(crate) fn new(most: usize) -> Self {
        let most = most.min(Semaphore::MAX_PERMITS);
        Self {
            most,
            permits: Arc::new(Semaphore::new(most)),
            waiting: AtomicUsize::new(0),
        }
    }

    /// Returns a permit if one is free and no call is waiting.
    pub(crate) fn try_acquire(&self) -> Option<Permit> {
        Arc::clone(&self.permits).try_acquire_owned().ok()
    }

    /// Waits for a permit until a deadline. A call that stops waiting leaves the queue.
    pub(crate) async fn acquire(&self, deadline: Instant) -> Result<Permit, PermitTimeout> {
        let _waiting = Waiting::of(&self.waiting);
        let permit = Arc::clone(&self.permits).acquire_owned();
        let Ok(permit) = timeout_at(deadline, permit).await else {
            let waiting = self.waiting.load(Ordering::Relaxed).saturating_sub(1);
            let most = self.most;
            return Err(PermitTimeout { most, waiting });
        };
        Ok(permit.expect("the semaphore is never closed"))
    }
}

struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn of(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
