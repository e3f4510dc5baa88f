//! Two documents side by side: each difference of a fact and each part that is new or gone becomes a change, or is not
//! understood.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use serde::Serialize;

use super::assumed::Assumed;
use super::part::{Child, Leaf, Part, Sort, is_read_by_people, template};
use super::rules::{self, How, Way};
use super::value::differences;
use crate::node::Node;

/// One difference, wherever it shows.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Change {
    pub(super) what: &'static str,
    pub(super) how: How,
    /// Once for each operation and direction.
    pub(super) uses: BTreeSet<Use>,
    /// JSON pointers.
    pub(super) old: String,
    pub(super) new: String,
    pub(super) was: String,
    pub(super) is: String,
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

/// Where a comparison is: in which operation, where in it, and in which direction its values go.
#[derive(Clone)]
struct At {
    operation: String,
    place: String,
    way: Way,
}

/// Something of the old document and of the new one.
type Sides = [String; 2];

/// Two documents, and all that is known of how they differ.
pub(super) struct Diff<'a> {
    roots: [&'a Node; 2],
    pub(super) changes: IndexMap<(&'static str, [Sides; 2]), Change>,
    /// What differs and nobody knows what it means: its place, and what it was and is.
    pub(super) not_understood: BTreeMap<String, String>,
    /// Pairs of schemas that one operation showed already, those that are being compared, and those without a change.
    seen: BTreeSet<(Way, Sides)>,
    stack: BTreeSet<(Way, Sides)>,
    equal: BTreeSet<(Way, Sides)>,
    emitted: usize,
    /// Places of the old document with those that they are compared to.
    pub(super) pairs: BTreeMap<String, String>,
    pub(super) routes: BTreeMap<String, String>,
    /// Places that were looked at, or belong to what is new or gone.
    visited: [BTreeSet<String>; 2],
    pub(super) assumed: Assumed,
}

impl<'a> Diff<'a> {
    /// Compares two documents.
    pub(super) fn of(old: &'a Node, new: &'a Node) -> Self {
        let mut diff = Self {
            roots: [old, new],
            changes: IndexMap::new(),
            not_understood: BTreeMap::new(),
            seen: BTreeSet::new(),
            stack: BTreeSet::new(),
            equal: BTreeSet::new(),
            emitted: 0,
            pairs: BTreeMap::new(),
            routes: BTreeMap::new(),
            visited: Default::default(),
            assumed: Assumed::default(),
        };
        let (operation, place) = (String::new(), String::new());
        let at = At {
            operation,
            place,
            way: Way::Both,
        };
        diff.parts(&at, &Child::document(old), &Child::document(new));
        diff.unused(&at);
        diff
    }

    fn emit(&mut self, at: &At, what: &'static str, how: How, places: Sides, values: Sides) {
        self.emitted += 1;
        let Some((breaks_writers, breaks_readers)) = rules::verdict(what, how, at.way) else {
            let [was, is] = values.map(|it| {
                if it.is_empty() {
                    "nothing".to_owned()
                } else {
                    it
                }
            });
            let [old, new] = places;
            let pointer = if new.is_empty() { &old } else { &new };
            let key = pointer.rsplit('/').next().unwrap_or_default();
            let what = if what == "field" { key } else { what };
            let how = format!("{how:?}").to_lowercase();
            let text = format!("{} {}: {what} {how}: {was} -> {is}", at.operation, at.place);
            self.not_understood
                .insert(if new.is_empty() { old } else { new }, text);
            return;
        };
        let breaks = breaks_writers || breaks_readers;
        self.assumed.met(what, how, &values[1], breaks);
        let known = self.changes.entry((what, [places, values]));
        let (_, [[old, new], [was, is]]) = known.key().clone();
        let change = known.or_insert_with(|| Change {
            uses: BTreeSet::new(),
            breaks_writers: false,
            breaks_readers: false,
            what,
            how,
            old,
            new,
            was,
            is,
        });
        change.breaks_writers |= breaks_writers;
        change.breaks_readers |= breaks_readers;
        let (operation, place) = (at.operation.clone(), at.place.clone());
        change.uses.insert(Use {
            operation,
            place,
            breaks_writers,
            breaks_readers,
        });
    }

    fn parts(&mut self, at: &At, old: &Child<'a>, new: &Child<'a>) {
        let both = [old, new];
        let places = both.map(|it| {
            it.leaves
                .iter()
                .map(|it| &*it.place)
                .collect::<Vec<_>>()
                .join(" ")
        });
        let key = (at.way, places);
        let is_known = self.stack.contains(&key) || self.equal.contains(&key);
        if is_known || !self.seen.insert(key.clone()) {
            return;
        }
        for (seen, child) in self.visited.iter_mut().zip(both) {
            seen.extend(child.leaves.iter().map(|it| it.place.clone()));
        }
        let known = self.pairs.entry(old.place(""));
        known.or_insert_with(|| new.place(""));
        let (begun, is_first) = self.assumed.begin(old, new, at.way);
        // Every change below an assumption counts, even one that was met before.
        let before = if is_first {
            std::mem::take(&mut self.seen)
        } else {
            BTreeSet::new()
        };
        self.stack.insert(key.clone());
        let [was, is] = [0, 1].map(|side| Part::of(self.roots[side], both[side], at.way));
        if self.facts(at, both, &was, &is) {
            self.children(at, both, was, is);
        } else {
            self.mark(0, old, at.way);
            self.mark(1, new, at.way);
        }
        self.stack.remove(&key);
        self.seen.extend(before);
        self.assumed.end(begun);
    }

    /// Compares facts, the types first; false if nothing below can be compared.
    fn facts(&mut self, at: &At, both: [&Child<'a>; 2], was: &Part<'a>, is: &Part<'a>) -> bool {
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
                self.emit(at, row, how, [stands(0), stands(1)], values);
                if row == "type" && (how == How::Other || is_any) {
                    self.assumed.below(self.roots[0], both[0], is_any);
                    return false;
                }
            }
        }
        true
    }

    fn children(&mut self, at: &At, both: [&Child<'a>; 2], was: Part<'a>, mut is: Part<'a>) {
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
            let (is_operation, before) = (old.sort == Sort::Operation, self.emitted);
            if is_operation {
                self.routes.insert(old.shown.clone(), new.shown.clone());
                self.seen.clear();
            }
            self.parts(&at.below(&old), &old, &new);
            if is_operation && self.emitted == before {
                self.equal.append(&mut self.seen);
            }
        }
        is.children
            .values()
            .for_each(|it| self.lone(at, 1, it, both[0]));
    }

    /// A part that only one side has.
    fn lone(&mut self, at: &At, side: usize, child: &Child<'a>, parent: &Child<'a>) {
        let at = at.below(child);
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
        self.emit(&at, child.row, how, places, values);
        self.mark(side, child, at.way);
        if side == 0 {
            self.assumed.gone(self.roots[0], child);
        }
    }

    /// Marks all of a part as looked at.
    fn mark(&mut self, side: usize, child: &Child<'a>, way: Way) {
        let visited = &mut self.visited[side];
        let fresh = child
            .leaves
            .iter()
            .filter(|it| visited.insert(it.place.clone()));
        if fresh.count() > 0 || child.sort != Sort::Schema {
            let part = Part::of(self.roots[side], child, way);
            part.children
                .values()
                .for_each(|it| self.mark(side, it, way));
        }
    }

    /// Components that nothing looked at: those that nothing refers to. There should be no others.
    fn unused(&mut self, at: &At) {
        let all = self.roots.map(components);
        let used = self.roots.map(referred);
        let places: BTreeSet<&String> = all.iter().flat_map(|it| it.keys()).collect();
        for place in places {
            let [old, new] = [0, 1].map(|side| all[side].get(place));
            if old == new || self.visited.iter().any(|it| it.contains(place)) {
                continue;
            }
            let how = match (old, new) {
                (None, _) => How::New,
                (_, None) => How::Gone,
                _ => How::Other,
            };
            let is_used = how == How::Other && used.iter().any(|it| it.contains(place.as_str()));
            let what = if is_used { "field" } else { "unused component" };
            self.emit(
                at,
                what,
                how,
                [place.clone(), place.clone()],
                Default::default(),
            );
        }
    }
}

