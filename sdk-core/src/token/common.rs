//! What all entries of a cache have in common.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::observe::watcher::Watcher;
use crate::policy::random::RandomSource;
use crate::secret::confidential::Recent;
use crate::token::policy::TokenPolicy;
use crate::token::source::TokenSource;

/// The source of the tokens of one client at one endpoint, and the rules for them.
pub(crate) struct EntryContext {
    pub(crate) source: Arc<dyn TokenSource>,
    pub(crate) policy: Arc<TokenPolicy>,
    /// What jitter and margins are drawn from.
    pub(crate) random: RandomSource,
    /// Recent tokens, which a server may repeat.
    pub(crate) recent: Arc<Recent>,
    /// Whom renewals are reported to.
    pub(crate) watcher: Watcher,
    /// How many renewals were started. Entries come and go, and their renewals still count.
    pub(crate) exchanges: AtomicU64,
}
