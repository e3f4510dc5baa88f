//! Scripted faults: which request they strike, and what they do to it.

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

use crate::adapters::Transport;
use crate::generated::operations::Operation;
pub(crate) use effects::FRAMING;
pub use handle::Fault;
use rule::Rule;
pub(crate) use schedule::Arrival;
pub use script::InvalidFaults;
pub(crate) use strike::Strike;

/// How many strikes the log remembers.
const LOG_LIMIT: usize = 1_000;

/// A fault that struck a request.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FaultStrike {
    /// When, by the server's clock.
    pub at: Timestamp,
    /// Which fault, counted from one in the order of registration.
    pub fault: u64,
    /// The operation of the request, if it is one of the suite.
    pub operation: Option<Operation>,
    /// Its `operationId`.
    pub operation_id: String,
    /// The `x-request-id` of the request; empty if the fault kept it from being sent.
    pub request_id: String,
    /// What it did, such as `status=503, retryAfter=1`.
    pub effects: String,
}

/// A snapshot of a fault for display.
#[derive(Clone, Debug)]
pub(crate) struct FaultView {
    pub(crate) id: u64,
    pub(crate) operation: Option<String>,
    /// The members `operation`, `when` and `then` of a fault file.
    pub(crate) script: Value,
    /// The schedule and the effects in readable words.
    pub(crate) schedule: String,
    pub(crate) effects: String,
    pub(crate) struck: u64,
    pub(crate) spent: bool,
}

#[derive(Debug, Default)]
struct Book {
    rules: Vec<(u64, Rule)>,
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
    /// Activates a fault and returns its number.
    fn add(&self, rule: Rule) -> u64 {
        let mut book = self.book();
        book.registered += 1;
        let id = book.registered;
        book.rules.push((id, rule));
        self.any.store(true, Ordering::Release);
        id
    }

    /// Activates the faults of a fault file, all or none, and returns their numbers.
    pub(crate) fn load(
        &self,
        json: &[u8],
        transport: Transport,
        known: impl Fn(&str) -> bool,
    ) -> Result<Vec<u64>, InvalidFaults> {
        let rules = script::read(json, transport, known)?;
        Ok(rules.into_iter().map(|rule| self.add(rule)).collect())
    }

    /// Whether there may be any, for those who would have to work to know the operation.
    pub(crate) fn any(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    /// Whether a fault keeps a request from being sent; it is logged without a request id.
    pub(crate) fn refuse(&self, arrival: &Arrival<'_>) -> bool {
        !self
            .strike_if(|rule| rule.then.refuse_connection, arrival)
            .is_empty()
    }

    /// The faults that strike this request; each is logged.
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
        for (fault, rule) in rules.iter_mut().filter(|(_, rule)| concerns(rule)) {
            let Some(mut struck) = rule.strike(arrival) else {
                continue;
            };
            struck.fault = *fault;
            if log.len() >= LOG_LIMIT {
                log.pop_front();
            }
            log.push_back(FaultStrike {
                at: arrival.now,
                fault: *fault,
                operation: arrival.operation.written,
                operation_id: arrival.operation.id.to_string(),
                request_id: arrival.request_id.to_owned(),
                effects: effects::summary(&struck.effects),
            });
            strike.add(struck);
        }
        strike
    }

    /// All active faults, including spent ones, in the order of registration.
    pub(crate) fn views(&self) -> Vec<FaultView> {
        let book = self.book();
        let views = book.rules.iter().map(|(id, rule)| FaultView {
            id: *id,
            operation: rule.operation.clone(),
            script: script::write(rule),
            schedule: rule.when.summary(),
            effects: effects::summary(&rule.then),
            struck: rule.when.struck(),
            spent: rule.when.is_spent(),
        });
        views.collect()
    }

    pub(crate) fn clear(&self) {
        self.book().rules.clear();
        self.any.store(false, Ordering::Release);
    }

    pub(crate) fn log(&self) -> Vec<FaultStrike> {
        self.book().log.iter().cloned().collect()
    }

    /// As if there had been none.
    pub(crate) fn restart(&self) {
        *self.book() = Book::default();
        self.any.store(false, Ordering::Release);
    }

    /// Removes a fault and returns whether it existed.
    pub(crate) fn remove(&self, id: u64) -> bool {
        let mut book = self.book();
        let before = book.rules.len();
        book.rules.retain(|(known, _)| *known != id);
        book.rules.len() < before
    }

    fn change(&self, id: u64, change: impl FnOnce(&mut Rule)) {
        let mut book = self.book();
        if let Some((_, rule)) = book.rules.iter_mut().find(|(known, _)| *known == id) {
            change(rule);
        }
    }

    fn struck(&self, id: u64) -> u64 {
        let book = self.book();
        let rule = book.rules.iter().find(|(known, _)| *known == id);
        rule.map_or(0, |(_, rule)| rule.when.struck())
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
