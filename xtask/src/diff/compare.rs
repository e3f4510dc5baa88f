//! Two documents side by side: each difference of a fact and each part that is new or gone becomes a change, or is not
//! understood.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use indexmap::IndexMap;
use serde::Serialize;

use super::assumed::{self, Claim, Verdicts};
use super::part::{Child, Leaf, Part, Sort, Step, is_read_by_people, template};
use super::rules::{How, Way};
use super::value::{Difference, differences};
use crate::node::Node;
use crate::read;

/// A difference, and all places that show it.
#[derive(Debug, Serialize)]
pub(super) struct Change {
    #[serde(flatten)]
    pub(super) difference: Difference,
    /// Once for each operation and direction.
    pub(super) uses: BTreeSet<Use>,
    pub(super) breaks_writers: bool,
    pub(super) breaks_readers: bool,
}

/// A place that shows a difference: `POST /invoices`, `body.lines[].price`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct Use {
    pub(super) operation: String,
    pub(super) place: String,
    pub(super) breaks_writers: bool,
    pub(super) breaks_readers: bool,
}

/// Two parts that are compared, once for each direction, however many ways lead to them.
struct Pair {
    way: Way,
    differences: Vec<Difference>,
    /// The pairs that they consist of.
    parts: Vec<(Step, usize)>,
    claims: Vec<Claim>,
}

/// A place for people: the operation, and where in it.
#[derive(Clone, Default)]
struct At {
    operation: String,
    place: String,
}

