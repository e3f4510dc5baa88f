//! One fault: which requests it strikes, when, and what it does to them.

use std::sync::{Arc, Mutex};

use super::effects::Effects;
use super::rounds::Rounds;
use super::schedule::{Arrival, Schedule};
use super::strike::Struck;
use crate::adapters::Transport;

/// An active fault.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    /// The `operationId` of the one that it is for.
    pub(super) operation: Option<String>,
    pub(super) when: Schedule,
    pub(super) then: Effects,
    rounds: Option<Arc<Mutex<Rounds>>>,
}

impl Rule {
    /// A fault without effects, for one operation or for all.
    pub(super) fn new(operation: Option<String>) -> Rule {
        Rule {
            operation,
            when: Schedule::default(),
            then: Effects::default(),
            rounds: None,
        }
    }

    /// Says what is wrong with it on a server with this transport.
    pub(super) fn check(&self, transport: Transport) -> Result<(), String> {
        self.then.check()?;
        self.then.check_transport(transport)?;
        if self.then.refuse_connection && self.when.looks_inside() {
            return Err("when: a refused connection has no client, header or member".to_owned());
        }
        self.when.check()
    }

    /// Sets up the memory of cursors once the length of the loop is known.
    pub(super) fn begin_rounds(&mut self) {
        if let (None, Some(pages)) = (&self.rounds, self.then.cursor_loop) {
            self.rounds = Some(Arc::new(Mutex::new(Rounds::new(pages))));
        }
    }

    /// What it does to a request, if it strikes this one.
    pub(super) fn strike(&mut self, arrival: &Arrival<'_>) -> Option<Struck> {
        let wanted = self.operation.as_ref();
        let concerns = wanted.is_none_or(|wanted| **wanted == *arrival.operation.id);
        let concerns = concerns && !self.then.is_empty() && self.when.concerns(arrival);
        (concerns && self.when.due()).then(|| Struck {
            fault: 0,
            effects: self.then.clone(),
            rounds: self.rounds.clone(),
        })
    }
}
