//! Two facts side by side: which rule their difference falls under, and which way it goes.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;

use super::part::{Access, Fact, Step, Value, Values};
use super::rules::{self, How, Way};

/// A difference of two parts, or a part below them that only one side has.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Difference {
    pub(super) what: &'static str,
    pub(super) how: How,
    #[serde(skip)]
    pub(super) way: Way,
    /// JSON pointers.
    pub(super) old: String,
    pub(super) new: String,
    pub(super) was: String,
    pub(super) is: String,
    #[serde(skip)]
    pub(super) below: Option<Step>,
}

impl Difference {
    pub(super) fn of(what: &'static str, how: How, way: Way, [old, new]: [String; 2]) -> Self {
        Self {
            what,
            how,
            way,
            old,
            new,
            was: String::new(),
            is: String::new(),
            below: None,
        }
    }

    pub(super) fn with(self, [was, is]: [String; 2]) -> Self {
        Self { was, is, ..self }
    }

    /// Whether it breaks callers that write, and callers that read; none if no rule knows it.
    pub(super) fn verdict(&self) -> Option<(bool, bool)> {
        rules::verdict(self.what, self.how, self.way)
    }

    pub(super) fn texts(&self) -> [&str; 4] {
        [&self.old, &self.new, &self.was, &self.is]
    }

    /// Where it is: in the new document, if that has it.
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
        let [was, is] =
            [&*self.was, &*self.is].map(|it| if it.is_empty() { "nothing" } else { it });
        let how = format!("{:?}", self.how).to_lowercase();
        write!(f, "{what} {how}: {was} -> {is}")
    }
}

/// What differs in two facts: the row of its rule, which way it goes, and what was and is.
type Found = (&'static str, How, [String; 2]);

/// What two facts come to, or one and none.
pub(super) fn differences(sides: [Option<&Fact>; 2]) -> Vec<Found> {
    let row = sides.iter().flatten().next().map_or("", |it| it.row);
    let values = sides.map(|it| it.map(|it| &it.value));
    if values[0] == values[1] {
        return Vec::new();
    }
    let how = |narrower| if narrower { How::Narrower } else { How::Wider };
    let how = match values {
        [Some(Value::Access(old)), Some(Value::Access(new))] => return access(old, new),
        [Some(Value::Kinds(old)), Some(Value::Kinds(new))] => {
            match (covers(old, new), covers(new, old)) {
                (false, false) => How::Other,
                (narrower, _) => how(narrower),
            }
        }
        [Some(Value::Wide(_)), Some(Value::Wide(wide))] => how(!wide),
        [Some(old @ Value::Bound(..)), Some(new @ Value::Bound(..))] => how(new.is_narrower(old)),
        [None, Some(Value::Bound(..))] => How::Narrower,
        [Some(Value::Bound(..)), None] => How::Wider,
        [
            old @ (None | Some(Value::Values(_))),
            new @ (None | Some(Value::Values(_))),
        ] => {
            return listed(old, new);
        }
        // The type says it already.
        [None, Some(Value::Wide(_))] | [Some(Value::Wide(_)), None] => return Vec::new(),
        [None, _] => How::New,
        [_, None] => How::Gone,
        _ => How::Other,
    };
    vec![(row, how, values.map(|it| text(row, it)))]
}

/// Constants, enumerations, and texts of which some are known.
fn listed(old: Option<&Value>, new: Option<&Value>) -> Vec<Found> {
    let texts = || [old, new].map(|it| text("", it));
    let any = Values {
        all: BTreeSet::new(),
        open: true,
        constant: false,
    };
    let [was, is] = [old, new].map(|it| match it {
        Some(Value::Values(values)) => values,
        _ => &any,
    });
    let widened = if is.open { How::Wider } else { How::Narrower };
    let (row, how) = match (was.constant, is.constant) {
        // Of one value, it is the same whether it is called constant.
        _ if was.all == is.all => {
            return Vec::from_iter((was.open != is.open).then(|| ("values", widened, texts())));
        }
        (true, true) => ("constant", How::Other),
        (true, false) => ("constant", How::Gone),
        (false, true) => ("constant", How::New),
        (false, false) if old.is_none() || new.is_none() => ("values", widened),
        (false, false) => {
            let gone = was
                .all
                .difference(&is.all)
                .map(|it| (How::Gone, [it.clone(), String::new()]));
            let fresh = is
                .all
                .difference(&was.all)
                .map(|it| (How::New, [String::new(), it.clone()]));
            return gone
                .chain(fresh)
                .map(|(how, values)| ("value", how, values))
                .collect();
        }
    };
    vec![(row, how, texts())]
}

fn access(old: &Access, new: &Access) -> Vec<Found> {
    let mut found = Vec::new();
    let [was, is] =
        [old, new].map(|all| all.iter().map(|it| it.0.clone()).collect::<BTreeSet<_>>());
    let named = |all: &BTreeSet<String>| {
        let all: Vec<&str> = all
            .iter()
            .map(|it| if it.is_empty() { "nobody" } else { it })
            .collect();
        all.join(" or ")
    };
    if was != is {
        let how = match () {
            () if is.contains("") || is.is_superset(&was) => How::Wider,
            () if was.contains("") || was.is_superset(&is) => How::Narrower,
            () => How::Other,
        };
        found.push(("authentication", how, [named(&was), named(&is)]));
    }
    // A token that was enough still is, if one of the alternatives asks for no more.
    let admits = |all: &Access, token: &(String, BTreeSet<String>)| {
        all.iter()
            .any(|it| it.0 == token.0 && it.1.is_subset(&token.1))
    };
    let lost = |from: &Access, to: &Access| {
        let mut known = from
            .iter()
            .filter(|it| was.contains(&it.0) && is.contains(&it.0));
        known.any(|it| !admits(to, it))
    };
    let scopes = |all: &Access| {
        let all = all
            .iter()
            .map(|it| join(&it.1, " and "))
            .filter(|it| !it.is_empty());
        join(&all.collect(), " or ")
    };
    if lost(old, new) {
        found.push(("scope", How::Narrower, [scopes(old), scopes(new)]));
    } else if lost(new, old) {
        found.push(("scope", How::Wider, [scopes(old), scopes(new)]));
    }
    found
}

/// A value for people, as its row has it.
fn text(row: &str, value: Option<&Value>) -> String {
    let text = match value {
        None | Some(Value::Access(_)) => String::new(),
        Some(Value::Said(text) | Value::Unknown(text)) => text.clone(),
        Some(Value::Wide(wide)) => {
            let names = match row {
                "required" => ["required", "optional"],
                "null" => ["never null", "null, too"],
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

fn join(all: &BTreeSet<String>, separator: &str) -> String {
    all.iter().cloned().collect::<Vec<_>>().join(separator)
}

/// Whether every value of some types is one of others; no type at all is any value.
fn covers(wide: &BTreeSet<String>, narrow: &BTreeSet<String>) -> bool {
    let covered = |kind: &String| {
        let wider = if kind.starts_with("string") {
            "string"
        } else {
            "number"
        };
        let is_wider = kind.starts_with("string") || kind == "integer";
        wide.contains(kind) || is_wider && wide.contains(wider)
    };
    wide.is_empty() || !narrow.is_empty() && narrow.iter().all(covered)
}
