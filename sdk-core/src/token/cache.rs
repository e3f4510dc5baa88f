//! Tokens by audience and scopes.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::app::App;
use crate::observe::watcher::Watcher;
use crate::secret::confidential::{Confidential, Recent};
use crate::token::entry::TokenEntry;
use crate::token::policy::TokenPolicy;
use crate::token::source::{TokenRequest, TokenSource};

/// The tokens of one source, by audience and scopes, which never mix.
///
/// A source stands for one token endpoint and one client. Entries live as long as the cache: keep an entry instead of
/// looking it up for each call.
pub struct TokenCache {
    source: Arc<dyn TokenSource>,
    policy: Arc<TokenPolicy>,
    /// Recent tokens, which a server may repeat.
    recent: Arc<Recent>,
    watcher: Watcher,
    entries: Mutex<HashMap<TokenRequest, Arc<TokenEntry>>>,
}

impl TokenCache {
    /// An empty cache, which obtains nothing before it is needed.
    pub fn new(source: Arc<dyn TokenSource>, policy: TokenPolicy) -> Self {
        Self {
            source,
            policy: Arc::new(policy),
            recent: Arc::default(),
            watcher: Watcher::default(),
            entries: Mutex::default(),
        }
    }

    /// Reports renewals to these observers.
    pub(crate) fn watched(mut self, watcher: Watcher) -> Self {
        self.watcher = watcher;
        self
    }

    /// The entry for `request`; equal requests share one.
    pub fn entry(&self, request: TokenRequest) -> Arc<TokenEntry> {
        self.entry_of(None, request)
    }

    /// [`entry`](Self::entry) for an application, which reports name. If several share a token, they name the first.
    pub(crate) fn entry_of(&self, app: Option<App>, request: TokenRequest) -> Arc<TokenEntry> {
        let mut entries = self.lock();
        let entry = entries.entry(request).or_insert_with_key(|request| {
            Arc::new(TokenEntry::new(
                request.clone(),
                Arc::clone(&self.source),
                Arc::clone(&self.policy),
                Arc::clone(&self.recent),
                (app, self.watcher.clone()),
            ))
        });
        Arc::clone(entry)
    }

    /// How many renewals all entries have started.
    pub fn exchanges(&self) -> u64 {
        self.lock().values().map(|entry| entry.exchanges()).sum()
    }

    /// Adds recent tokens to what is confidential.
    pub(crate) fn confide(&self, confidential: &mut Confidential) {
        self.recent.confide(confidential);
    }

    /// The policy that all entries follow.
    pub fn policy(&self) -> &TokenPolicy {
        &self.policy
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TokenRequest, Arc<TokenEntry>>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for TokenCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenCache")
            .field("policy", &self.policy)
            .field("entries", &self.lock().values().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
