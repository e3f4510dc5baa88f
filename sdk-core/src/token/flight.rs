//! One renewal under way, as its waiters see it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::runtime;
use tokio::time::Instant;

use crate::token::bearer::BearerToken;
use crate::token::error::TokenError;

/// How a renewal ended. All its waiters get a clone.
pub(super) type Outcome = Result<Arc<BearerToken>, TokenError>;

#[derive(Clone, Debug)]
pub(super) struct Flight {
    pub(super) id: u64,
    /// Where its task runs. If nobody drives this runtime, it never ends.
    pub(super) runtime: runtime::Id,
    /// When it should have ended.
    pub(super) overdue: Instant,
    /// Counts up while its runtime is driven.
    beats: Arc<AtomicU32>,
}

impl Flight {
    pub(super) fn new(id: u64, runtime: runtime::Id, overdue: Instant) -> Self {
        Self {
            id,
            runtime,
            overdue,
            beats: Arc::default(),
        }
    }

    /// The counter, for the task that counts.
    pub(super) fn pulse(&self) -> Arc<AtomicU32> {
        Arc::clone(&self.beats)
    }

    /// A number that changes while its runtime is driven.
    pub(super) fn beats(&self) -> u32 {
        self.beats.load(Ordering::Relaxed)
    }
}
