//! What becomes of the assumptions of the old document: the new one confirms them where it shows the same, contradicts
//! them where it shows something else, and makes them void where it has no such thing. What it does not show, it leaves.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;

use super::part::{Child, Leaf, Sort};
use super::rules::{How, Way};
use crate::assumptions;
use crate::node::Node;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) enum Verdict {
    #[serde(rename = "contradicted")]
    Contradicted,
    #[serde(rename = "void")]
    Void,
    #[serde(rename = "confirmed")]
    Confirmed,
    #[serde(rename = "not seen")]
    NotSeen,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Contradicted => "contradicted",
            Self::Void => "void",
            Self::Confirmed => "confirmed",
            Self::NotSeen => "not seen",
        })
    }
}

/// What an assumption is about.
#[derive(Clone, Copy)]
enum About {
    Type,
    /// The schema where it stands, and all below.
    Schema,
    /// Rows of the rules.
    Rows(&'static [&'static str]),
    /// That calls as they are made now succeed.
    Calls,
}

/// Those about an operation that are about a part of it.
const ROWS: [(&str, &[&str]); 2] = [("A01", &["id"]), ("A08", &["authentication"])];

/// Those that no document can show: the order of two parameters.
const UNSEEN: [&str; 1] = ["A12"];

/// An assumption about what is compared.
struct Active {
    id: String,
    place: String,
    about: About,
    verdict: Verdict,
    /// Whether nothing referred to it before.
    is_first: bool,
}

/// The verdicts on assumptions at each of their places.
pub(super) type Verdicts = BTreeMap<String, BTreeSet<(Verdict, String)>>;

#[derive(Default)]
pub(super) struct Assumed {
    active: Vec<Active>,
    /// Those that were looked at, with what they were compared to.
    met: BTreeSet<(Way, [String; 3])>,
    /// Each place of each assumption.
    pub(super) verdicts: Verdicts,
}

impl Assumed {
    /// Takes up the assumptions of a part; as many are put down by [`Self::end`].
    /// Whether one of them is looked at for the first time comes with it.
    pub(super) fn begin(&mut self, old: &Child<'_>, new: &Child<'_>, way: Way) -> (usize, bool) {
        let before = self.active.len();
        for key in ["x-assumption", "x-type-assumption"] {
            for leaf in &old.leaves {
                for id in assumptions::ids(leaf.node.at(key)) {
                    let place = leaf.place.clone();
                    let still = |it: &Leaf<'_>| assumptions::ids(it.node.at(key)).contains(&id);
                    let unseen = new.leaves.is_empty()
                        || new.leaves.iter().any(still)
                        || old.sort == Sort::Reply
                        || UNSEEN.contains(&&*id);
                    let rows = ROWS.iter().find(|it| it.0 == id);
                    let about = match (old.sort, rows) {
                        _ if key == "x-type-assumption" => About::Type,
                        (Sort::Operation, Some((_, rows))) => About::Rows(rows),
                        (Sort::Operation, None) => About::Calls,
                        _ => About::Schema,
                    };
                    if unseen {
                        self.add(id, Verdict::NotSeen, place);
                    } else {
                        let verdict = Verdict::Confirmed;
                        let target = new.leaves.last().map(|it| it.place.clone());
                        let key = [id.clone(), place.clone(), target.unwrap_or_default()];
                        let is_first = self.met.insert((way, key));
                        self.active.push(Active {
                            id,
                            place,
                            about,
                            verdict,
                            is_first,
                        });
                    }
                }
            }
        }
        let is_first = self.active[before..].iter().any(|it| it.is_first);
        (self.active.len() - before, is_first)
    }

    pub(super) fn end(&mut self, begun: usize) {
        let all = self.active.split_off(self.active.len() - begun);
        let says = |it: &Active| it.is_first || it.verdict != Verdict::Confirmed;
        for it in all.into_iter().filter(says) {
            self.add(it.id, it.verdict, it.place);
        }
    }

