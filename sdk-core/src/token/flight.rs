//! One renewal under way, as those see it who wait for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::runtime;
use tokio::time::Instant;

use crate::token::bearer::BearerToken;
use crate::token::error::TokenError;

/// How a renewal ended: all its waiters get a clone.
pub(super) type Outcome = Result<Arc<BearerToken>, TokenError>;

/// A renewal under way, as its waiters see it.
#[derive(Clone, Debug)]
pub(super) struct Flight {
    pub(super) id: u64,
    /// Where its task runs: a runtime that nobody drives any more would never finish it.
    pub(super) runtime: runtime::Id,
    /// When it should be long over.
    pub(super) overdue: Instant,
    /// Counts up for as long as its runtime is driven.
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

    /// What the renewal counts up while its runtime is driven.
    pub(super) fn pulse(&self) -> Arc<AtomicU32> {
        Arc::clone(&self.beats)
    }

    /// A number that changes while the renewal's runtime is driven.
    pub(super) fn beats(&self) -> u32 {
        self.beats.load(Ordering::Relaxed)
    }
}
