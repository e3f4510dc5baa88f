//! Reads an entire document, with its metadata, groups, operations and schemas.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use super::call::{Call, Names};
use super::keywords::note_unused;
use super::reader::Reader;
use super::structure::{base_path, references, resolved};
use super::{crosscheck, derive, directions, graph, ours, settle};
use crate::Result;
use crate::findings::{Finding, Findings, Weight};
use crate::model::{App, Group, Method, Operation, Reach, Skipped, Spec};
use crate::names;
use crate::node::{Node, step};

/// Fields of a document that are supported, or that don't affect calls.
const ROOT: &[&str] = &[
    "openapi",
    "info",
    "servers",
    "tags",
    "paths",
    "components",
    "security",
    "externalDocs",
    "jsonSchemaDialect",
];

/// Reads a spec of this workspace, with the types of its fields and parameters. All rejections are one error.
pub(crate) fn own_spec(app: &'static App, text: &str, findings: &mut Findings) -> Result<Spec> {
    let document = Node::parse(text)?;
    let spec = read_document(app, &document, findings);
    if document.get("x-adopted-from").is_none() {
        ours::conventions(&document, findings);
        findings.reject_all();
    }
    findings.settled()?;
    spec.ok_or_else(|| "it is not an OpenAPI document".to_owned())
}

/// Reads our own or a vendor's document. `None` if it is not a supported `OpenAPI` document.
pub(crate) fn read_document(
    app: &'static App,
    document: &Node,
    findings: &mut Findings,
) -> Option<Spec> {
    let version = document.text_at("openapi").unwrap_or_default();
    if !["3.0.", "3.1."].iter().any(|it| version.starts_with(it)) {
        let version = if version.is_empty() {
            document.at("swagger").plain()
        } else {
            version.to_owned()
        };
        let rule = format!("OpenAPI {version} is not supported");
        findings.reject("/openapi", rule, "convert it to 3.0 or 3.1");
        return None;
    }
    ours::check(document, findings);
    note_unused(document, "", ROOT, findings);
    let info = document.at("info");
    let text = |key| info.text_at(key).map(str::to_owned);
    let title = text("title").unwrap_or_default();
    // The title may have several lines.
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    let title = title.trim_end_matches(" API").to_owned();
    let source = format!("{title} {}", info.at("version").plain());

    let mut skipped = Vec::new();
    let calls = calls(document, &mut skipped, findings);
    let names = operation_names(&calls, findings);
    let mut taken = BTreeMap::new();
    for name in names
        .iter()
        .flat_map(|it| [names::pascal(&it.id), names::group_type(&it.group)])
    {
        taken.insert(name, "the public API of the client".to_owned());
    }
    for name in names::taken_types() {
        taken.insert(name.to_owned(), "the SDK".to_owned());
    }
    let objects = graph::objects(document);
    let objects = objects.map_err(|error| findings.reject("/components/schemas", error, ""));
    let objects = objects.ok()?;
    let mut reader = Reader {
        root: document,
        findings,
        objects,
        entries: IndexMap::new(),
        names: taken,
    };
    reader.components();
    let mut operations: Vec<Operation> = Vec::new();
    for (call, names) in calls.iter().zip(names) {
        operations.extend(reader.operation(call, names, &source));
    }
    let taken = reader.names.clone();
    let objects = std::mem::take(&mut reader.objects);
    let renamed = reader.renamed();
    let mut schemas = reader.into_schemas();
    settle::settle(&mut schemas, &mut operations, findings);
    directions::split(&mut schemas, &mut operations, &taken, findings);
    crosscheck::compare(&mut schemas, &mut operations, &objects, findings);
    let spec = Spec {
        app,
        title,
        version: info.at("version").plain(),
        statuses: [text("x-lifecycle"), text("x-runtime-status")]
            .into_iter()
            .flatten()
            .collect(),
        metadata: text("x-metadata-operation"),
        documents_envelope: info.is_set("x-documents-envelope"),
        groups: groups(document, &operations),
        operations,
        skipped,
        schemas,
    };
    let reach = Reach::of(&spec);
    for (
        name,
        Finding {
            place,
            rule,
            remedy,
            ..
        },
    ) in renamed
    {
        // Pages and schemas of errors don't become types.
        if reach.contains(&name) || !spec.schemas.components.contains_key(&name) {
            findings.add(Weight::Renamed, &place, rule, remedy);
        }
    }
    servers(document, findings);
    unused(document, findings);
    if let Some(id) = &spec.metadata
        && spec.metadata_operation().is_none_or(Operation::is_command)
    {
        let rule = format!("`x-metadata-operation`: `{id}` is not a GET operation");
        findings.reject("/info", rule, "name a GET operation, or remove it");
    }
    Some(spec)
}

/// Notes the paths of servers, which are not part of any operation.
fn servers(document: &Node, findings: &mut Findings) {
    for server in document.at("servers").items() {
        let path = base_path(server);
        if !path.is_empty() {
            let rule = format!("the paths are below `{path}`");
            let remedy = "the configured origin must end with it";
            findings.add(Weight::Noted, "/servers", rule, remedy);
        }
    }
}

