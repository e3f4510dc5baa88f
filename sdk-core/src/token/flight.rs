//! One renewal under way, as its waiters see it.

use std::sync::Arc;

use tokio::runtime;
use tokio::time::Instant;

use crate::token::bearer::BearerToken;
use crate::token::error::TokenError;

/// How a renewal ended. All its waiters get a clone.
pub(super) type Outcome = Result<Arc<BearerToken>, TokenError>;

#[derive(Clone, Copy, Debug)]
pub(super) struct Flight {
    pub(super) id: u64,
    /// Where its task runs. If nobody drives this runtime, it never ends.
    pub(super) runtime: runtime::Id,
    /// When it should have ended.
    pub(super) overdue: Instant,
    /// Counts up while its runtime is driven.
    pub(super) beats: u32,
}
