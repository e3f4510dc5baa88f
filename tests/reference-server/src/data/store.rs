//! The business data of one server.

use std::collections::{HashMap, VecDeque};

use jiff::Timestamp;
use serde::Serialize;

use super::Text;
use super::actors::{self, Actor};
use super::counterparties::{self, Counterparty};
use super::intake::Intake;
use super::noise::minutes_from;
use super::opportunities::{Opportunity, Stay};
use super::organizations::Organization;
use super::people::Person;
use super::reference::{Kind, References};
use super::table::{Table, World};
use super::tasks::Task;
use super::timeline::{self, Moment};
use crate::accounting::ledger::Ledger;
use crate::calendar::agenda::{Agenda, Event};
use crate::idempotency::Results;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) people: u64,
    pub(crate) organizations: u64,
    pub(crate) opportunities: u64,
    pub(crate) tasks: u64,
    pub(crate) intake: u64,
}

impl Default for Sizes {
    /// The defaults fill several pages of each list.
    fn default() -> Sizes {
        Sizes {
            people: 300,
            organizations: 120,
            opportunities: 400,
            tasks: 500,
            intake: 80,
        }
    }
}

/// A record inside another record, with the two fields that the contract documents wherever an owner appears.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Brief {
    pub(crate) public_reference: String,
    pub(crate) display_name: Text,
}

/// A change that the attention queue reports.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) action: String,
    pub(crate) subject_type: &'static str,
    pub(crate) reference: String,
    pub(crate) occurred_at: Timestamp,
    pub(crate) actor: u64,
}

/// The documented maximum of reported changes.
pub(crate) const RECENT_CHANGES: usize = 25;

#[derive(Clone, Debug)]
pub(crate) struct Store {
    seed: u64,
    start: Timestamp,
    pub(crate) sizes: Sizes,
    pub(crate) references: References,
    pub(crate) people: Table<Person>,
    pub(crate) organizations: Table<Organization>,
    pub(crate) opportunities: Table<Opportunity>,
    pub(crate) tasks: Table<Task>,
    pub(crate) intake: Table<Intake>,
    pub(crate) actors: Table<Actor>,
    pub(crate) counterparties: Table<Counterparty>,
    pub(crate) agenda: Agenda,
    pub(crate) ledger: Ledger,
    pub(crate) results: Results,
    /// The finished stays of moved opportunities, oldest first.
    stays: HashMap<u64, Vec<Stay>>,
    moments: HashMap<u64, Vec<Moment>>,
    changes: VecDeque<Change>,
    named: HashMap<Kind, u64>,
}

impl Store {
    pub(crate) fn new(seed: u64, sizes: Sizes, start: Timestamp) -> Store {
        let references = References::new(seed);
        let world = World {
            seed,
            references,
            sizes,
            start,
        };
        let mut store = Store {
            seed,
            start,
            sizes,
            references,
            people: Table::new(world, sizes.people),
            organizations: Table::new(world, sizes.organizations),
            opportunities: Table::new(world, sizes.opportunities),
            tasks: Table::new(world, sizes.tasks),
            intake: Table::new(world, sizes.intake),
            actors: Table::new(world, actors::COUNT),
            counterparties: Table::new(world, counterparties::COUNT),
            agenda: Agenda::default(),
            ledger: Ledger::default(),
            results: Results::default(),
            stays: HashMap::new(),
            moments: HashMap::new(),
            changes: VecDeque::new(),
            named: HashMap::new(),
        };
        store.changes = store.changes_before_the_start();
        store
    }

    /// Returns changes from before the first request, so that the attention queue is not empty.
    fn changes_before_the_start(&self) -> VecDeque<Change> {
        let tasks = self.tasks.rows(0).filter(|(_, task)| task.owner.is_some());
        tasks
            .take(RECENT_CHANGES)
            .zip(1_i64..)
            .map(|((index, task), place)| Change {
                action: "task.update".to_owned(),
                subject_type: "task",
                reference: self.tasks.reference(index),
                occurred_at: minutes_from(self.start, -17 * place),
                actor: task.owner.unwrap_or_default(),
            })
            .collect()
    }

    /// Returns the index of a new record of a kind without a table.
    pub(crate) fn number(&mut self, kind: Kind) -> u64 {
        let next = self.named.entry(kind).or_default();
        *next += 1;
        *next - 1
    }

    /// Returns a new reference of a kind without a table.
    pub(crate) fn name(&mut self, kind: Kind) -> String {
        let index = self.number(kind);
        self.references.name(kind, index)
    }

    pub(crate) fn event(&self, reference: &str) -> Option<(u64, &Event)> {
        let index = self.references.index(Kind::Event, reference)?;
        Some((index, self.agenda.event(index)?))
    }

    pub(crate) fn owner(&self, index: Option<u64>) -> Option<Brief> {
        let index = index?;
        Some(Brief {
            public_reference: self.actors.reference(index),
            display_name: self.actors.get(index)?.display_name,
        })
    }

    pub(crate) fn organization_brief(&self, index: Option<u64>) -> Option<Brief> {
        let index = index?;
        Some(Brief {
            public_reference: self.organizations.reference(index),
            display_name: self.organizations.get(index)?.name,
        })
    }

    /// The current stay is last.
    pub(crate) fn stays<'s>(
        &'s self,
        index: u64,
        row: &'s Opportunity,
    ) -> impl Iterator<Item = Stay> + 's {
        let moved = self.stays.get(&index).into_iter().flatten();
        let over = row.before.iter().chain(moved);
        over.cloned().chain([row.stay()])
    }

    /// Moves an opportunity to a stage. The caller stores the changed row.
    pub(crate) fn enter(&mut self, index: u64, row: &mut Opportunity, stay: Stay) {
        let over = row.before.take().into_iter().chain([row.stay()]);
        self.stays.entry(index).or_default().extend(over);
        row.stage = stay.stage;
        // A test may have set the clock back.
        row.entered_stage_at = stay.entered_at.max(row.entered_stage_at);
        row.close_reason = stay.reason;
    }

    pub(crate) fn timeline_length(&self, person: u64) -> u64 {
        let added = self.moments.get(&person).map_or(0, Vec::len) as u64;
        self.timeline_base(person) + added
    }

    fn timeline_base(&self, person: u64) -> u64 {
        if person < self.sizes.people {
            timeline::generated(self.seed, person)
        } else {
            0
        }
    }

    pub(crate) fn moment(&self, person: u64, position: u64) -> Option<Moment> {
        let base = self.timeline_base(person);
        if position < base {
            return Some(timeline::generate(self.seed, self.start, person, position));
        }
        let added = self.moments.get(&person)?;
        added.get(usize::try_from(position - base).ok()?).cloned()
    }

    pub(crate) fn add_moment(&mut self, person: u64, moment: Moment) {
        self.moments.entry(person).or_default().push(moment);
    }

    pub(crate) fn note_change(&mut self, change: Change) {
        self.changes.push_front(change);
        self.changes.truncate(RECENT_CHANGES);
    }

    /// Newest first.
    pub(crate) fn changes(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter()
    }
}
