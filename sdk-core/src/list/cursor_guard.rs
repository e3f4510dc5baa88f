//! Detects repeated cursors with bounded memory.

use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasher, RandomState};

/// The number of cursors to remember. Only `max_pages` ends a longer cycle.
const RECENT: usize = 4096;

/// Remembers hashes of the most recent cursors, so that a cycle is detected at its first repetition.
#[derive(Debug)]
pub(super) struct CursorGuard {
    hasher: RandomState,
    recent: HashSet<u64>,
    order: VecDeque<u64>,
}

impl CursorGuard {
    pub(super) fn new() -> Self {
        Self {
            hasher: RandomState::new(),
            recent: HashSet::new(),
            order: VecDeque::new(),
        }
    }

    pub(super) fn knows(&self, cursor: &str) -> bool {
        self.recent.contains(&self.hasher.hash_one(cursor))
    }

    pub(super) fn remember(&mut self, cursor: &str) {
        let hash = self.hasher.hash_one(cursor);
        if !self.recent.insert(hash) {
            return;
        }
        self.order.push_back(hash);
        if self.order.len() > RECENT
            && let Some(oldest) = self.order.pop_front()
        {
            self.recent.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CursorGuard, RECENT};

    fn pages_until_found(lead: usize, period: usize) -> Option<usize> {
        let mut guard = CursorGuard::new();
        (0..4 * RECENT).find(|&page| {
            let at = page.checked_sub(lead);
            let cursor = at.map_or(page, |at| lead + at % period).to_string();
            let known = guard.knows(&cursor);
            guard.remember(&cursor);
            known
        })
    }

    #[test]
    fn a_cycle_of_the_remembered_length_is_detected_at_its_first_repetition() {
        assert_eq!(pages_until_found(0, 1), Some(1));
        assert_eq!(pages_until_found(0, 2), Some(2));
        assert_eq!(pages_until_found(5, 1000), Some(1005));
        assert_eq!(pages_until_found(100, RECENT), Some(100 + RECENT));
        assert_eq!(pages_until_found(0, RECENT + 1), None);
    }

    #[test]
    fn the_number_of_remembered_cursors_is_bounded() {
        let mut guard = CursorGuard::new();
        for cursor in 0..RECENT * 3 {
            guard.remember(&cursor.to_string());
        }
        assert!(guard.order.len() == RECENT && guard.recent.len() == RECENT);
    }
}
