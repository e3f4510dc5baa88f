//! Tokens by audience and scopes.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::app::App;
use crate::macros::debug_fields;
use crate::observe::watcher::Watcher;
use crate::policy::chance::Chance;
use crate::secret::confidential::Confidential;
use crate::token::common::Common;
use crate::token::entry::TokenEntry;
use crate::token::lifetime;
use crate::token::policy::TokenPolicy;
use crate::token::source::{TokenRequest, TokenSource};

/// How often a cache that is in use looks for what nobody uses any more.
const SWEEP: Duration = Duration::from_secs(60);

/// How many entries with a live token are kept for whoever asks next, although nobody holds them.
const MOST_UNHELD: usize = 256;

/// The tokens of one source, by audience and scopes, which never mix.
///
/// A source stands for one token endpoint and one client. An entry lives as long as anybody holds it or its token lives, and no
/// more than a few hundred that nobody holds are kept. Keep an entry instead of looking it up for each call.
pub struct TokenCache {
    common: Arc<Common>,
    entries: Mutex<Entries>,
}

#[derive(Default)]
struct Entries {
    all: HashSet<Kept>,
    /// The number and the time at which the next sweep is due.
    most: usize,
    due: Option<Instant>,
}

/// An entry, which is found by its request.
struct Kept(Arc<TokenEntry>);

impl Borrow<TokenRequest> for Kept {
    fn borrow(&self) -> &TokenRequest {
        self.0.request()
    }
}

impl Hash for Kept {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.request().hash(state);
    }
}

impl PartialEq for Kept {
    fn eq(&self, other: &Self) -> bool {
        self.0.request() == other.0.request()
    }
}

impl Eq for Kept {}

impl TokenCache {
    /// An empty cache, which obtains nothing before it is needed.
    pub fn new(source: Arc<dyn TokenSource>, policy: TokenPolicy) -> Self {
        Self::of(Common {
            source,
            policy: Arc::new(policy),
            chance: Chance::default(),
            recent: Arc::default(),
            watcher: Watcher::default(),
            exchanges: AtomicU64::default(),
        })
    }

    pub(crate) fn of(common: Common) -> Self {
        Self {
            common: Arc::new(common),
            entries: Mutex::default(),
        }
    }

    /// The entry for `request`; equal requests share one.
    pub fn entry(&self, request: TokenRequest) -> Arc<TokenEntry> {
        self.entry_of(None, request)
    }

    /// [`entry`](Self::entry) for an application, which reports name. If several share a token, they name the first.
    pub(crate) fn entry_of(&self, app: Option<App>, request: TokenRequest) -> Arc<TokenEntry> {
        let mut entries = self.lock();
        entries.sweep_if_due(Instant::now());
        if let Some(Kept(entry)) = entries.all.get(&request) {
            return Arc::clone(entry);
        }
        let entry = Arc::new(TokenEntry::new(request, app, Arc::clone(&self.common)));
        entries.all.insert(Kept(Arc::clone(&entry)));
        entry
    }

    /// How many renewals were started, those of entries that are gone included.
    pub fn exchanges(&self) -> u64 {
        self.common.exchanges.load(Ordering::Relaxed)
    }

    /// Adds recent tokens to what is confidential.
    pub(crate) fn confide(&self, confidential: &mut Confidential) {
        self.common.recent.confide(confidential);
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    /// Sweeps once in a while, and always before the number of entries has doubled, so that a lookup rarely pays for it.
    fn sweep_if_due(&mut self, now: Instant) {
        let due = *self.due.get_or_insert(lifetime::later(now, SWEEP));
        if now < due && self.all.len() < self.most.max(MOST_UNHELD) {
            return;
        }
        self.sweep(now);
        self.due = Some(lifetime::later(now, SWEEP));
        self.most = 2 * self.all.len();
    }

    /// Drops expired tokens, entries without any that nobody holds, and of too many others those whose tokens expire first.
    ///
    /// Whoever holds an entry got it from here, under the lock, so one that only the cache holds stays so meanwhile.
    fn sweep(&mut self, now: Instant) {
        let mut unheld = Vec::new();
        self.all.retain(|Kept(entry)| {
            let idle = entry.shed(now);
            let held = Arc::strong_count(entry) > 1;
            if !held && !idle {
                unheld.push((entry.end(), Arc::clone(entry)));
            }
            held || !idle
        });
        unheld.sort_unstable_by_key(|(end, _)| *end);
        let most = unheld.len().saturating_sub(MOST_UNHELD);
        for (_, entry) in unheld.drain(..most) {
            self.all.remove(entry.request());
        }
    }
}

debug_fields! { TokenCache |it| policy: it.common.policy, entries: it.lock().all.iter().map(|Kept(entry)| entry).collect::<Vec<_>>() }
