//! How many attempts may be in flight at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

/// The places for attempts, given out in the order in which they are asked for.
#[derive(Debug)]
pub(crate) struct InFlight {
    most: usize,
    places: Arc<Semaphore>,
    waiting: AtomicUsize,
}

/// A place. It is free again once this is dropped, also with the runtime of its call.
pub(crate) type Place = OwnedSemaphorePermit;

/// No place became free in time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crowded {
    /// How many places there are.
    pub(crate) most: usize,
    /// How many others wait.
    pub(crate) waiting: usize,
}

impl InFlight {
    pub(crate) fn new(most: usize) -> Self {
        let most = most.min(Semaphore::MAX_PERMITS);
        Self {
            most,
            places: Arc::new(Semaphore::new(most)),
            waiting: AtomicUsize::new(0),
        }
    }

    /// A place, if one is free and nobody waits for it.
    pub(crate) fn try_enter(&self) -> Option<Place> {
        Arc::clone(&self.places).try_acquire_owned().ok()
    }

    /// Waits for a place until a deadline. A call that stops waiting leaves the queue.
    pub(crate) async fn enter(&self, deadline: Instant) -> Result<Place, Crowded> {
        let _waiting = Waiting::of(&self.waiting);
        let place = Arc::clone(&self.places).acquire_owned();
        let Ok(place) = timeout_at(deadline, place).await else {
            let waiting = self.waiting.load(Ordering::Relaxed).saturating_sub(1);
            let most = self.most;
            return Err(Crowded { most, waiting });
        };
        Ok(place.expect("the semaphore is never closed"))
    }
}

/// Counts one that waits.
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
