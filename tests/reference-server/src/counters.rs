//! Counts of attempts, commits and token exchanges.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::generated::operations::Operation;
use crate::served::Served;

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

    pub(crate) fn attempted(&self, operation: Served<'_>) {
        self.attempts_of(operation).fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn committed(&self, operation: Served<'_>) {
        self.commits_of(operation).fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn exchanged(&self) {
        self.exchanges.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn attempts(&self, operation: Served<'_>) -> u64 {
        self.attempts_of(operation).load(Ordering::Relaxed)
    }

    pub(crate) fn commits(&self, operation: Served<'_>) -> u64 {
        self.commits_of(operation).load(Ordering::Relaxed)
    }

    /// An operation that only this server knows counts for itself.
    fn attempts_of<'c>(&'c self, operation: Served<'c>) -> &'c AtomicU64 {
        match operation {
            Served::Written(operation) => &self.attempts[operation as usize],
            Served::Brought(described) => &described.attempts,
        }
    }

    fn commits_of<'c>(&'c self, operation: Served<'c>) -> &'c AtomicU64 {
        match operation {
            Served::Written(operation) => &self.commits[operation as usize],
            Served::Brought(described) => &described.commits,
        }
    }

    pub(crate) fn exchanges(&self) -> u64 {
        self.exchanges.load(Ordering::Relaxed)
    }
}
