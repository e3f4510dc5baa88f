//! Compares two facts. The result names the rule of their difference, and its direction.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;

use super::rules::{self, How, Way};

/// A difference of two facts, or a fact that only one side has.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Difference {
    pub(super) what: &'static str,
    pub(super) how: How,
    #[serde(skip)]
    pub(super) way: Way,
    /// The place of the difference, such as `/body` or `.lines`.
    #[serde(skip)]
    pub(super) at: String,
    /// JSON pointers.
    pub(super) old: String,
    pub(super) new: String,
    pub(super) was: String,
    pub(super) is: String,
}

impl Difference {
    pub(super) fn of(what: &'static str, how: How, at: &str, [old, new]: [String; 2]) -> Self {
        Self {
            what,
            how,
            way: Way::Both,
            at: at.to_owned(),
            old,
            new,
            was: String::new(),
            is: String::new(),
        }
    }

    /// Whether it breaks callers that write, and callers that read. `None` if no rule covers it.
    pub(super) fn verdict(&self) -> Option<(bool, bool)> {
        rules::verdict(self.what, self.how, self.way)
    }

    /// The pointer into the new document, or into the old document if the part is gone.
    pub(super) fn pointer(&self) -> &str {
        if self.new.is_empty() {
            &self.old
        } else {
            &self.new
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.what {
            "field" => self.pointer().rsplit('/').next().unwrap_or_default(),
            what => what,
        };
        let [was, is] = [&self.was, &self.is].map(|it| if it.is_empty() { "nothing" } else { it });
        write!(f, "{what} {}: {was} -> {is}", self.how)
    }
}

/// Alternative ways to authenticate, each with its required scopes.
pub(super) type Access = BTreeSet<(String, BTreeSet<String>)>;

/// Values in JSON, whether other values are possible, and whether the value is a constant.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Values {
    pub(super) all: BTreeSet<String>,
    pub(super) open: bool,
    pub(super) constant: bool,
}

#[derive(Debug, PartialEq)]
pub(super) enum Value {
    Text(String),
    /// A flag that admits more values if it is true.
    Wide(bool),
    /// A number, whether it is the lower bound, and whether it is exclusive.
    Bound(f64, bool, bool),
    /// Types. An empty set means any type.
    Kinds(BTreeSet<String>),
    Values(Values),
    Access(Access),
}

impl Value {
    /// Whether this bound admits fewer values than the other bound.
    pub(super) fn is_narrower(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Bound(new, lower, excluded), Self::Bound(old, _, was)) => {
                let moved = if *lower { new > old } else { new < old };
                moved || new.to_bits() == old.to_bits() && *excluded && !was
            }
            _ => false,
        }
    }
}

