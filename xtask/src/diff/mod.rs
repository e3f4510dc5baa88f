//! Compares two versions of a document. The report lists the changes, the callers that they break, the affected public names
//! of the SDK, and the affected assumptions. It writes no code.
//!
//! Both documents are flattened. The document, each operation and each schema become a map from a place and a rule to a fact.
//! The maps are then compared, and schemas are compared in pairs along the references. `read` merges schemas and infers types,
//! and the model has the public names. The facts come from the document itself, because the model has only the facts that a
//! client needs. The model lacks error bodies, schemas of headers, and everything below a raw JSON value. A field that no rule
//! covers is listed as not understood, so that no difference is missed.
#![doc = include_str!("rules.md")]

mod assumed;
mod change;
mod compare;
mod flat;
mod names;
mod operation;
mod report;
mod rules;
mod schema;
#[cfg(test)]
mod tests;
mod value;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

pub(crate) use assumed::Verdict;
use assumed::Verdicts;
use change::Changes;
use compare::Pairs;
pub(crate) use report::Assumption;
use report::Report;

use crate::findings::{Findings, Weight};
use crate::model::App;
use crate::model::Spec;
use crate::node::Node;
use crate::{Result, assumptions, at, read};

/// `contract-diff OLD NEW [--json|--markdown] [--app NAME]`.
///
/// The exit status is 0 if nothing breaks, 1 if something breaks, and 2 if the result is unclear.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> ExitCode {
    match report(root, arguments) {
        Ok((text, status)) => {
            print!("{text}");
            ExitCode::from(status)
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn report(root: &Path, arguments: &[&str]) -> Result<(String, u8)> {
    let (mut files, mut form, mut app) = (Vec::new(), "", None);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match *argument {
            "--json" | "--markdown" if !form.is_empty() && form != *argument => {
                return Err("`--json` and `--markdown` are mutually exclusive".to_owned());
            }
            "--json" | "--markdown" => form = argument,
            "--app" => app = Some(*rest.next().ok_or("`--app` needs a name")?),
            option if option.starts_with('-') => return Err(format!("unknown option `{option}`")),
            file => files.push(file),
        }
    }
    let [old, new] = files[..] else {
        return Err("contract-diff needs two files".to_owned());
    };
    let stem = |file| Path::new(file).file_stem().and_then(|it| it.to_str());
    let known = |name: &&str| App::named(name).is_some();
    let guess = [stem(old), stem(new)].into_iter().flatten().find(known);
    let name = app.or(guess).unwrap_or("crm");
    let app = App::named(name).ok_or_else(|| format!("there is no application `{name}`"))?;
    let open = |file: &str| {
        let text = std::fs::read_to_string(file).map_err(at(file))?;
        let node = Node::parse(&text).map_err(at(file))?;
        let version = node.text_at("openapi").unwrap_or_default();
        let is_supported = version.starts_with("3.0.") || version.starts_with("3.1.");
        is_supported
            .then_some(node)
            .ok_or_else(|| format!("{file}: this is not an OpenAPI 3.0 or 3.1 document"))
    };
    let register = std::fs::read_to_string(root.join("specs/ASSUMPTIONS.md")).unwrap_or_default();
    let (old, new) = (open(old)?, open(new)?);
    let report = compare(&Side::of(app, &old), &Side::of(app, &new), &register);
    Ok((report.written(form)?, report.status()))
}

/// The operations with changes on the wire, such as `POST /invoices`. An ID is never sent.
pub(crate) fn changed(old: &Node, new: &Node) -> BTreeSet<String> {
    let changes = Changes::of([old, new], &Pairs::of(old, new)).known;
    let changes = changes
        .into_values()
        .filter(|it| it.difference.what != "id");
    let uses = changes.flat_map(|it| it.uses);
    uses.map(|it| it.operation).collect()
}

/// The verdicts of a new document on the assumptions of the old document, with their places in the old document.
pub(crate) fn assumed(old: &Node, new: &Node, register: &str) -> Vec<Assumption> {
    judged(Pairs::of(old, new).verdicts, old, register)
}

fn judged(mut verdicts: Verdicts, old: &Node, register: &str) -> Vec<Assumption> {
    for id in assumptions::of(old) {
        let nowhere = || BTreeSet::from([(Verdict::NotSeen, String::new())]);
        verdicts.entry(id).or_insert_with(nowhere);
    }
    if old.get("x-adopted-from").is_some() {
        assumed::left_open(&mut verdicts);
    }
    let title = |id: &str| {
        let mut lines = register.lines().filter_map(|it| it.strip_prefix("## "));
        let line = lines.find_map(|it| it.strip_prefix(id)?.strip_prefix(' '));
        line.unwrap_or_default().to_owned()
    };
    let judged = verdicts.into_iter().map(|(id, places)| Assumption {
        title: title(&id),
        id,
        verdict: assumed::overall(&places),
        places: places.into_iter().collect(),
    });
    judged.collect()
}

struct Side<'a> {
    document: &'a Node,
    spec: Option<Spec>,
    rejected: Vec<String>,
}

impl<'a> Side<'a> {
    fn of(app: &'static App, document: &'a Node) -> Self {
        let mut findings = Findings::default();
        let spec = read::read_document(app, document, &mut findings);
        let rejected = findings.of(Weight::Rejected).map(ToString::to_string);
        Self {
            document,
            spec,
            rejected: rejected.collect(),
        }
    }
}

fn compare(old: &Side<'_>, new: &Side<'_>, register: &str) -> Report {
    let roots = [old.document, new.document];
    let pairs = Pairs::of(roots[0], roots[1]);
    let changes = Changes::of(roots, &pairs);
    let names = match (&old.spec, &new.spec) {
        (Some(was), Some(is)) => names::compare(was, is, &pairs.routes, &pairs.places),
        _ => Vec::new(),
    };
    let refused_old = old.rejected.iter().map(|it| format!("old: {it}"));
    let refused_new = new.rejected.iter().map(|it| format!("new: {it}"));
    Report {
        old: version(old.document),
        new: version(new.document),
        changes: changes.known.into_values().collect(),
        names,
        assumptions: judged(pairs.verdicts, old.document, register),
        not_understood: changes.not_understood.into_iter().collect(),
        rejected: refused_old.chain(refused_new).collect(),
    }
}

fn version(document: &Node) -> String {
    let info = document.at("info");
    let [title, version] = ["title", "version"].map(|it| info.at(it).plain());
    format!("{title} {version}")
}
