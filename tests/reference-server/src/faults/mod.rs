//! Scripted faults: the requests they strike and their effects.

mod effects;
mod handle;
mod rewrite;
mod rounds;
mod rule;
mod schedule;
mod script;
mod strike;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use serde_json::Value;

use crate::suite::Suite;
pub(crate) use effects::FRAMING;
pub use handle::Fault;
use rule::{Rule, non_default};
pub(crate) use schedule::Arrival;
pub(crate) use strike::Strike;

/// The number of strikes that the log stores.
const LOG_LIMIT: usize = 1_000;

/// A fault that struck a request.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FaultStrike {
    /// The time of the strike, by the server's clock.
    pub at: Timestamp,
    /// The number of the fault, counted from one in the order of registration.
    pub fault: u64,
    /// The `operationId` of the request.
    pub operation_id: String,
    /// The `x-request-id` of the request; empty if the fault refused the connection.
    pub request_id: String,
    /// The effects of the fault as in a fault file, such as `{"status": 503}`.
    pub effects: Value,
}

#[derive(Debug, Default)]
struct Book {
    rules: Vec<Rule>,
    log: VecDeque<FaultStrike>,
    registered: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Faults {
    any: AtomicBool,
    book: Mutex<Book>,
}

impl Faults {
    /// Activates a fault and returns its number.
    fn add(&self, mut rule: Rule) -> u64 {
        let mut book = self.book();
        book.registered += 1;
        rule.id = book.registered;
        book.rules.push(rule);
        self.any.store(true, Ordering::Release);
        book.registered
    }

    /// Activates the faults of a fault file, all or none, and returns their numbers.
    pub(crate) fn load(&self, json: &[u8], suite: &Suite) -> Result<Vec<u64>, String> {
        let rules = script::read(json, suite)?;
        Ok(rules.into_iter().map(|rule| self.add(rule)).collect())
    }

    /// Whether any fault may be active. Checking first saves the work of finding the operation.
    pub(crate) fn any(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    /// Whether a fault refuses the connection for a request. The log then has no request ID.
    pub(crate) fn refuse(&self, arrival: &Arrival<'_>) -> bool {
        !self
            .strike_if(|rule| rule.then.refuse_connection, arrival)
            .is_empty()
    }

    /// Returns the faults that strike this request, and logs each.
    pub(crate) fn strike(&self, arrival: &Arrival<'_>) -> Strike {
        self.strike_if(|rule| !rule.then.refuse_connection, arrival)
    }

    fn strike_if(&self, concerns: impl Fn(&Rule) -> bool, arrival: &Arrival<'_>) -> Strike {
        if !self.any() {
            return Strike::default();
        }
        let mut book = self.book();
        let Book { rules, log, .. } = &mut *book;
        let mut strike = Strike::default();
        for rule in rules.iter_mut().filter(|rule| concerns(rule)) {
            let Some(struck) = rule.strike(arrival) else {
                continue;
            };
            if log.len() >= LOG_LIMIT {
                log.pop_front();
            }
            log.push_back(FaultStrike {
                at: arrival.now,
                fault: struck.fault,
                operation_id: arrival.operation.id.to_string(),
                request_id: arrival.request_id.to_owned(),
                effects: Value::Object(non_default(&struck.effects)),
            });
            strike.add(struck);
        }
        strike
    }

    /// Returns all active faults in the form of the control endpoint, including spent faults, in the order of
    /// registration.
    pub(crate) fn views(&self) -> Vec<Value> {
        self.book().rules.iter().map(Rule::view).collect()
    }

    pub(crate) fn clear(&self) {
        self.book().rules.clear();
        self.any.store(false, Ordering::Release);
    }

    pub(crate) fn log(&self) -> Vec<FaultStrike> {
        self.book().log.iter().cloned().collect()
    }

    /// Forgets all faults and strikes, and numbers faults from one again.
    pub(crate) fn restart(&self) {
        *self.book() = Book::default();
        self.any.store(false, Ordering::Release);
    }

    pub(crate) fn remove(&self, id: u64) -> bool {
        let mut book = self.book();
        let before = book.rules.len();
        book.rules.retain(|rule| rule.id != id);
        book.rules.len() < before
    }

    /// If the change fails, the fault stays unchanged.
    fn change(
        &self,
        id: u64,
        change: impl FnOnce(&mut Rule) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut book = self.book();
        let Some(rule) = book.rules.iter_mut().find(|rule| rule.id == id) else {
            return Ok(());
        };
        let mut changed = rule.clone();
        change(&mut changed)?;
        *rule = changed;
        Ok(())
    }

    fn struck(&self, id: u64) -> u64 {
        let book = self.book();
        let rule = book.rules.iter().find(|rule| rule.id == id);
        rule.map_or(0, |rule| rule.when.struck())
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