    /// A change of what is compared.
    pub(super) fn met(&mut self, what: &str, how: How, is: &str, breaks: bool) {
        for active in &mut self.active {
            let concerns = match active.about {
                About::Type => what == "type",
                About::Schema => !matches!(what, "required" | "deprecated" | "further members"),
                About::Rows(rows) => rows.contains(&what),
                About::Calls => breaks && !matches!(what, "authentication" | "scope"),
            };
            let is_part = matches!(what, "member" | "required member" | "value" | "variant");
            let verdict = match (active.about, how) {
                _ if !concerns => continue,
                (About::Calls, _) => Verdict::Contradicted,
                (_, How::Gone) if is_part => Verdict::Contradicted,
                (_, How::New) => continue,
                _ if is.is_empty() || is == "any" => Verdict::NotSeen,
                (About::Type | About::Schema, How::Narrower) if what != "null" => continue,
                _ => Verdict::Contradicted,
            };
            if active.verdict == Verdict::Confirmed || verdict == Verdict::Contradicted {
                active.verdict = verdict;
            }
        }
    }

    /// What a part assumed that is gone; content that is not shown is just not seen.
    pub(super) fn gone(&mut self, root: &Node, child: &Child<'_>) {
        let verdict = match child.sort {
            Sort::Media => Verdict::NotSeen,
            _ => Verdict::Void,
        };
        for leaf in child.leaves.iter().take(1) {
            for id in assumptions::of_operation(root, leaf.node) {
                self.add(id, verdict, leaf.place.clone());
            }
        }
    }

    /// What is assumed below a part where nothing can be compared: it may be anything now, or is of another type.
    pub(super) fn below(&mut self, root: &Node, old: &Child<'_>, is_any: bool) {
        let verdict = [Verdict::Void, Verdict::NotSeen][usize::from(is_any)];
        let both = ["x-assumption", "x-type-assumption"];
        let own = old
            .leaves
            .iter()
            .flat_map(|leaf| both.map(|it| leaf.node.at(it)));
        let own: BTreeSet<String> = own.flat_map(assumptions::ids).collect();
        // The others are what the first refers to.
        for leaf in old.leaves.iter().take(1) {
            for id in assumptions::of_operation(root, leaf.node).difference(&own) {
                self.add(id.clone(), verdict, leaf.place.clone());
            }
        }
    }

    pub(super) fn add(&mut self, id: String, verdict: Verdict, place: String) {
        self.verdicts
            .entry(id)
            .or_default()
            .insert((verdict, place));
    }
}

/// What an adopted operation still rests on, its document did not show; that calls go on succeeding is no evidence.
pub(super) fn left_open(verdicts: &mut Verdicts) {
    let others = |it: &(&String, _)| ROWS.iter().all(|row| row.0 != it.0);
    for (_, places) in verdicts.iter_mut().filter(others) {
        let is_operation = |it: &str| it.starts_with("/paths/") && it.matches('/').count() == 3;
        let open = std::mem::take(places).into_iter().map(|it| match it {
            (Verdict::Confirmed, place) if is_operation(&place) => (Verdict::NotSeen, place),
            other => other,
        });
        *places = open.collect();
    }
}

/// The verdict on an assumption with all its places.
pub(super) fn overall(verdicts: &BTreeSet<(Verdict, String)>) -> &'static str {
    let has = |verdict| verdicts.iter().any(|(it, _)| *it == verdict);
    let rest = [
        has(Verdict::Void),
        has(Verdict::Confirmed),
        has(Verdict::NotSeen),
    ];
    match rest {
        _ if has(Verdict::Contradicted) => "contradicted",
        [false, true, false] => "confirmed",
        [_, true, _] => "confirmed in part",
        [true, false, false] => "void",
        [true, ..] => "void in part",
        _ => "not seen",
    }
}
