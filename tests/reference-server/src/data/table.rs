//! A table of computed rows, with an overlay of changed and created rows.

use std::collections::HashMap;

use super::reference::{Kind, References};
use crate::refusal::Refusal;

pub(crate) trait Record: Clone {
    const KIND: Kind;

    /// The name in error messages.
    const NOUN: &'static str;

    /// Computes the row at `index` of the demo data.
    fn generate(world: &World, index: u64) -> Self;
}

/// The input for computing a row: the seed, the sizes of the tables, and the start of the server's clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct World {
    pub(crate) seed: u64,
    pub(crate) references: References,
    pub(crate) sizes: super::Sizes,
    pub(crate) start: jiff::Timestamp,
}

/// Rows `0..base` are computed, later rows were created. Any row may have been changed.
#[derive(Clone, Debug)]
pub(crate) struct Table<R> {
    world: World,
    base: u64,
    length: u64,
    changed: HashMap<u64, R>,
    /// The references from data files, in both directions.
    brought: HashMap<String, u64>,
    names: HashMap<u64, String>,
}

impl<R: Record> Table<R> {
    pub(crate) fn new(world: World, base: u64) -> Table<R> {
        Table {
            world,
            base,
            length: base,
            changed: HashMap::new(),
            brought: HashMap::new(),
            names: HashMap::new(),
        }
    }

    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    pub(crate) fn get(&self, index: u64) -> Option<R> {
        if let Some(row) = self.changed.get(&index) {
            return Some(row.clone());
        }
        (index < self.base).then(|| R::generate(&self.world, index))
    }

    pub(crate) fn find(&self, reference: &str) -> Option<(u64, R)> {
        let index = self.index(reference)?;
        Some((index, self.get(index)?))
    }

    /// Returns the row with this reference, or a 404 if it doesn't exist.
    pub(crate) fn existing(&self, reference: &str) -> Result<(u64, R), Refusal> {
        let found = self.find(reference);
        found.ok_or_else(|| Refusal::not_found(format!("no such {}", R::NOUN)))
    }

    pub(crate) fn index(&self, reference: &str) -> Option<u64> {
        if let Some(index) = self.brought.get(reference) {
            return Some(*index);
        }
        let index = self.world.references.index(R::KIND, reference)?;
        (index < self.length && !self.names.contains_key(&index)).then_some(index)
    }

    pub(crate) fn reference(&self, index: u64) -> String {
        let brought = self.names.get(&index).cloned();
        brought.unwrap_or_else(|| self.world.references.name(R::KIND, index))
    }

    /// Gives a row its own reference. The caller checks that no row has it.
    pub(crate) fn rename(&mut self, index: u64, reference: &str) {
        self.brought.insert(reference.to_owned(), index);
        self.names.insert(index, reference.to_owned());
    }

    pub(crate) fn replace(&mut self, index: u64, row: R) {
        self.changed.insert(index, row);
    }

    /// Appends a row and returns its index.
    pub(crate) fn create(&mut self, row: R) -> u64 {
        let index = self.length;
        self.length += 1;
        self.changed.insert(index, row);
        index
    }

    /// Returns the rows from `start` on, in order of creation.
    pub(crate) fn rows(&self, start: u64) -> impl Iterator<Item = (u64, R)> + '_ {
        (start..self.length).filter_map(|index| Some((index, self.get(index)?)))
    }
}