/// A difference of two facts: the row of its rule, its direction, and the old and new value.
type Found = (&'static str, How, [String; 2]);

/// The differences of two values of a row. Either value may be absent.
pub(super) fn differences(row: &'static str, values: [Option<&Value>; 2]) -> Vec<Found> {
    if values[0] == values[1] {
        return Vec::new();
    }
    let how = match values {
        [Some(Value::Access(old)), Some(Value::Access(new))] => return access(old, new),
        [Some(Value::Kinds(old)), Some(Value::Kinds(new))] => {
            match (covers(old, new), covers(new, old)) {
                (false, false) => How::Other,
                (is_narrower, _) => narrower(is_narrower),
            }
        }
        [Some(Value::Wide(_)), Some(Value::Wide(wide))] => narrower(!wide),
        // The difference of types covers it.
        [None, Some(Value::Wide(_))] | [Some(Value::Wide(_)), None] => return Vec::new(),
        [old, Some(new @ Value::Bound(..))] => narrower(old.is_none_or(|it| new.is_narrower(it))),
        [Some(Value::Bound(..)), None] => How::Wider,
        [
            old @ (None | Some(Value::Values(_))),
            new @ (None | Some(Value::Values(_))),
        ] => return listed([old, new]),
        [None, _] => How::New,
        [_, None] => How::Gone,
        _ => How::Other,
    };
    vec![(row, how, values.map(|it| text(row, it)))]
}

fn narrower(is_narrower: bool) -> How {
    if is_narrower {
        How::Narrower
    } else {
        How::Wider
    }
}

/// Compares constants, enums, and strings with known values.
fn listed(values: [Option<&Value>; 2]) -> Vec<Found> {
    let open = true;
    let any = Values {
        open,
        ..Values::default()
    };
    let [was, is] = values.map(|it| match it {
        Some(Value::Values(values)) => values,
        _ => &any,
    });
    let (row, how) = match (was.constant, is.constant) {
        // A single allowed value and a constant are the same.
        _ if was.all == is.all && was.open == is.open => return Vec::new(),
        _ if was.all == is.all => ("values", narrower(was.open)),
        (true, true) => ("constant", How::Other),
        (true, false) => ("constant", How::Gone),
        (false, true) => ("constant", How::New),
        (false, false) if values.contains(&None) => ("values", narrower(!is.open)),
        (false, false) => {
            let gone = was.all.difference(&is.all);
            let gone = gone.map(|it| ("value", How::Gone, [it.clone(), String::new()]));
            let new = is.all.difference(&was.all);
            let new = new.map(|it| ("value", How::New, [String::new(), it.clone()]));
            return gone.chain(new).collect();
        }
    };
    vec![(row, how, values.map(|it| text(row, it)))]
}

fn access(old: &Access, new: &Access) -> Vec<Found> {
    let mut found = Vec::new();
    let names = |all: &Access| all.iter().map(|it| it.0.clone()).collect::<BTreeSet<_>>();
    let (was, is) = (names(old), names(new));
    let shown = |all: &BTreeSet<String>| join(all, " or ");
    if was != is {
        let how = match () {
            () if is.contains(ANONYMOUS) || is.is_superset(&was) => How::Wider,
            () if was.contains(ANONYMOUS) || was.is_superset(&is) => How::Narrower,
            () => How::Other,
        };
        found.push(("authentication", how, [&was, &is].map(shown)));
    }
    // A former token is still enough if one of the alternatives requires no additional scope.
    let is_lost = |from: &Access, to: &Access| {
        let mut known = from
            .iter()
            .filter(|it| was.contains(&it.0) && is.contains(&it.0));
        known.any(|it| {
            !to.iter()
                .any(|other| other.0 == it.0 && other.1.is_subset(&it.1))
        })
    };
    if is_lost(old, new) || is_lost(new, old) {
        let scopes = [old, new].map(|all| {
            let all = all.iter().map(|it| join(&it.1, " and "));
            shown(&all.filter(|it| !it.is_empty()).collect())
        });
        found.push(("scope", narrower(is_lost(old, new)), scopes));
    }
    found
}

pub(super) const ANONYMOUS: &str = "none";

fn text(row: &str, value: Option<&Value>) -> String {
    let text = match value {
        None | Some(Value::Access(_)) => String::new(),
        Some(Value::Text(text)) => text.clone(),
        Some(Value::Wide(wide)) => {
            let names = match row {
                "required" => ["required", "optional"],
                "null" => ["never null", "null allowed"],
                _ => ["none", "any"],
            };
            names[usize::from(*wide)].to_owned()
        }
        Some(Value::Bound(bound, _, true)) => format!("beyond {bound}"),
        Some(Value::Bound(bound, ..)) => bound.to_string(),
        Some(Value::Kinds(kinds)) if kinds.is_empty() => "any".to_owned(),
        Some(Value::Kinds(kinds)) => join(kinds, " or "),
        Some(Value::Values(it)) => join(&it.all, ", ") + if it.open { ", any other" } else { "" },
    };
    match text.char_indices().nth(120) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

pub(super) fn join(all: &BTreeSet<String>, separator: &str) -> String {
    all.iter().cloned().collect::<Vec<_>>().join(separator)
}

/// Whether every value of the narrow types is a value of the wide types. No type means any value.
fn covers(wide: &BTreeSet<String>, narrow: &BTreeSet<String>) -> bool {
    let is_covered = |kind: &String| {
        let is_text = kind.starts_with("string") && wide.contains("string");
        let is_number = kind == "integer" && wide.contains("number");
        wide.contains(kind) || is_text || is_number
    };
    wide.is_empty() || !narrow.is_empty() && narrow.iter().all(is_covered)
}
