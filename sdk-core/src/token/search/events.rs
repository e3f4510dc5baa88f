//! Everything that may happen to a world.

use crate::token::search::model::{WaiterState, World};
use crate::token::search::scope::{Rules, Scope};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Event {
    Start,
    TimePasses,
    Sweep,
    Arrives { kind: u8, operation: u8 },
    Polls(u8),
    Leaves(u8),
    Settles { task: u8, answer: u8, random: u16 },
    Dies(u8),
    Accepted(u8),
    Rejected { waiter: u8, random: u16 },
}

impl Event {
    /// The event in words.
    pub(super) fn describe(self, scope: &Scope) -> String {
        match self {
            Event::Arrives { kind, operation } => {
                let kind = scope.kinds[usize::from(kind)];
                format!("arrives for operation {operation}: {kind:?}")
            }
            Event::Settles {
                task,
                answer,
                random,
            } => {
                let answer = scope.answers[usize::from(answer)];
                format!("task {task} settles: {answer:?}, random {random}")
            }
            event => format!("{event:?}"),
        }
    }
}

impl World {
    /// What may happen next.
    pub(super) fn events(&self, rules: &Rules) -> Vec<Event> {
        let scope = &rules.scope;
        let mut events = Vec::new();
        let runnable = self.callers.iter().any(|it| it.is_runnable(self.now));
        if scope.lazy || !runnable {
            events.push(Event::TimePasses);
        }
        let expired = self.state.token.is_some() && self.state.live(self.now).is_none();
        if expired || self.is_unused() {
            events.push(Event::Sweep);
        }
        if self.callers.iter().any(WaiterState::is_away) {
            for kind in numbers(scope.kinds) {
                let operations = 0..scope.operations.max(1);
                events.extend(operations.map(|operation| Event::Arrives { kind, operation }));
            }
        }
        for (slot, caller) in (0..).zip(&self.callers) {
            self.of_caller(slot, caller, scope, &mut events);
        }
        for (task, _) in (0..).zip(&self.tasks) {
            for answer in numbers(scope.answers) {
                let settles = |&random| Event::Settles {
                    task,
                    answer,
                    random,
                };
                events.extend(scope.random_values.iter().map(settles));
            }
            events.push(Event::Dies(task));
        }
        events
    }

    fn of_caller(&self, slot: u8, caller: &WaiterState, scope: &Scope, events: &mut Vec<Event>) {
        match caller {
            WaiterState::Away => return,
            WaiterState::Waits { .. } if caller.is_runnable(self.now) => {
                events.push(Event::Polls(slot));
            }
            WaiterState::Waits { .. } => {}
            WaiterState::Holds { .. } => {
                events.push(Event::Accepted(slot));
                let rejected = |&random| Event::Rejected {
                    waiter: slot,
                    random,
                };
                events.extend(scope.random_values.iter().map(rejected));
            }
        }
        events.push(Event::Leaves(slot));
    }
}

fn numbers<T>(items: &[T]) -> std::ops::Range<u8> {
    0..u8::try_from(items.len()).unwrap()
}
