//! How many attempts may be in flight at once.

use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

/// How long after the end of the longest attempt its place counts as lost. A thread that is merely busy returns it sooner.
const GRACE: Duration = Duration::from_secs(2);

/// The places for attempts, given out in the order in which they are asked for.
#[derive(Debug)]
pub(crate) struct InFlight {
    most: usize,
    gate: Mutex<Gate>,
    waiting: AtomicUsize,
}

#[derive(Debug)]
struct Gate {
    places: Arc<Semaphore>,
    /// When the last of all attempts that began must have ended.
    busy_until: Instant,
}

/// A place. It is free again once this is dropped.
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
        let gate = Gate {
            places: Arc::new(Semaphore::new(most)),
            busy_until: Instant::now(),
        };
        Self {
            most,
            gate: Mutex::new(gate),
            waiting: AtomicUsize::new(0),
        }
    }

    /// A place for an attempt that ends by `end`, if one is free and nobody waits for it.
    pub(crate) fn try_enter(&self, end: Instant) -> Option<Place> {
        let mut gate = self.gate();
        let place = Arc::clone(&gate.places).try_acquire_owned().ok()?;
        gate.is_busy_until(end, self.most);
        Some(place)
    }

    /// Waits for a place until a deadline. Whoever stops waiting leaves the queue.
    ///
    /// An attempt that nobody drives any more (its runtime stands still, or its future is kept and not polled) never returns
    /// its place. Once every attempt that began must have ended, all places that are still taken are such, and others take
    /// their place: so the wait is bounded by the longest attempt.
    pub(crate) async fn enter(
        &self,
        deadline: Instant,
        end: impl Fn() -> Instant,
    ) -> Result<Place, Crowded> {
        let _waiting = Waiting::of(&self.waiting);
        loop {
            let (places, mut look) = self.look(deadline);
            let mut place = pin!(Arc::clone(&places).acquire_owned());
            loop {
                match timeout_at(look, place.as_mut()).await {
                    Ok(Ok(place)) => {
                        self.gate().is_busy_until(end(), self.most);
                        return Ok(place);
                    }
                    // Closed, because its places were lost.
                    Ok(Err(_closed)) => break,
                    Err(_elapsed) if look == deadline => {
                        let waiting = self.waiting.load(Ordering::Relaxed).saturating_sub(1);
                        let most = self.most;
                        return Err(Crowded { most, waiting });
                    }
                    Err(_elapsed) => {
                        self.replace_lost(&places);
                        look = self.look(deadline).1;
                    }
                }
            }
        }
    }

    /// The places, and when to look whether they are lost.
    fn look(&self, deadline: Instant) -> (Arc<Semaphore>, Instant) {
        let gate = self.gate();
        let lost = gate.lost_at().map_or(deadline, |lost| lost.min(deadline));
        (Arc::clone(&gate.places), lost)
    }

    /// Replaces all places if none can be in use any more.
    fn replace_lost(&self, places: &Arc<Semaphore>) {
        let mut gate = self.gate();
        let is_lost = gate.lost_at().is_some_and(|lost| lost <= Instant::now());
        if is_lost && Arc::ptr_eq(&gate.places, places) {
            gate.places = Arc::new(Semaphore::new(self.most));
            // Whoever takes one of the new places has yet to say until when.
            gate.busy_until = Instant::now();
            places.close();
        }
    }

    fn gate(&self) -> MutexGuard<'_, Gate> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Gate {
    /// Notes the end of an attempt that just took its place. If it is alone, all earlier ones have ended.
    fn is_busy_until(&mut self, end: Instant, most: usize) {
        let alone = self.places.available_permits() + 1 >= most;
        self.busy_until = if alone { end } else { self.busy_until.max(end) };
    }

    fn lost_at(&self) -> Option<Instant> {
        self.busy_until.checked_add(GRACE)
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
