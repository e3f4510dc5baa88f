//! One renewal under way, as its waiters see it.

use std::sync::Arc;

use tokio::runtime;
use tokio::time::Instant;

use crate::token::bearer::BearerToken;
use crate::token::error::TokenError;

/// How a renewal ended. All its waiters get a clone.
pub(super) type Outcome = Result<Arc<BearerToken>, TokenError>;

#[derive(Clone, Copy, Debug)]
pub(super) struct RunningRenewal {
    pub(super) id: u64,
    /// Where its task runs. If nobody drives this runtime, it never ends.
    pub(super) runtime: runtime::Id,
    /// When callers on other runtimes stop waiting for it.
    pub(super) overtaken: Instant,
    /// When it should have ended.
    pub(super) overdue: Instant,
}

impl RunningRenewal {
    /// When a caller on this runtime gives it up. Whoever runs on the same runtime knows that somebody drives it.
    pub(super) fn limit(&self, runtime: runtime::Id) -> Instant {
        if runtime == self.runtime {
            self.overdue
        } else {
            self.overtaken
        }
    }
}
