//! The possible events of a search, and the policy that keeps its state space finite.

use std::time::Duration;

use tokio::runtime::{self, Builder};

use crate::App;
use crate::operation::{Operation, RawOperations};
use crate::policy::retry::Backoff;
use crate::token::policy::TokenPolicy;

/// A kind of caller: the index of its runtime, and the required validity of the token in ticks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    pub(super) runtime: u8,
    pub(super) min_validity: u8,
}

/// A result of the token source: a token that lives for this many ticks from the start of the renewal (`Lives`) or from
/// its last attempt (`Anew`), or an error with this `Retry-After` in ticks (`Fails`).
#[derive(Clone, Copy, Debug)]
pub(super) enum Answer {
    Lives(u8),
    Anew(u8),
    Fails(u8),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Scope {
    pub(super) callers: usize,
    pub(super) kinds: &'static [Kind],
    pub(super) answers: &'static [Answer],
    /// The possible random numbers from 0 to 1, in thousandths.
    pub(super) random_values: &'static [u16],
    /// The number of operations. If it is 0, a caller leaves once it has a token.
    pub(super) operations: u8,
    /// Whether time may pass before a woken caller runs.
    pub(super) lazy: bool,
    /// The maximum number of renewals in flight, including abandoned ones.
    pub(super) tasks: usize,
    /// The duration of a tick in seconds.
    pub(super) tick: u64,
}

const fn kind(runtime: u8, min_validity: u8) -> Kind {
    Kind {
        runtime,
        min_validity,
    }
}

/// Two runtimes, and callers with long or short attempts.
const ALL_KINDS: &[Kind] = &[kind(0, 9), kind(1, 9), kind(0, 1)];

const FEW_KINDS: &[Kind] = &[kind(0, 9), kind(1, 9)];

const PLAIN_KIND: &[Kind] = &[kind(0, 9)];

const ALL_ANSWERS: &[Answer] = &[
    Answer::Lives(6),
    Answer::Lives(2),
    Answer::Anew(6),
    Answer::Fails(0),
    Answer::Fails(2),
];

const FEW_ANSWERS: &[Answer] = &[Answer::Lives(6), Answer::Lives(2), Answer::Fails(0)];

impl Scope {
    /// All events except rejections.
    pub(super) const fn of(callers: usize) -> Self {
        Self {
            callers,
            kinds: ALL_KINDS,
            answers: ALL_ANSWERS,
            random_values: &[0, 500, 999],
            operations: 0,
            lazy: true,
            tasks: 3,
            tick: 1,
        }
    }

    /// Fewer events, so that more callers can be searched.
    pub(super) const fn small(callers: usize) -> Self {
        Self {
            kinds: FEW_KINDS,
            answers: FEW_ANSWERS,
            ..Self::full(callers)
        }
    }

    /// All events except rejections, jitter and late callers.
    pub(super) const fn full(callers: usize) -> Self {
        Self {
            random_values: &[500],
            lazy: false,
            tasks: 2,
            ..Self::of(callers)
        }
    }

    /// Callers that use their tokens, which operations accept or reject. A tick is long, because rejections are
    /// remembered for a minute.
    pub(super) const fn rejecting(callers: usize, operations: u8) -> Self {
        Self {
            kinds: PLAIN_KIND,
            answers: &[Answer::Lives(4), Answer::Fails(0)],
            tasks: 1,
            operations,
            tick: 5,
            ..Self::full(callers)
        }
    }

    pub(super) const fn lazily(self) -> Self {
        Self { lazy: true, ..self }
    }

    pub(super) fn ticks(&self, ticks: u8) -> Duration {
        Duration::from_secs(u64::from(ticks) * self.tick)
    }

    pub(super) fn policy(&self) -> TokenPolicy {
        TokenPolicy {
            soft_fraction: 0.75,
            hard_fraction: 0.5,
            soft_jitter: 0.25,
            min_interval: self.ticks(2),
            exchange_timeout: self.ticks(2),
            renewal_timeout: self.ticks(2),
            renewal_backoff: Backoff::new(self.ticks(2), self.ticks(4)),
            ..TokenPolicy::default()
        }
    }
}

static OPERATIONS: RawOperations = RawOperations::of(App::Crm);

pub(super) struct Rules {
    pub(super) scope: Scope,
    pub(super) policy: TokenPolicy,
    pub(super) runtimes: [runtime::Id; 2],
    pub(super) operations: [&'static Operation; 2],
}

impl Rules {
    pub(super) fn new(scope: Scope) -> Self {
        let runtime = || Builder::new_current_thread().build().unwrap();
        Self {
            scope,
            policy: scope.policy(),
            runtimes: [runtime(), runtime()].map(|runtime| runtime.handle().id()),
            operations: [&OPERATIONS.read, &OPERATIONS.command],
        }
    }
}

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
