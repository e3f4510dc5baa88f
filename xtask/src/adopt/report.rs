//! What a person reads after a document was taken over.

use std::fmt;

use super::document::{Document, route};
use super::propose::{Action, Decision, Name, Names};
use crate::diff::Assumption;
use crate::findings::{Findings, Weight};
use crate::model::{Auth, Operation, Safety, Spec};
use crate::node::Node;
use crate::write::rust::reply_type;

pub(super) struct Report<'a> {
    pub(super) spec: Option<&'a Spec>,
    pub(super) before: Option<&'a Node>,
    pub(super) laid: &'a Node,
    pub(super) findings: &'a Findings,
    pub(super) derived: &'a [Action],
    pub(super) accepted: &'a [Action],
    pub(super) gone: &'a [Action],
    /// By route, what each operation was called.
    pub(super) names: &'a Names,
    pub(super) decisions: &'a [Decision<'a>],
    /// What the document says of the assumptions of the spec before.
    pub(super) assumed: &'a [Assumption],
    /// The handwritten modules of the client that cannot be compiled any more.
    pub(super) left_out: &'a [String],
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(spec) = self.spec {
            self.operations(f, spec)?;
        }
        for (weight, title) in [
            (Weight::Raw, "Kept as raw JSON or text"),
            (Weight::Renamed, "Renamed"),
            (Weight::Noted, "Noted"),
        ] {
            list(f, title, self.findings.of(weight))?;
        }
        list(
            f,
            "Added to the overlay, since it follows",
            self.derived.iter().map(line),
        )?;
        list(
            f,
            "Added to the overlay, as proposed",
            self.accepted.iter().map(line),
        )?;
        list(
            f,
            "Taken out of the overlay, since its target is gone",
            self.gone.iter().map(line),
        )?;
        let operations = self.spec.map_or(&[][..], |it| &it.operations);
        let renamed = renamed(operations, self.names);
        list(f, "Names that change", renamed.iter())?;
        let title = "Handlers of the reference server that are idle now";
        list(f, title, self.idle(operations).iter())?;
        let title = "Handwritten modules that are left out";
        list(f, title, self.left_out.iter())?;
        list(f, "Assumptions", self.assumed.iter())?;
        list(f, "Decisions", self.decisions.iter())
    }
}

pub(super) fn renamed(operations: &[Operation], names: &Names) -> Vec<String> {
    let other = operations.iter().filter_map(|it| {
        let route = route(it.method.key(), &it.path);
        let Name { group, method, .. } = names.get(&route)?;
        let is_other = (group, method) != (&it.group, &it.name);
        is_other.then(|| format!("{route}: {group}.{method} becomes {}.{}", it.group, it.name))
    });
    other.collect()
}

impl fmt::Display for Decision<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rule, remedy) = (&self.findings[0].rule, &self.findings[0].remedy);
        write!(f, "{rule}; {remedy}")?;
        for finding in &self.findings {
            write!(f, "\n    {}", finding.place)?;
        }
        let actions = self.actions.iter();
        write!(
            f,
            "\n{}",
            actions.map(ToString::to_string).collect::<String>()
        )
    }
}

/// A heading with a count, and a line for each; nothing where there is nothing.
fn list<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    title: &str,
    all: impl Iterator<Item = T>,
) -> fmt::Result {
    let all: Vec<String> = all.map(|it| format!("  {it}\n")).collect();
    if all.is_empty() {
        return Ok(());
    }
    write!(f, "\n{title} ({})\n{}", all.len(), all.concat())
}

fn line(action: &Action) -> String {
    let update = serde_json::to_string(&action.update).unwrap_or_default();
    format!("{}: {update}", action.target)
}

impl Report<'_> {
    /// The handlers of operations that had one before, and are served from their schemas.
    fn idle(&self, operations: &[Operation]) -> Vec<String> {
        let before = self.before.map(|root| Document { root });
        let idle = operations.iter().filter(|it| it.served).filter_map(|it| {
            let route = route(it.method.key(), &it.path);
            let was = before?.call(&route)?;
            let Name { group, method, .. } = self.names.get(&route)?;
            let app = self.spec?.app.name;
            let is_new = was.raw.get("x-served-from-schema").is_none();
            let line =
                || format!("{app}::{group}::{method} no longer fits: it is served from the schema");
            is_new.then(line)
        });
        idle.collect()
    }

    fn operations(&self, f: &mut fmt::Formatter<'_>, spec: &Spec) -> fmt::Result {
        let before: Vec<String> = self.before.map_or(Vec::new(), |root| {
            Document { root }.calls().map(|call| call.route()).collect()
        });
        let now: Vec<String> = Document { root: self.laid }
            .calls()
            .map(|call| call.route())
            .collect();
        let new = now.iter().filter(|it| !before.contains(it)).count();
        writeln!(
            f,
            "{} {}: {} operations, {new} of them new, {} left out",
            spec.title,
            spec.version,
            now.len(),
            spec.skipped.len()
        )?;
        for it in &spec.operations {
            let is_new = !before.contains(&route(it.method.key(), &it.path));
            let mark = if is_new { '+' } else { ' ' };
            let scopes = match it.auth {
                Auth::Public => "public".to_owned(),
                Auth::Bearer if it.scopes.is_empty() => "any token".to_owned(),
                Auth::Bearer => it.scopes.join(" | "),
                Auth::Client => "client credential".to_owned(),
            };
            let (method, path) = (it.method.name(), &it.path);
            let (group, name, safety) = (&it.group, &it.name, safety(it));
            let reply = reply_type(&spec.schemas, &it.reply);
            writeln!(
                f,
                "{mark} {method:6} {path}\n      {group}.{name}, {safety}, {reply}, {scopes}"
            )?;
        }
        list(
            f,
            "Left out",
            spec.skipped
                .iter()
                .map(|it| format!("{}: {}", it.route, it.reason)),
        )?;
        let gone = before.iter().filter(|it| !now.contains(it));
        list(f, "Gone", gone)
    }
}

fn safety(operation: &Operation) -> &'static str {
    match operation.safety {
        Safety::Read => "read",
        Safety::Keyed => "keyed command",
        Safety::Idempotent => "idempotent command",
        Safety::Unkeyed => "command without a key",
    }
}
