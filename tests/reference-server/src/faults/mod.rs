//! Scripted faults: which request they strike, and what they do to it.

mod effects;
mod handle;
mod rewrite;
mod schedule;
mod strike;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use crate::generated::operations::Operation;
use effects::Effects;
pub use handle::Fault;
use schedule::Schedule;
pub(crate) use strike::Strike;

/// How many strikes the log remembers.
const LOG_LIMIT: usize = 1_000;

/// A fault that struck a request.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FaultStrike {
    /// When, by the server's clock.
    pub at: Timestamp,
    /// Which fault, in the order of their registration, from one.
    pub fault: u64,
    /// Whose request.
    pub operation: Operation,
    /// The `x-request-id` of the request.
    pub request_id: String,
}

/// One registered fault.
#[derive(Clone, Debug)]
struct Rule {
    id: u64,
    operation: Option<Operation>,
    schedule: Schedule,
    effects: Effects,
}

#[derive(Debug, Default)]
struct Book {
    rules: Vec<Rule>,
    log: VecDeque<FaultStrike>,
    registered: u64,
}

/// The faults of one server.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    any: AtomicBool,
    book: Mutex<Book>,
}

impl Faults {
    /// Registers a fault that does nothing yet, for one operation or for all.
    fn register(&self, operation: Option<Operation>) -> u64 {
        let mut book = self.book();
        book.registered += 1;
        let id = book.registered;
        book.rules.push(Rule {
            id,
            operation,
            schedule: Schedule::default(),
            effects: Effects::default(),
        });
        self.any.store(true, Ordering::Release);
        id
    }

    /// The faults that strike this request, and a note in the log for each.
    pub(crate) fn strike(&self, operation: Operation, now: Timestamp, request_id: &str) -> Strike {
        if !self.any.load(Ordering::Acquire) {
            return Strike::default();
        }
        let mut book = self.book();
        let mut strike = Strike::default();
        let mut struck = Vec::new();
        for rule in &mut book.rules {
            let concerns = rule.operation.is_none_or(|wanted| wanted == operation);
            if concerns && !rule.effects.is_empty() && rule.schedule.due() {
                strike.add(&rule.effects);
                struck.push(rule.id);
            }
        }
        for fault in struck {
            book.log.push_back(FaultStrike {
                at: now,
                fault,
                operation,
                request_id: request_id.to_owned(),
            });
        }
        let surplus = book.log.len().saturating_sub(LOG_LIMIT);
        book.log.drain(..surplus);
        strike
    }

    pub(crate) fn clear(&self) {
        self.book().rules.clear();
        self.any.store(false, Ordering::Release);
    }

    pub(crate) fn log(&self) -> Vec<FaultStrike> {
        self.book().log.iter().cloned().collect()
    }

    fn change(&self, id: u64, change: impl FnOnce(&mut Rule)) {
        if let Some(rule) = self.book().rules.iter_mut().find(|rule| rule.id == id) {
            change(rule);
        }
    }

    fn struck(&self, id: u64) -> u64 {
        let book = self.book();
        let rule = book.rules.iter().find(|rule| rule.id == id);
        rule.map_or(0, |rule| rule.schedule.struck())
    }

    fn remove(&self, id: u64) {
        self.book().rules.retain(|rule| rule.id != id);
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
