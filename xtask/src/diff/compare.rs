//! Pairs the parts of two documents, and finds the facts that differ in each pair.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use super::assumed::{Claim, Verdict, Verdicts};
use super::flat::{Flat, Key, Leaf};
use super::operation::{Top, tops};
use super::rules::{How, Way};
use super::value::{Difference, differences};
use crate::node::Node;
use crate::read;

/// Two corresponding parts. There is one pair per direction, even if several references lead to it.
#[derive(Default)]
pub(super) struct Pair {
    pub(super) differences: Vec<Difference>,
    /// The pairs of the inner schemas, by their places.
    pub(super) within: Vec<(String, usize)>,
}

#[derive(Default)]
pub(super) struct Pairs<'a> {
    roots: Vec<&'a Node>,
    /// The first pair is the documents.
    pub(super) all: Vec<Pair>,
    known: HashMap<(Way, [String; 2]), usize>,
    open: VecDeque<(usize, [Flat<'a>; 2])>,
    claims: Vec<(usize, Claim)>,
    /// The pairs of operations and security schemes, by name.
    pub(super) tops: Vec<(String, usize)>,
    pub(super) routes: BTreeMap<String, String>,
    /// Places of the old document, and the places that they are compared with.
    pub(super) places: BTreeMap<String, String>,
    pub(super) verdicts: Verdicts,
}

/// Whether a place is a part of the same document, operation or schema, or is inside it.
pub(super) fn is_within(part: &str, at: &str) -> bool {
    let rest = at.strip_prefix(part);
    rest.is_some_and(|it| part.is_empty() || it.is_empty() || it.starts_with('/'))
}

impl<'a> Pairs<'a> {
    pub(super) fn of(old: &'a Node, new: &'a Node) -> Self {
        let mut pairs = Self {
            roots: vec![old, new],
            ..Self::default()
        };
        pairs.pair([old, new].map(Flat::document));
        pairs.tops([old, new].map(tops));
        while let Some((pair, flats)) = pairs.open.pop_front() {
            pairs.compare(pair, flats);
        }
        for (pair, claim) in std::mem::take(&mut pairs.claims) {
            let verdict = claim.verdict(pairs.differences(pair, &claim.at));
            pairs.judge(claim.id, verdict, claim.place);
        }
        pairs
    }

    fn judge(&mut self, id: String, verdict: Verdict, place: String) {
        let known = self.verdicts.entry(id).or_default();
        known.insert((verdict, place));
    }

    /// The differences at a place of a pair, and of all inner pairs.
    fn differences(&self, pair: usize, at: &str) -> impl Iterator<Item = &Difference> {
        let Pair {
            differences,
            within,
        } = &self.all[pair];
        let own = differences.iter().filter(move |it| is_within(at, &it.at));
        let within = within.iter().filter(|it| is_within(at, &it.0));
        let mut open: Vec<usize> = within.map(|it| it.1).collect();
        let mut found = BTreeSet::new();
        while let Some(pair) = open.pop() {
            if found.insert(pair) {
                open.extend(self.all[pair].within.iter().map(|it| it.1));
            }
        }
        let inner = found.into_iter().flat_map(|it| &self.all[it].differences);
        own.chain(inner)
    }

    /// The number of a pair, which is compared later.
    fn pair(&mut self, flats: [Flat<'a>; 2]) -> usize {
        let pair = self.all.len();
        self.all.push(Pair::default());
        self.open.push_back((pair, flats));
        pair
    }

    /// The number of a pair of schemas, which is compared later if it is new.
    fn schemas(&mut self, way: Way, both: [&[Leaf<'a>]; 2]) -> usize {
        let places = both.map(|leaves| {
            let places: Vec<&str> = leaves.iter().map(|it| &*it.place).collect();
            places.join(" ")
        });
        let key = (way, places);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let flats = [0, 1].map(|side| Flat::schema(self.roots[side], both[side], way));
        let [old, new] = flats.each_ref().map(|it| it.place.clone());
        self.places.entry(old).or_insert(new);
        let pair = self.pair(flats);
        self.known.insert(key, pair);
        pair
    }

    /// Pairs operations and security schemes.
    fn tops(&mut self, [mut old, mut new]: [Vec<Top<'a>>; 2]) {
        for rank in 0..3 {
            for was in std::mem::take(&mut old) {
                let known = was.known.get(rank).filter(|it| !it.is_empty());
                let is_it = |it: &Top<'_>| known.is_some() && it.known.get(rank) == known;
                let Some(is) = new.iter().position(is_it).map(|it| new.remove(it)) else {
                    old.push(was);
                    continue;
                };
                let is_moved = was.known[0] != is.known[0];
                let flats = [(0, &was), (1, &is)];
                let flats = flats.map(|(side, it)| it.flat(self.roots[side], &was, is_moved));
                let pair = self.pair(flats);
                if was.row == "operation" {
                    self.routes.insert(was.shown.clone(), is.shown);
                }
                self.tops.push((was.shown, pair));
            }
        }
        for (side, how, lone) in [(0, How::Gone, old), (1, How::New, new)] {
            for top in lone {
                let mut places = [top.leaves[0].place.clone(), String::new()];
                places.rotate_right(side);
                self.lose(&places[0], Verdict::Void);
                let difference = Difference::of(top.row, how, &top.shown, places);
                self.all[0].differences.push(difference);
            }
        }
    }

    /// Judges all assumptions about a part of the old document that is gone or can't be compared.
    fn lose(&mut self, place: &str, verdict: Verdict) {
        let node = self.roots[0].pointer(place).filter(|_| !place.is_empty());
        let ids = node.map(|it| read::assumptions_of(self.roots[0], it));
        for id in ids.into_iter().flatten() {
            self.judge(id, verdict, place.to_owned());
        }
    }

    fn compare(&mut self, pair: usize, mut flats: [Flat<'a>; 2]) {
        let [was, is] = flats.each_mut().map(|it| std::mem::take(&mut it.schemas));
        let [old, new] = &flats;
        for claim in &old.claims {
            if claim.is_seen(&new.claims) {
                self.claims.push((pair, claim.clone()));
            } else {
                self.judge(claim.id.clone(), Verdict::NotSeen, claim.place.clone());
            }
        }
        let mut keys: Vec<&Key> = old.facts.keys().chain(new.facts.keys()).collect();
        // The type comes first, and a part comes before its facts.
        keys.sort_by_key(|it| (it.1 != "type", *it));
        keys.dedup();
        let mut lone: Vec<&str> = Vec::new();
        for key @ (at, kind, _) in keys {
            if lone.iter().any(|it| is_within(it, at)) {
                continue;
            }
            let facts = flats.each_ref().map(|it| it.facts.get(key));
            let row = facts.into_iter().flatten().next().map_or("", |it| it.row);
            let places = [0, 1].map(|side| {
                let part = (at.clone(), "", String::new());
                let fact = facts[side].or_else(|| flats[side].facts.get(&part));
                fact.map_or(&flats[side].place, |it| &it.place).clone()
            });
            let default = ("/response default".to_owned(), "", String::new());
            for (what, how, [was, is]) in differences(row, facts.map(|it| it.map(|it| &it.value))) {
                let is_any = was == "any" || is == "any";
                let is_default =
                    (what, how) == ("error", How::Gone) && new.facts.contains_key(&default);
                let (how, was, is) = if is_default {
                    (How::Other, shown(at), shown(&default.0))
                } else {
                    (how, was, is)
                };
                self.all[pair].differences.push(Difference {
                    way: old.way_at(at),
                    was,
                    is,
                    ..Difference::of(what, how, at, places.clone())
                });
                if what == "type" && (how == How::Other || is_any) {
                    let verdict = [Verdict::Void, Verdict::NotSeen][usize::from(is_any)];
                    self.lose(&old.used, verdict);
                    return;
                }
            }
            if kind.is_empty() && facts[0].is_none() != facts[1].is_none() {
                lone.push(at);
            }
            if kind.is_empty() && facts[1].is_none() {
                self.lose(&places[0], Verdict::Void);
            }
        }
        for (at, leaves) in was {
            if let Some(other) = is.get(&at) {
                let inner = self.schemas(old.way_at(&at), [&leaves, other]);
                self.all[pair].within.push((at, inner));
            } else if !lone.iter().any(|it| is_within(it, &at)) {
                let place = leaves.first().map(|it| &*it.place);
                self.lose(place.unwrap_or_default(), Verdict::NotSeen);
            }
        }
        // Losses come before additions.
        let differences = &mut self.all[pair].differences;
        differences.sort_by_key(|it| it.how == How::New);
    }
}

pub(super) fn shown(at: &str) -> String {
    let text = at.replace('/', " ").replace("~1", "/");
    text.replace("~0", "~").trim_start().to_owned()
}