/// Two documents, and all that is known of how they differ.
pub(super) struct Diff<'a> {
    roots: [&'a Node; 2],
    /// The first one is that of the documents.
    all: Vec<Pair>,
    index: BTreeMap<(Way, [String; 2]), usize>,
    open: VecDeque<(usize, [Child<'a>; 2])>,
    /// By what they are, and by what differs where.
    pub(super) changes: IndexMap<(&'static str, [String; 4]), Change>,
    /// What differs and nobody knows what it means: its place, and what it was and is.
    pub(super) not_understood: BTreeMap<String, String>,
    /// Places of the old document with those that they are compared to.
    pub(super) pairs: BTreeMap<String, String>,
    pub(super) routes: BTreeMap<String, String>,
    /// Places that were looked at, or belong to what is new or gone.
    visited: [BTreeSet<String>; 2],
    pub(super) assumed: Verdicts,
}

impl<'a> Diff<'a> {
    /// Compares two documents.
    pub(super) fn of(old: &'a Node, new: &'a Node) -> Self {
        let mut diff = Self {
            roots: [old, new],
            all: Vec::new(),
            index: BTreeMap::new(),
            open: VecDeque::new(),
            changes: IndexMap::new(),
            not_understood: BTreeMap::new(),
            pairs: BTreeMap::new(),
            routes: BTreeMap::new(),
            visited: Default::default(),
            assumed: Verdicts::new(),
        };
        diff.pair([old, new].map(Child::document), Way::Both);
        while let Some((at, both)) = diff.open.pop_front() {
            diff.compare(at, both.each_ref());
        }
        let all = std::mem::take(&mut diff.all);
        for pair in (0..all.len()).filter(|it| !all[*it].claims.is_empty()) {
            let within = reach(&all, pair);
            for claim in &all[pair].claims {
                let differences = within.iter().flat_map(|it| &all[*it].differences);
                let known = diff.assumed.entry(claim.id.clone()).or_default();
                known.insert((claim.verdict(differences), claim.place.clone()));
            }
        }
        diff.visit(&all, 0, &At::default(), &mut BTreeSet::new());
        diff.unused();
        diff
    }

    /// The number of a pair, which is compared later if it is new.
    fn pair(&mut self, both: [Child<'a>; 2], way: Way) -> usize {
        let places = both.each_ref().map(|it| {
            let places: Vec<&str> = it.leaves.iter().map(|it| &*it.place).collect();
            places.join(" ")
        });
        let next = self.all.len();
        let at = *self.index.entry((way, places)).or_insert(next);
        if at == next {
            self.all.push(Pair {
                way,
                differences: Vec::new(),
                parts: Vec::new(),
                claims: Vec::new(),
            });
            self.open.push_back((at, both));
        }
        at
    }

    fn compare(&mut self, at: usize, both: [&Child<'a>; 2]) {
        for (seen, child) in self.visited.iter_mut().zip(both) {
            seen.extend(child.leaves.iter().map(|it| it.place.clone()));
        }
        let [old, new] = both;
        let known = self.pairs.entry(old.place(""));
        known.or_insert_with(|| new.place(""));
        self.all[at].claims = assumed::claims(old, new, &mut self.assumed);
        let way = self.all[at].way;
        let [was, is] = [0, 1].map(|side| Part::of(self.roots[side], both[side], way));
        if self.facts(at, both, &was, &is) {
            self.children(at, both, was, is);
        } else {
            self.mark(0, old);
            self.mark(1, new);
        }
    }

    /// Compares facts, the types first; false if nothing below can be compared.
    fn facts(&mut self, at: usize, both: [&Child<'a>; 2], was: &Part<'a>, is: &Part<'a>) -> bool {
        let mut keys: Vec<&String> = was.facts.keys().chain(is.facts.keys()).collect();
        keys.sort_by_key(|it| (*it != "type ", *it));
        keys.dedup();
        // Where the whole path is the same, it does not matter how much of it is the server's.
        let is_moved = both[0].route != both[1].route;
        keys.retain(|it| is_moved || !matches!(it.as_str(), "operation " | "server path "));
        for key in keys {
            let sides = [was, is].map(|it| it.facts.get(key));
            let field = key.split_once(' ').map_or("", |it| it.1);
            let stands = |side: usize| match sides[side] {
                Some(fact) => fact.place.clone(),
                None => both[side].place(field),
            };
            for (row, how, values) in differences(sides) {
                let is_any = values.iter().any(|it| it == "any");
                let pair = &mut self.all[at];
                let [old, new] = [stands(0), stands(1)];
                let difference = Difference::of(row, how, pair.way, [old, new]);
                pair.differences.push(difference.with(values));
                if row == "type" && (how == How::Other || is_any) {
                    assumed::below(self.roots[0], both[0], is_any, &mut self.assumed);
                    return false;
                }
            }
        }
        true
    }

    fn children(&mut self, at: usize, both: [&Child<'a>; 2], was: Part<'a>, mut is: Part<'a>) {
        let (mut pairs, mut gone) = (Vec::new(), Vec::new());
        for (key, old) in was.children {
            match is.children.shift_remove(&key) {
                Some(new) => pairs.push((old, new)),
                None => gone.push(old),
            }
        }
        for old in gone {
            // By the path below another server, or what else it is known by.
            let shown = template(&old.shown);
            let same_path =
                |it: &Child<'_>| it.sort == Sort::Operation && template(&it.shown) == shown;
            let is_it = |it: &Child<'_>| it.alias == old.alias && it.sort == old.sort;
            let known = || {
                is.children
                    .values()
                    .position(is_it)
                    .filter(|_| !old.alias.is_empty())
            };
            let found = is.children.values().position(same_path).or_else(known);
            match found.and_then(|it| is.children.shift_remove_index(it)) {
                Some((_, new)) => pairs.push((old, new)),
                None => self.lone(at, 0, &old, both[1]),
            }
        }
        for (old, new) in pairs {
            if old.sort == Sort::Operation {
                self.routes.insert(old.shown.clone(), new.shown.clone());
            }
            let step = old.step();
            let way = old.way_within(self.all[at].way);
            let part = self.pair([old, new], way);
            self.all[at].parts.push((step, part));
        }
        is.children
            .values()
            .for_each(|it| self.lone(at, 1, it, both[0]));
    }

    /// A part that only one side has.
    fn lone(&mut self, at: usize, side: usize, child: &Child<'a>, parent: &Child<'a>) {
        let own = child.leaves.first().map(|it| it.place.clone());
        let mut places = [own.unwrap_or_default(), parent.place("")];
        places.rotate_right(side);
        let how = if side == 0 { How::Gone } else { How::New };
        let replies = parent.leaves.first().map(|it| it.node.at("responses"));
        let in_default = side == 0 && replies.is_some_and(|it| it.get("default").is_some());
        let (how, values) = match child.row {
            "error" if in_default => (
                How::Other,
                [&*child.shown, "reply default"].map(str::to_owned),
            ),
            _ => (how, Default::default()),
        };
        let pair = &mut self.all[at];
        let way = child.way_within(pair.way);
        let difference = Difference::of(child.row, how, way, places).with(values);
        pair.differences.push(Difference {
            below: Some(child.step()),
            ..difference
        });
        self.mark(side, child);
        if side == 0 {
            assumed::gone(self.roots[0], child, &mut self.assumed);
        }
    }

    /// Marks all that a part refers to as looked at.
    fn mark(&mut self, side: usize, child: &Child<'a>) {
        for leaf in &child.leaves {
            self.visited[side].insert(leaf.place.clone());
            read::references(self.roots[side], leaf.node, &mut self.visited[side]);
        }
    }

    /// Lists the differences of a pair and of all below, once for each operation.
    fn visit(&mut self, all: &[Pair], pair: usize, at: &At, seen: &mut BTreeSet<usize>) {
        if !seen.insert(pair) {
            return;
        }
        for difference in &all[pair].differences {
            let below = difference.below.as_ref().map(|it| at.below(it));
            self.emit(below.as_ref().unwrap_or(at), difference);
        }
        for (step, part) in &all[pair].parts {
            let at = at.below(step);
            match step.sort {
                Sort::Operation => self.visit(all, *part, &at, &mut BTreeSet::new()),
                _ => self.visit(all, *part, &at, seen),
            }
        }
    }

    fn emit(&mut self, at: &At, difference: &Difference) {
        let Some((breaks_writers, breaks_readers)) = difference.verdict() else {
            let text = format!("{} {}: {difference}", at.operation, at.place);
            self.not_understood
                .insert(difference.pointer().to_owned(), text);
            return;
        };
        let key = (difference.what, difference.texts().map(str::to_owned));
        let change = self.changes.entry(key).or_insert_with(|| Change {
            difference: difference.clone(),
            uses: BTreeSet::new(),
            breaks_writers: false,
            breaks_readers: false,
        });
        change.breaks_writers |= breaks_writers;
        change.breaks_readers |= breaks_readers;
        let At { operation, place } = at.clone();
        change.uses.insert(Use {
            operation,
            place,
            breaks_writers,
            breaks_readers,
        });
    }

    /// Components that nothing looked at: those that nothing refers to. There should be no others.
    fn unused(&mut self) {
        let all = self.roots.map(components);
        let places: BTreeSet<&String> = all.iter().flat_map(|it| it.keys()).collect();
        for place in places {
            let [old, new] = [0, 1].map(|side| all[side].get(place));
            let is_same = old
                .zip(new)
                .is_some_and(|(old, new)| old == new || bare(old) == bare(new));
            if is_same || self.visited.iter().any(|it| it.contains(place)) {
                continue;
            }
            let how = match (old, new) {
                (None, _) => How::New,
                (_, None) => How::Gone,
                _ => How::Other,
            };
            let refers = |root: &Node| {
                let mut found = BTreeSet::new();
                read::references(root, root, &mut found);
                found.contains(place)
            };
            let is_used = how == How::Other && self.roots.into_iter().any(refers);
            let what = if is_used { "field" } else { "unused component" };
            let places = [place.clone(), place.clone()];
            let difference = Difference::of(what, how, Way::Both, places);
            self.emit(&At::default(), &difference);
        }
    }
}

impl At {
    fn below(&self, step: &Step) -> Self {
        let mut at = self.clone();
        match step.sort {
            Sort::Operation => at.operation.clone_from(&step.shown),
            Sort::Schema | Sort::Media => at.place += &step.shown,
            _ if at.place.is_empty() => at.place.clone_from(&step.shown),
            _ => at.place = format!("{} {}", at.place, step.shown),
        }
        at
    }
}

/// A pair and all those that it consists of.
fn reach(all: &[Pair], from: usize) -> BTreeSet<usize> {
    let (mut found, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(pair) = open.pop() {
        if found.insert(pair) {
            open.extend(all[pair].parts.iter().map(|it| it.1));
        }
    }
    found
}

/// The components of a document but its security schemes, by their places.
fn components(root: &Node) -> BTreeMap<String, &Node> {
    let place = "/components".to_owned();
    let all = Leaf {
        place,
        node: root.at("components"),
    };
    let kinds = all.node.members().map(|it| it.0);
    let kinds = kinds.filter(|it| *it != "securitySchemes" && !is_read_by_people(it));
    let each = kinds.flat_map(|it| all.each(it));
    each.map(|(_, it)| (it.place, it.node)).collect()
}

/// A schema without what only people read.
fn bare(node: &Node) -> Node {
    match node {
        Node::Object(members) => {
            let kept = members.iter().filter(|it| !is_read_by_people(it.0));
            Node::Object(kept.map(|(key, it)| (key.clone(), bare(it))).collect())
        }
        Node::List(items) => Node::List(items.iter().map(bare).collect()),
        other => other.clone(),
    }
}
