//! Counts of attempts, commits and token exchanges.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::app::App;
use crate::schema::Served;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) attempts: u64,
    pub(crate) commits: u64,
}

#[derive(Debug, Default)]
struct All {
    exchanges: u64,
    /// For each application, the counts by `operationId`.
    operations: [HashMap<Arc<str>, Counts>; App::ALL.len()],
}

#[derive(Debug, Default)]
pub(crate) struct Counters(Mutex<All>);

impl Counters {
    pub(crate) fn clear(&self) {
        *self.all() = All::default();
    }

    pub(crate) fn attempted(&self, operation: &Served) {
        self.count(operation, |counts| counts.attempts += 1);
    }

    pub(crate) fn committed(&self, operation: &Served) {
        self.count(operation, |counts| counts.commits += 1);
    }

    pub(crate) fn exchanged(&self) {
        self.all().exchanges += 1;
    }

    pub(crate) fn of(&self, operation: &Served) -> Counts {
        let all = self.all();
        let counts = all.operations[operation.app.index()].get(&operation.id);
        counts.copied().unwrap_or_default()
    }

    pub(crate) fn exchanges(&self) -> u64 {
        self.all().exchanges
    }

    fn count(&self, operation: &Served, count: impl FnOnce(&mut Counts)) {
        let mut all = self.all();
        let counts = &mut all.operations[operation.app.index()];
        match counts.get_mut(&operation.id) {
            Some(counts) => count(counts),
            None => count(counts.entry(Arc::clone(&operation.id)).or_default()),
        }
    }

    fn all(&self) -> MutexGuard<'_, All> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