impl At {
    fn below(&self, child: &Child<'_>) -> Self {
        let mut at = self.clone();
        match child.sort {
            Sort::Operation => at.operation.clone_from(&child.shown),
            Sort::Schema | Sort::Media => at.place += &child.shown,
            _ if at.place.is_empty() => at.place.clone_from(&child.shown),
            _ => at.place = format!("{} {}", at.place, child.shown),
        }
        at.way = match child.sort {
            Sort::Parameter | Sort::Body | Sort::Scheme => Way::Request,
            Sort::Reply => Way::Reply,
            _ => at.way,
        };
        at
    }
}

/// The components of a document but its security schemes, by their places.
fn components(root: &Node) -> BTreeMap<String, Node> {
    let place = "/components".to_owned();
    let all = Leaf {
        place,
        node: root.at("components"),
    };
    let kinds = all.node.members().map(|it| it.0);
    let kinds = kinds.filter(|it| *it != "securitySchemes" && !is_read_by_people(it));
    let each = kinds.flat_map(|it| all.each(it));
    each.map(|(_, it)| (it.place, bare(it.node))).collect()
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

/// All that references of a document point to.
pub(super) fn referred(node: &Node) -> BTreeSet<&str> {
    let (mut found, mut open) = (BTreeSet::new(), vec![node]);
    while let Some(node) = open.pop() {
        found.extend(node.text_at("$ref").and_then(|it| it.strip_prefix('#')));
        open.extend(node.members().map(|it| it.1));
        open.extend(node.items());
    }
    found
}
