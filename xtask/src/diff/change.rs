//! The changes between two documents. Each difference has all operations that it affects, or is listed as not understood.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use serde::Serialize;

use super::compare::{Pairs, shown};
use super::flat::{bare, is_read_by_people};
use super::rules::How;
use super::value::Difference;
use crate::node::{Node, step};
use crate::read;

/// A difference, and all places that it affects.
#[derive(Debug, Serialize)]
pub(super) struct Change {
    #[serde(flatten)]
    pub(super) difference: Difference,
    /// One per operation and direction.
    pub(super) uses: BTreeSet<Use>,
    pub(super) breaks_writers: bool,
    pub(super) breaks_readers: bool,
}

/// A place that a difference affects, such as `POST /invoices` and `body.lines[].price`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct Use {
    pub(super) operation: String,
    pub(super) place: String,
    pub(super) breaks_writers: bool,
    pub(super) breaks_readers: bool,
}

#[derive(Default)]
pub(super) struct Changes {
    /// By row, and by places and values.
    pub(super) known: IndexMap<(&'static str, [String; 4]), Change>,
    /// Differences that no rule covers, by their places.
    pub(super) not_understood: BTreeMap<String, String>,
}

impl Changes {
    pub(super) fn of(roots: [&Node; 2], pairs: &Pairs<'_>) -> Self {
        let mut changes = Self::default();
        for difference in &pairs.all[0].differences {
            changes.add(&difference.at, "", difference);
        }
        for (operation, pair) in &pairs.tops {
            changes.list(pairs, *pair, [operation, ""], &mut BTreeSet::new());
        }
        changes.unused(roots);
        changes
    }

    /// Lists the differences of a pair and of all inner pairs, once per operation.
    fn list(
        &mut self,
        pairs: &Pairs<'_>,
        pair: usize,
        [operation, place]: [&str; 2],
        seen: &mut BTreeSet<usize>,
    ) {
        if seen.insert(pair) {
            for it in &pairs.all[pair].differences {
                self.add(operation, &format!("{place}{}", it.at), it);
            }
            for (at, inner) in &pairs.all[pair].within {
                self.list(pairs, *inner, [operation, &format!("{place}{at}")], seen);
            }
        }
    }

    fn add(&mut self, operation: &str, at: &str, difference: &Difference) {
        // A security scheme is not an operation.
        let (operation, place) = match operation.split_once(' ') {
            Some(_) => (operation.to_owned(), shown(at)),
            None => (String::new(), shown(&format!("{operation}{at}"))),
        };
        let Some((breaks_writers, breaks_readers)) = difference.verdict() else {
            let text = format!("{operation} {place}: {difference}");
            let pointer = difference.pointer().to_owned();
            self.not_understood.insert(pointer, text);
            return;
        };
        let Difference {
            what,
            old,
            new,
            was,
            is,
            ..
        } = difference;
        let key = (*what, [old, new, was, is].map(String::clone));
        let change = self.known.entry(key).or_insert_with(|| Change {
            difference: difference.clone(),
            uses: BTreeSet::new(),
            breaks_writers: false,
            breaks_readers: false,
        });
        change.breaks_writers |= breaks_writers;
        change.breaks_readers |= breaks_readers;
        change.uses.insert(Use {
            operation,
            place,
            breaks_writers,
            breaks_readers,
        });
    }

    /// Adds the changes of components that no operation references.
    fn unused(&mut self, roots: [&Node; 2]) {
        let all = roots.map(components);
        let mut used = BTreeSet::new();
        for root in roots {
            read::references(root, root.at("paths"), &mut used);
        }
        let places: BTreeSet<&String> = all.iter().flat_map(|it| it.keys()).collect();
        for place in places.into_iter().filter(|it| !used.contains(*it)) {
            let how = match all.each_ref().map(|it| it.get(place)) {
                [Some(old), Some(new)] if bare(old) == bare(new) => continue,
                [None, _] => How::New,
                [_, None] => How::Gone,
                _ => How::Other,
            };
            let places = [place.clone(), place.clone()];
            self.add("", "", &Difference::of("unused component", how, "", places));
        }
    }
}

/// The components of a document by their places, except security schemes.
fn components(root: &Node) -> BTreeMap<String, &Node> {
    let mut all = BTreeMap::new();
    for (kind, components) in root.at("components").members() {
        if kind != "securitySchemes" && !is_read_by_people(kind) {
            let place = step("/components", kind);
            all.extend(
                components
                    .members()
                    .map(|(name, it)| (step(&place, name), it)),
            );
        }
    }
    all
}
