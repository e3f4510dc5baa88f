//! Detects cycles of cursors with bounded memory.

use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasher, RandomState};

/// How many cursors are remembered. A shorter cycle is found at its first repetition.
const RECENT: usize = 4096;

/// Remembers the hashes of the latest cursors, and one older cursor at growing intervals (Brent's method). A cycle of any
/// length is found before three times as many pages are fetched as the list has.
#[derive(Debug)]
pub(super) struct CycleGuard {
    hasher: RandomState,
    recent: HashSet<u64>,
    order: VecDeque<u64>,
    landmark: u64,
    steps: u64,
    reach: u64,
}

impl CycleGuard {
    pub(super) fn new() -> Self {
        Self {
            hasher: RandomState::new(),
            recent: HashSet::new(),
            order: VecDeque::new(),
            landmark: 0,
            steps: 0,
            reach: 1,
        }
    }

    /// Whether the cursor was seen before.
    pub(super) fn knows(&self, cursor: &str) -> bool {
        let hash = self.hasher.hash_one(cursor);
        (self.steps > 0 && hash == self.landmark) || self.recent.contains(&hash)
    }

    /// Whether the cursor was seen before; from now on it was.
    pub(super) fn seen(&mut self, cursor: &str) -> bool {
        if self.knows(cursor) {
            return true;
        }
        let hash = self.hasher.hash_one(cursor);
        self.recent.insert(hash);
        self.order.push_back(hash);
        if self.order.len() > RECENT
            && let Some(oldest) = self.order.pop_front()
        {
            self.recent.remove(&oldest);
        }
        self.steps += 1;
        if self.steps == self.reach {
            self.landmark = hash;
            self.reach *= 2;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::{CycleGuard, RECENT};

    fn pages_until_found(lead: usize, period: usize) -> usize {
        let mut guard = CycleGuard::new();
        (0..1_000_000)
            .find(|&page| {
                let cursor = if page < lead {
                    page
                } else {
                    lead + (page - lead) % period
                };
                guard.seen(&cursor.to_string())
            })
            .unwrap()
    }

    #[test]
    fn short_circles_are_found_at_their_first_repetition() {
        assert_eq!(pages_until_found(0, 1), 1);
        assert_eq!(pages_until_found(0, 2), 2);
        assert_eq!(pages_until_found(5, 1000), 1005);
        assert_eq!(pages_until_found(0, RECENT), RECENT);
    }

    #[test]
    fn long_circles_are_found_with_bounded_memory() {
        for (lead, period) in [
            (100, RECENT * 5),
            (0, RECENT + 1),
            (RECENT * 5, RECENT + 1),
            (RECENT * 2, RECENT * 2),
        ] {
            assert!(pages_until_found(lead, period) <= 3 * (lead + period));
        }
        let mut guard = CycleGuard::new();
        for cursor in 0..RECENT * 3 {
            assert!(!guard.seen(&cursor.to_string()));
        }
        assert!(guard.order.len() <= RECENT && guard.recent.len() <= RECENT);
    }
}
