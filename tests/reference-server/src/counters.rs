//! Counts of attempts, commits and token exchanges.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::generated::operations::Operation;

const OPERATIONS: usize = Operation::ALL.len();

/// Counts per operation.
#[derive(Debug)]
pub(crate) struct Counters {
    attempts: [AtomicU64; OPERATIONS],
    commits: [AtomicU64; OPERATIONS],
    exchanges: AtomicU64,
}

impl Default for Counters {
    fn default() -> Counters {
        Counters {
            attempts: std::array::from_fn(|_| AtomicU64::new(0)),
            commits: std::array::from_fn(|_| AtomicU64::new(0)),
            exchanges: AtomicU64::new(0),
        }
    }
}

impl Counters {
    pub(crate) fn clear(&self) {
        let all = self
            .attempts
            .iter()
            .chain(&self.commits)
            .chain([&self.exchanges]);
        all.for_each(|counter| counter.store(0, Ordering::Relaxed));
    }

    pub(crate) fn attempted(&self, operation: Operation) {
        self.attempts[operation as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn committed(&self, operation: Operation) {
        self.commits[operation as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn exchanged(&self) {
        self.exchanges.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn attempts(&self, operation: Operation) -> u64 {
        self.attempts[operation as usize].load(Ordering::Relaxed)
    }

    pub(crate) fn commits(&self, operation: Operation) -> u64 {
        self.commits[operation as usize].load(Ordering::Relaxed)
    }

    pub(crate) fn exchanges(&self) -> u64 {
        self.exchanges.load(Ordering::Relaxed)
    }
}
