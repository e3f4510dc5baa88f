//! The report, which is printed before anything is written.

use std::collections::BTreeMap;
use std::fmt::Display;

use super::overlay::Action;
use super::propose::Read;
use super::{by_route, route};
use crate::diff::Assumption;
use crate::findings::{Findings, Weight};
use crate::model::{Operation, Spec};
use crate::write::rust::reply_type;

pub(super) struct Report<'a> {
    pub(super) before: Option<Read<'a>>,
    pub(super) spec: &'a Spec,
    pub(super) findings: &'a Findings,
    pub(super) added: &'a [Action],
    pub(super) gone: &'a [Action],
    /// Actions that resolve rejections.
    pub(super) skips: &'a [Action],
    /// The verdicts of the document on the assumptions of the former spec.
    pub(super) assumed: &'a [Assumption],
    /// Findings about handwritten modules of the client that no longer compile.
    pub(super) left_out: &'a [String],
}

impl Report<'_> {
    pub(super) fn text(&self) -> String {
        let spec = self.spec;
        let skipped = spec.skipped.iter();
        let skipped = skipped.map(|it| format!("{}: {}", it.route, it.reason));
        let found = |weight| self.findings.of(weight);
        let was = self.before.map(|it| by_route(it.spec)).unwrap_or_default();
        let is = by_route(spec);
        let gone = was.iter().filter(|it| !is.contains_key(it.0));
        [
            self.operations(&was),
            list("Left out", skipped),
            list("No longer generated", gone.map(|it| it.1.route())),
            list("Read as raw JSON or as a string", found(Weight::Raw)),
            list("Renamed", found(Weight::Renamed)),
            list("Noted", found(Weight::Noted)),
            list("Added to the overlay", self.added.iter().map(line)),
            list(
                "Removed from the overlay, because nothing matches",
                self.gone.iter().map(line),
            ),
            list(
                "Handlers of the reference server that are idle now",
                idle(spec.app.name, &was, &is),
            ),
            list(
                "Handwritten modules that are left out",
                self.left_out.iter(),
            ),
            list("Assumptions", self.assumed.iter()),
            list("Decisions", decisions(self.findings).into_iter()),
            list("Proposed, for --accept", self.skips.iter().map(line)),
        ]
        .concat()
    }

    fn operations(&self, was: &Known<'_>) -> String {
        let spec = self.spec;
        let mut new = 0;
        let lines = spec.operations.iter().map(|it| {
            let old = was.get(&route(&it.route()));
            new += usize::from(old.is_none());
            let mark = if old.is_none() { '+' } else { ' ' };
            let name = |it: &Operation| format!("{}.{}", it.group, it.name);
            let old = old.map(|old| name(old)).filter(|old| *old != name(it));
            let was = old.map_or_else(String::new, |old| format!(" (was {old})"));
            let reply = reply_type(&spec.schemas, &it.reply);
            format!("{mark} {}: {}{was}, {reply}\n", it.route(), name(it))
        });
        let lines: String = lines.collect();
        let (title, version) = (&spec.title, &spec.version);
        let (count, skipped) = (spec.operations.len(), spec.skipped.len());
        format!(
            "{title} {version}: {count} operations, {new} of them new, {skipped} left out\n{lines}"
        )
    }
}

type Known<'a> = BTreeMap<String, &'a Operation>;

/// The handlers that no longer serve any operation.
fn idle(app: &str, was: &Known<'_>, is: &Known<'_>) -> impl Iterator<Item = String> {
    let had = was.iter().filter(|it| !it.1.without_handler);
    had.filter_map(move |(route, old)| {
        let problem = match is.get(route) {
            Some(new) if new.without_handler => {
                "no longer fits, because its operation is served from the schema"
            }
            Some(_) => return None,
            None => "serves nothing, because its operation is no longer generated",
        };
        let (group, name) = (&old.group, &old.name);
        Some(format!("{app}::{group}::{name} {problem}"))
    })
}

/// The open decisions, each with its rule and the rejected places.
pub(super) fn decisions(findings: &Findings) -> Vec<String> {
    let mut decisions = BTreeMap::<String, Vec<&str>>::new();
    for it in findings.of(Weight::Rejected) {
        let decision = decisions.entry(format!("{}; {}", it.rule, it.remedy));
        decision.or_default().push(&it.place);
    }
    let decisions = decisions.into_iter();
    decisions
        .map(|(rule, places)| format!("{rule}\n    {}", places.join("\n    ")))
        .collect()
}

/// A heading with a count, and a line per entry. Empty without entries.
fn list<T: Display>(title: &str, all: impl Iterator<Item = T>) -> String {
    let all: Vec<String> = all.map(|it| format!("  {it}\n")).collect();
    if all.is_empty() {
        return String::new();
    }
    format!("\n{title} ({})\n{}", all.len(), all.concat())
}

fn line(action: &Action) -> String {
    action.to_string().trim().to_owned()
}
