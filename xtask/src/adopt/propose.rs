//! Actions for the overlay, which follow from the former spec or resolve a rejection.

use std::collections::BTreeSet;

use super::overlay::{Action, Members, path};
use super::{by_route, place, route, types};
use crate::diff::{Assumption, Verdict};
use crate::findings::{Findings, Weight};
use crate::model::{Method, Operation, Replay, Spec};
use crate::names;
use crate::node::{Node, step};
use crate::read::{follow, references};

/// A spec as a document and as a model.
#[derive(Clone, Copy)]
pub(super) struct Read<'a> {
    pub(super) root: &'a Node,
    pub(super) spec: &'a Spec,
}

/// Statements of our contract about an application, which a vendor's document lacks.
const STATUS: [&str; 4] = [
    "x-lifecycle",
    "x-runtime-status",
    "x-documents-envelope",
    "x-metadata-operation",
];

/// Serves an operation from its schema if it is new or its messages changed, because no handler fits it. An ID that
/// another application uses is replaced, because the reference server has one list of all operations.
pub(super) fn without_handlers(
    before: Option<Read<'_>>,
    after: Read<'_>,
    changed: &BTreeSet<String>,
    others: &BTreeSet<String>,
) -> Vec<Action> {
    let known = before.map(|it| by_route(it.spec)).unwrap_or_default();
    let mut actions = Vec::new();
    for it in &after.spec.operations {
        let route = route(&it.route());
        // Without its handler, the exchange would issue tokens that no application accepts.
        let is_exchange = it.body.as_ref().is_some_and(|body| body.form);
        let is_new = !known.contains_key(&route);
        let mut update = Members::new();
        if is_new || changed.contains(&route) && !is_exchange {
            update.push(("x-served-from-schema".to_owned(), Node::Bool(true)));
        }
        if is_new && others.contains(&it.id) {
            let id = names::camel(&format!("{} {}", after.spec.app.name, it.id));
            update.push(("operationId".to_owned(), Node::Text(id)));
            update.push(("x-sdk-method".to_owned(), Node::Text(it.name.clone())));
        }
        actions.extend(action(after.root, it, update));
    }
    actions
}

/// Preserves parts of the former spec: names that callers use, rules of our contract, and open assumptions.
pub(super) fn preserved(before: Read<'_>, after: Read<'_>, assumed: &[Assumption]) -> Vec<Action> {
    let known = by_route(before.spec);
    let mut actions = Vec::new();
    let status = status(before, after);
    if !status.is_empty() {
        actions.push(Action::new("$.info".to_owned(), status));
    }
    for is in &after.spec.operations {
        let Some(was) = known.get(&route(&is.route())) else {
            continue;
        };
        let mut update = former_names(was, is);
        // Another operation of the document may have the former ID now.
        let others = after
            .spec
            .operations
            .iter()
            .filter(|it| it.route() != is.route());
        if others.map(|it| &it.id).any(|id| *id == was.id) {
            update.retain(|(key, _)| key != "operationId");
        }
        let open = open(before.root, was, assumed);
        if !open.is_empty() {
            update.push(("x-assumption".to_owned(), Node::List(open)));
        }
        update.extend(rules(was, is));
        actions.extend(action(after.root, is, update));
    }
    let types = types::preserved(before.spec, after.spec, after.root);
    actions.extend(types.into_iter().map(|(target, name)| {
        let name = ("x-sdk-name".to_owned(), Node::Text(name));
        Action::new(target, vec![name])
    }));
    actions
}

/// The action that adds fields to an operation, without the fields that the overlay already sets.
fn action(root: &Node, operation: &Operation, mut update: Members) -> Option<Action> {
    // A path item may be a reference.
    let item = step("/paths", &operation.path);
    let reference = root.pointer(&item)?.text_at("$ref");
    let item = reference.map_or(Some(item), |it| Some(follow(root, it)?.0))?;
    let place = step(&item, operation.method.key());
    let raw = root.pointer(&place)?;
    update.retain(|(key, _)| key == "operationId" || raw.get(key).is_none());
    let target = path(root, &place).filter(|_| !update.is_empty())?;
    Some(Action::new(target, update))
}

