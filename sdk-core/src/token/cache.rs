//! Caches tokens by audience and scopes.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::app::App;
use crate::macros::debug_fields;
use crate::observe::observers::Observers;
use crate::policy::random::RandomSource;
use crate::secret::redactor::Redactor;
use crate::token::entry::EntryContext;
use crate::token::entry::TokenEntry;
use crate::token::lifetime;
use crate::token::policy::TokenPolicy;
use crate::token::source::{TokenRequest, TokenSource};

const SWEEP: Duration = Duration::from_secs(60);

/// The tokens of one source, by audience and scopes, which never mix.
///
/// A source represents one client at one token endpoint. An entry lives while a caller has a reference to it or its
/// token is live. Store the entry instead of looking it up for each call.
pub struct TokenCache {
    context: Arc<EntryContext>,
    entries: Mutex<Entries>,
}

#[derive(Default)]
struct Entries {
    all: HashMap<Arc<TokenRequest>, Arc<TokenEntry>>,
    due: Option<Instant>,
}

impl TokenCache {
    /// Creates an empty cache. It requests no token until a caller needs it.
    pub fn new(source: Arc<dyn TokenSource>, policy: TokenPolicy) -> Self {
        Self::of(EntryContext {
            source,
            policy: Arc::new(policy),
            random: RandomSource::default(),
            recent: Arc::default(),
            observers: Observers::default(),
            exchanges: AtomicU64::default(),
        })
    }

    pub(crate) fn of(context: EntryContext) -> Self {
        Self {
            context: Arc::new(context),
            entries: Mutex::default(),
        }
    }

    /// Returns the entry for `request`. Equal requests share an entry.
    pub fn entry(&self, request: TokenRequest) -> Arc<TokenEntry> {
        self.entry_of(None, request)
    }

    /// Returns the [`entry`](Self::entry) for an application. Reports name the first application that uses an entry.
    pub(crate) fn entry_of(&self, app: Option<App>, request: TokenRequest) -> Arc<TokenEntry> {
        let mut entries = self.lock();
        entries.sweep_if_due(Instant::now());
        if let Some(entry) = entries.all.get(&request) {
            return Arc::clone(entry);
        }
        let request = Arc::new(request);
        let context = Arc::clone(&self.context);
        let entry = Arc::new(TokenEntry::new(Arc::clone(&request), app, context));
        entries.all.insert(request, Arc::clone(&entry));
        entry
    }

    /// Returns the number of renewals started, including those of removed entries.
    pub fn exchanges(&self) -> u64 {
        self.context.exchanges.load(Ordering::Relaxed)
    }

    pub(crate) fn add_secrets_to(&self, redactor: &mut Redactor) {
        self.context.recent.add_secrets_to(redactor);
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    /// Drops expired tokens, and removes unreferenced entries without a live token. It runs only once per interval, so
    /// few lookups pay for it.
    ///
    /// Callers get entries only from here, under the lock. An entry that only the cache references can't gain another
    /// reference during the sweep.
    fn sweep_if_due(&mut self, now: Instant) {
        let next = lifetime::later(now, SWEEP);
        if now < *self.due.get_or_insert(next) {
            return;
        }
        self.due = Some(next);
        self.all.retain(|_, entry| {
            let idle = entry.drop_if_expired(now);
            Arc::strong_count(entry) > 1 || !idle
        });
    }
}

debug_fields! { TokenCache |it| policy: it.context.policy, entries: it.lock().all.values().collect::<Vec<_>>() }
