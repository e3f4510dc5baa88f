//! The verdicts of the new document on the assumptions of the old document. An assumption is confirmed if the new document
//! states the same, contradicted if it states something else, void if the part is gone, and not seen if it states nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;

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

#[derive(Clone, Copy)]
enum About {
    Type,
    /// The schema with the assumption, and everything below it.
    Schema,
    /// Rows of the rules.
    Rows(&'static [&'static str]),
    /// The success of calls in their current form.
    Calls,
}

const KEYS: [&str; 2] = ["x-assumption", "x-type-assumption"];

/// The assumptions that concern only a part of an operation.
const ROWS: [(&str, &[&str]); 2] = [("A01", &["id"]), ("A08", &["authentication"])];

/// The assumptions that no document can show. A12 concerns the order of two parameters.
const UNSEEN: [&str; 1] = ["A12"];

/// An assumption about a part of the old document.
#[derive(Clone)]
pub(super) struct Claim {
    pub(super) id: String,
    key: &'static str,
    /// The place of the part in its operation or its schema.
    pub(super) at: String,
    /// A JSON pointer.
    pub(super) place: String,
    about: About,
}

/// The verdicts on assumptions at each of their places.
pub(super) type Verdicts = BTreeMap<String, BTreeSet<(Verdict, String)>>;

impl Claim {
    pub(super) fn all(node: &Node, place: &str, at: &str) -> Vec<Self> {
        let mut claims = Vec::new();
        for key in KEYS {
            for id in assumptions::ids(node.at(key)) {
                let about = match ROWS.iter().find(|it| it.0 == id) {
                    _ if key == "x-type-assumption" => About::Type,
                    _ if !is_operation(place) => About::Schema,
                    Some((_, rows)) => About::Rows(rows),
                    None => About::Calls,
                };
                claims.push(Self {
                    id,
                    key,
                    at: at.to_owned(),
                    place: place.to_owned(),
                    about,
                });
            }
        }
        claims
    }

    /// Whether the new document can confirm or contradict the assumption.
    pub(super) fn is_seen(&self, new: &[Self]) -> bool {
        let is_still = |it: &Self| (it.key, &it.id, &it.at) == (self.key, &self.id, &self.at);
        let is_reply = self.at.starts_with("/response ");
        !is_reply && !UNSEEN.contains(&&*self.id) && !new.iter().any(is_still)
    }

    /// The verdict from the differences of the two parts and everything below them.
    pub(super) fn verdict<'d>(&self, differences: impl Iterator<Item = &'d Difference>) -> Verdict {
        let verdicts = differences.filter_map(|it| self.judged(it));
        verdicts.min().unwrap_or(Verdict::Confirmed)
    }

    fn judged(&self, difference: &Difference) -> Option<Verdict> {
        let (breaks_writers, breaks_readers) = difference.verdict()?;
        let (what, how, is) = (difference.what, difference.how, &*difference.is);
        let concerns = match self.about {
            About::Type => what == "type",
            About::Schema => !matches!(what, "required" | "deprecated" | "additional properties"),
            About::Rows(rows) => rows.contains(&what),
            About::Calls => {
                (breaks_writers || breaks_readers) && !matches!(what, "authentication" | "scope")
            }
        };
        let is_part = matches!(what, "property" | "required property" | "value" | "variant");
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

fn is_operation(place: &str) -> bool {
    place.starts_with("/paths/") && place.matches('/').count() == 3
}

/// Marks the assumptions of adopted operations as not seen, because unchanged calls are no evidence for them.
pub(super) fn left_open(verdicts: &mut Verdicts) {
    let others = |it: &(&String, _)| ROWS.iter().all(|row| row.0 != it.0);
    for (_, places) in verdicts.iter_mut().filter(others) {
        let open = std::mem::take(places).into_iter().map(|it| match it {
            (Verdict::Confirmed, place) if is_operation(&place) => (Verdict::NotSeen, place),
            other => other,
        });
        *places = open.collect();
    }
}

/// The verdict on an assumption across all its places.
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