fn status(before: Read<'_>, after: Read<'_>) -> Members {
    let (was, is) = (before.root.at("info"), after.root.at("info"));
    let known = by_route(after.spec);
    let metadata = before.spec.metadata_operation();
    let reports = metadata.is_some_and(|it| known.contains_key(&route(&it.route())));
    let missing = STATUS.into_iter().filter(|key| is.get(key).is_none());
    missing
        .filter(|key| reports || *key != "x-metadata-operation")
        .filter_map(|key| Some((key.to_owned(), was.get(key)?.clone())))
        .collect()
}

/// All former names, if any would change. The ID is never sent, but stored commands contain it.
fn former_names(was: &Operation, is: &Operation) -> Members {
    let names = [
        ("operationId", &was.id, &is.id),
        ("x-sdk-group", &was.group, &is.group),
        ("x-sdk-method", &was.name, &is.name),
    ];
    if names.iter().all(|(_, was, is)| was == is) {
        return Members::new();
    }
    let names = names.map(|(key, was, _)| (key.to_owned(), Node::Text(was.clone())));
    names.into()
}

/// The assumptions of an operation that the document neither confirms nor contradicts.
fn open(root: &Node, operation: &Operation, assumed: &[Assumption]) -> Vec<Node> {
    let place = place(operation);
    let mut reached = BTreeSet::new();
    if let Some(raw) = root.pointer(&place) {
        references(root, raw, &mut reached);
    }
    reached.insert(place);
    let is_within = |place: &str| {
        let place = format!("{place}/");
        reached
            .iter()
            .any(|it| place.starts_with(&format!("{it}/")))
    };
    let is_open = |it: &&Assumption| {
        let mut places = it.places.iter();
        places.any(|(seen, place)| *seen == Verdict::NotSeen && is_within(place))
    };
    let open = assumed.iter().filter(is_open);
    open.map(|it| Node::Text(it.id.clone())).collect()
}

/// The rules of our contract for an operation, as far as the document allows them.
fn rules(was: &Operation, is: &Operation) -> Members {
    let mut rules = Members::new();
    if let (Replay::Status(status), Replay::Undocumented) = (was.replay, is.replay)
        && is.statuses.documented.iter().any(|it| it.0 == status)
    {
        rules.push(("x-replay-status".to_owned(), Node::Number(status.into())));
    }
    let is_there = |name| is.parameter(name).is_some_and(|it| !it.required);
    let pairs = was.exclusive.iter();
    let pairs = pairs.filter(|(left, right)| is_there(left) && is_there(right));
    let pairs = pairs.map(|(left, right)| [left, right].map(|it| Node::Text(it.clone())));
    let pairs: Vec<Node> = pairs.map(|it| Node::List(it.into())).collect();
    if !pairs.is_empty() {
        rules.push(("x-mutually-exclusive".to_owned(), Node::List(pairs)));
    }
    rules
}

/// The actions that leave out each operation with a rejection in it or in a part that it references.
pub(super) fn skips(findings: &Findings, document: &Node) -> Vec<Action> {
    let mut skips = Vec::<Action>::new();
    for (name, item) in document.at("paths").members() {
        for method in Method::ALL {
            let item_place = step("/paths", name);
            let Some(operation) = item.get(method.key()) else {
                continue;
            };
            let place = step(&item_place, method.key());
            let mut parts = BTreeSet::from([place.clone(), step(&item_place, "parameters")]);
            references(document, operation, &mut parts);
            references(document, item.at("parameters"), &mut parts);
            // Every schema is read, even if no operation uses it.
            parts.retain(|it| !it.starts_with("/components/schemas/"));
            let is_within = |it: &str| {
                parts
                    .iter()
                    .any(|part| it == part || it.starts_with(&step(part, "")))
            };
            // Only a person can correct an invalid extension of this workspace.
            let mut rejected = findings.of(Weight::Rejected);
            let found = rejected.find(|it| is_within(&it.place) && !it.rule.contains("`x-"));
            if let Some((finding, target)) = found.zip(path(document, &place)) {
                let reason = Node::Text(finding.rule.clone());
                skips.push(Action::new(target, vec![("x-sdk-skip".to_owned(), reason)]));
            }
        }
    }
    skips
}