/// Notes the schemas that no operation references.
fn unused(document: &Node, findings: &mut Findings) {
    let mut used = BTreeSet::new();
    references(document, document.at("paths"), &mut used);
    for (name, _) in document.at("components").at("schemas").members() {
        let place = step("/components/schemas", name);
        if !used.contains(&place) {
            findings.note(
                &place,
                "no operation references it, so no type is generated",
            );
        }
    }
}

/// The raw operations, except those that are left out.
fn calls<'a>(root: &'a Node, skipped: &mut Vec<Skipped>, findings: &mut Findings) -> Vec<Call<'a>> {
    let mut calls = Vec::new();
    for (path, item) in root
        .at("paths")
        .members()
        .filter(|(path, _)| !path.starts_with("x-"))
    {
        let own = (step("/paths", path), item);
        let Some((item_place, item)) = resolved(root, own, findings) else {
            continue;
        };
        note_unused(item, &item_place, ITEM, findings);
        for (key, raw) in item.members() {
            let Some(method) = Method::ALL.into_iter().find(|it| it.key() == key) else {
                continue;
            };
            let place = step(&item_place, key);
            let call = Call {
                method,
                path: path.clone(),
                raw,
                item,
                root,
                place,
                item_place: item_place.clone(),
            };
            if let Some(reason) = raw.text_at("x-sdk-skip") {
                skipped.push(Skipped {
                    route: format!("{} {path}", method.name()),
                    reason: reason.to_owned(),
                });
                continue;
            }
            note_unused(raw, &call.place, OPERATION, findings);
            calls.push(call);
        }
    }
    calls
}

const ITEM: &[&str] = &[
    "parameters",
    "summary",
    "description",
    "$ref",
    "get",
    "post",
    "put",
    "patch",
    "delete",
];

const OPERATION: &[&str] = &[
    "tags",
    "summary",
    "description",
    "externalDocs",
    "operationId",
    "parameters",
    "requestBody",
    "responses",
    "deprecated",
    "security",
];

/// The unique names of the operations.
fn operation_names(calls: &[Call<'_>], findings: &mut Findings) -> Vec<Names> {
    let groups = calls.iter().map(|it| names::group_type(&derive::group(it)));
    let taken = names::taken_types().map(str::to_owned);
    let mut ids: BTreeSet<String> = groups.chain(taken).collect();
    let mut methods = BTreeSet::new();
    let mut all = Vec::new();
    for call in calls {
        let given = call.raw.text_at("operationId");
        let mut wanted = derive::id(call);
        if names::taken_types().any(|taken| taken == names::pascal(&wanted)) {
            wanted.push_str("Operation");
        }
        let is_taken = |id: &str| ids.contains(&names::pascal(id));
        let id = names::free(&wanted, is_taken, |next| format!("{wanted}{next}"));
        ids.insert(names::pascal(&id));
        if given.is_none_or(|given| given != id) {
            let rule = match given {
                Some(given) => format!("the ID `{given}` becomes `{id}`"),
                None => format!("without an ID, it becomes `{id}`"),
            };
            findings.add(Weight::Renamed, &call.place, rule, "");
        }
        let mut group = derive::group(call);
        if names::is_taken_group(&group) {
            group.push_str("_api");
        }
        let mut wanted = derive::method(call, &group);
        if crate::model::taken::is_taken_method(&wanted) {
            wanted.push('_');
        }
        let whole = names::snake(&id);
        let is_taken = |name: &str| methods.contains(&(group.clone(), name.to_owned()));
        let method = names::free(&wanted, is_taken, |next| match next {
            2 => whole.clone(),
            number => format!("{whole}_{}", number - 1),
        });
        methods.insert((group.clone(), method.clone()));
        if method != wanted {
            let rule = format!("`{group}.{wanted}` is taken; give it another `x-sdk-method`");
            let remedy = format!("it becomes `{group}.{method}`");
            findings.add(Weight::Renamed, &call.place, rule, remedy);
        }
        all.push(Names { id, group, method });
    }
    all
}

/// The groups in the order of the document's tags, followed by the groups without a described tag.
fn groups(document: &Node, operations: &[Operation]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for tag in document.at("tags").items() {
        let mut name = derive::of_tag(tag.text_at("name").unwrap_or_default());
        if names::is_taken_group(&name) {
            name.push_str("_api");
        }
        let used = operations.iter().any(|it| it.group == name);
        if used && !groups.iter().any(|it| it.name == name) {
            groups.push(Group {
                name,
                description: tag
                    .text_at("description")
                    .unwrap_or_default()
                    .trim()
                    .to_owned(),
            });
        }
    }
    for operation in operations {
        if !groups.iter().any(|it| it.name == operation.group) {
            groups.push(Group {
                name: operation.group.clone(),
                description: String::new(),
            });
        }
    }
    groups
}
