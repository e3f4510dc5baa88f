//! What becomes of the assumptions of the old document: the new one confirms them where it shows the same, contradicts
//! them where it shows something else, and makes them void where it has no such thing. What it does not show, it leaves.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;

use super::part::{Child, Leaf, Sort};
use super::rules::How;
use super::value::Difference;
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

/// Our keywords that name assumptions.
const KEYS: [&str; 2] = ["x-assumption", "x-type-assumption"];

/// Those about an operation that are about a part of it.
const ROWS: [(&str, &[&str]); 2] = [("A01", &["id"]), ("A08", &["authentication"])];

/// Those that no document can show: the order of two parameters.
const UNSEEN: [&str; 1] = ["A12"];

/// An assumption about two parts that are compared.
pub(super) struct Claim {
    pub(super) id: String,
    pub(super) place: String,
    about: About,
}

/// The verdicts on assumptions at each of their places.
pub(super) type Verdicts = BTreeMap<String, BTreeSet<(Verdict, String)>>;

/// The assumptions of a part that the new document can speak of; the verdict on the others is given.
pub(super) fn claims(old: &Child<'_>, new: &Child<'_>, verdicts: &mut Verdicts) -> Vec<Claim> {
    let mut claims = Vec::new();
    for key in KEYS {
        for leaf in &old.leaves {
            for id in assumptions::ids(leaf.node.at(key)) {
                let place = leaf.place.clone();
                let still = |it: &Leaf<'_>| assumptions::ids(it.node.at(key)).contains(&id);
                let is_unseen = new.leaves.is_empty()
                    || new.leaves.iter().any(still)
                    || old.sort == Sort::Reply
                    || UNSEEN.contains(&&*id);
                if is_unseen {
                    add(verdicts, id, Verdict::NotSeen, place);
                    continue;
                }
                let rows = ROWS.iter().find(|it| it.0 == id);
                let about = match (old.sort, rows) {
                    _ if key == "x-type-assumption" => About::Type,
                    (Sort::Operation, Some((_, rows))) => About::Rows(rows),
                    (Sort::Operation, None) => About::Calls,
                    _ => About::Schema,
                };
                claims.push(Claim { id, place, about });
            }
        }
    }
    claims
}

impl Claim {
    /// What the differences of the two parts and of all below say of it.
    pub(super) fn verdict<'d>(&self, differences: impl Iterator<Item = &'d Difference>) -> Verdict {
        let mut verdict = Verdict::Confirmed;
        for difference in differences {
            match self.said(difference) {
                Some(Verdict::Contradicted) => return Verdict::Contradicted,
                Some(other) => verdict = other,
                None => {}
            }
        }
        verdict
    }

    fn said(&self, difference: &Difference) -> Option<Verdict> {
        let (breaks_writers, breaks_readers) = difference.verdict()?;
        let (what, how, is) = (difference.what, difference.how, &*difference.is);
        let concerns = match self.about {
            About::Type => what == "type",
            About::Schema => !matches!(what, "required" | "deprecated" | "further members"),
            About::Rows(rows) => rows.contains(&what),
            About::Calls => {
                (breaks_writers || breaks_readers) && !matches!(what, "authentication" | "scope")
            }
        };
        let is_part = matches!(what, "member" | "required member" | "value" | "variant");
        match (self.about, how) {
            _ if !concerns => None,
            (About::Calls, _) => Some(Verdict::Contradicted),
            (_, How::Gone) if is_part => Some(Verdict::Contradicted),
            (_, How::New) => None,
            _ if is.is_empty() || is == "any" => Some(Verdict::NotSeen),
            (About::Type | About::Schema, How::Narrower) if what != "null" => None,
            _ => Some(Verdict::Contradicted),
        }
    }
}

/// What a part assumed that is gone; content that is not shown is just not seen.
pub(super) fn gone(root: &Node, child: &Child<'_>, verdicts: &mut Verdicts) {
    let verdict = match child.sort {
        Sort::Media => Verdict::NotSeen,
        _ => Verdict::Void,
    };
    for leaf in child.leaves.iter().take(1) {
        for id in assumptions::of_operation(root, leaf.node) {
            add(verdicts, id, verdict, leaf.place.clone());
        }
    }
}

/// What is assumed below a part where nothing can be compared: it may be anything now, or is of another type.
pub(super) fn below(root: &Node, old: &Child<'_>, is_any: bool, verdicts: &mut Verdicts) {
    let verdict = [Verdict::Void, Verdict::NotSeen][usize::from(is_any)];
    let own = old
        .leaves
        .iter()
        .flat_map(|leaf| KEYS.map(|it| leaf.node.at(it)));
    let own: BTreeSet<String> = own.flat_map(assumptions::ids).collect();
    // The others are what the first refers to.
    for leaf in old.leaves.iter().take(1) {
        for id in assumptions::of_operation(root, leaf.node).difference(&own) {
            add(verdicts, id.clone(), verdict, leaf.place.clone());
        }
    }
}

fn add(verdicts: &mut Verdicts, id: String, verdict: Verdict, place: String) {
    verdicts.entry(id).or_default().insert((verdict, place));
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
