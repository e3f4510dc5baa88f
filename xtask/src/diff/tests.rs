//! Changes of our own specs. Each change must be reported correctly and without other changes.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::App;
use crate::node::{Node, step};

use super::Side;
use super::change::Changes;
use super::compare::Pairs;
use super::flat::is_read_by_people;
use super::report::Report;

const MUTATIONS: &str = include_str!("mutations.md");

/// A document with constructs that our specs lack.
const SAMPLE: &str = r##"
openapi: 3.1.0
info: {title: Sample, version: "1"}
security: [{token: []}, {key: []}]
paths:
  /things/{id}:
    patch:
      operationId: changeThing
      parameters:
        - {name: id, in: path, required: true, schema: {type: string}}
        - {name: tags, in: query, explode: false, schema: {type: array, items: {enum: [a, b]}}}
      requestBody: {content: {application/merge-patch+json: {schema: {$ref: "#/components/schemas/Change"}}}}
      responses:
        200:
          description: Changed.
          headers: {ETag: {required: true, schema: {type: string}}}
          content: {application/json: {schema: {$ref: "#/components/schemas/Thing"}}}
        204: {description: Nothing to do.}
        409: {description: Taken.}
components:
  securitySchemes: {token: {type: http, scheme: bearer}, key: {type: apiKey, in: header, name: X-Key}}
  schemas:
    Change:
      oneOf: [{$ref: "#/components/schemas/Move"}, {$ref: "#/components/schemas/Name"}, {$ref: "#/components/schemas/Fold"}]
      discriminator: {propertyName: kind, mapping: {move: "#/components/schemas/Move"}}
    Move: {type: object, properties: {kind: {type: string}, to: {type: string}}}
    Name: {type: object, properties: {kind: {const: name}, name: {type: string}}}
    Fold: {type: object, properties: {kind: {const: fold}}}
    Base: {type: object, required: [at], properties: {at: {type: [integer, "null"]}}}
    Thing:
      allOf: [{$ref: "#/components/schemas/Base"}]
      type: object
      properties:
        labels: {type: object, additionalProperties: {type: string}}
        kind: {anyOf: [{type: string, enum: [a, b]}, {type: string}]}
        code: {type: integer, enum: [1, 2]}
        share: {type: number, exclusiveMinimum: 0}
        size: {type: integer, format: int32}
        owner: {$ref: "#/components/schemas/Thing"}
        mark: {not: {$ref: "#/components/schemas/Taken"}}
    Taken: {type: string, enum: [taken]}
"##;

const SPECS: [&str; 5] = ["crm", "calendar", "accounting", "platform", "sample"];

fn spec(app: &str) -> Node {
    if app == "sample" {
        return Node::parse(SAMPLE).unwrap();
    }
    let path = format!("{}/../specs/{app}.yaml", env!("CARGO_MANIFEST_DIR"));
    Node::parse(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn side<'a>(app: &str, document: &'a Node) -> Side<'a> {
    Side::of(App::named(app).or(App::named("crm")).unwrap(), document)
}

fn changes(old: &Node, new: &Node) -> Changes {
    Changes::of([old, new], &Pairs::of(old, new))
}

fn compare(app: &str, old: &Node, new: &Node) -> Report {
    super::compare(&side(app, old), &side(app, new), "")
}

/// Resolves a place that begins with an operation (`@id`) or a schema (`#Name`).
fn pointer(document: &Node, place: &str) -> Option<String> {
    let (name, rest) = place[1..].split_once('/').unwrap_or((&place[1..], ""));
    let found = match &place[..1] {
        "#" => step("/components/schemas", name),
        "@" => {
            let paths = document.at("paths").members();
            let mut all = paths.flat_map(|(path, item)| item.members().map(move |it| (path, it)));
            let id = Some(name);
            let (path, (method, _)) = all.find(|it| it.1.1.text_at("operationId") == id)?;
            step(&step("/paths", path), method)
        }
        _ => return Some(place.to_owned()),
    };
    Some(format!("{found}/{rest}").trim_end_matches('/').to_owned())
}

fn mutated(document: &Node, place: &str, change: &str) -> Node {
    let (kind, value) = change.split_at(1);
    let value = Node::parse(&format!("it: {value}")).unwrap();
    let value = value.at("it").clone();
    let place = pointer(document, place).unwrap();
    let steps = place.split('/').skip(1);
    let steps = steps.map(|it| it.replace("~1", "/").replace("~0", "~"));
    let mut steps: Vec<String> = steps.collect();
    let last = steps.pop_if(|_| kind != "+").unwrap_or_default();
    let mut new = document.clone();
    let node = steps.iter().fold(&mut new, |node, step| match node {
        Node::Object(fields) => &mut fields[step],
        Node::List(items) => &mut items[step.parse::<usize>().unwrap()],
        other => panic!("{step} of {other:?}"),
    });
    match (node, kind) {
        (Node::List(items), "+") => items.push(value),
        (Node::List(items), "-") => drop(items.remove(last.parse().unwrap())),
        (Node::Object(fields), "-") => drop(fields.shift_remove(&last).unwrap()),
        (Node::Object(fields), "=") => drop(fields.insert(last, value)),
        (node, _) => panic!("{change} of {node:?}"),
    }
    new
}

/// The rows of the table that has `COLUMNS` columns.
fn rows<const COLUMNS: usize>() -> Vec<[&'static str; COLUMNS]> {
    let rows = MUTATIONS
        .lines()
        .filter_map(|it| it.strip_prefix('|')?.strip_suffix('|'));
    let cells = rows.map(|it| it.split('|').map(str::trim).collect::<Vec<_>>());
    cells.filter_map(|it| it.try_into().ok()).skip(2).collect()
}

/// The changes of a report with the broken callers, and the changes of names.
fn summary(report: &Report) -> [String; 2] {
    let changes = report.changes.iter().map(|it| {
        let writers = if it.breaks_writers { "W" } else { "" };
        let readers = if it.breaks_readers { "R" } else { "" };
        let text = format!(
            "{} {} {writers}{readers}",
            it.difference.what, it.difference.how
        );
        text.trim().to_owned()
    });
    let odd = report.not_understood.iter();
    let odd = odd.map(|it| format!("not understood {}", it.0));
    let rejected = report.rejected.iter().map(|it| format!("rejected {it}"));
    let mut changes: Vec<String> = changes.chain(odd).chain(rejected).collect();
    changes.dedup();
    let names = report.names.iter();
    let names = names.map(|it| format!("{} {}", it.name, it.how));
    [changes.join("; "), names.collect::<Vec<_>>().join("; ")]
}

#[test]
fn each_change_is_reported_correctly_and_alone() {
    let mut wrong = Vec::new();
    assert!(rows::<5>().len() > 90);
    let whole = SPECS.map(|app| (app, spec(app)));
    let slices = whole
        .iter()
        .flat_map(|(app, it)| slices(it).into_iter().map(|it| (*app, it)));
    let slices: Vec<(&str, Node)> = slices.collect();
    let sides = [&whole[..], &slices].map(|all| {
        let sides = all.iter().map(|(app, it)| (*app, side(app, it)));
        sides.collect::<Vec<_>>()
    });
    for [app, place, change, changes, names] in rows() {
        // One of the paths is sufficient, unless the row concerns several paths.
        let is_small = !place.starts_with('/') && !change.contains("#/components");
        let named = place.split('/').next().unwrap_or_default();
        let fits = |it: &&(&str, Side<'_>)| {
            let document = it.1.document;
            let has = || pointer(document, named).is_some_and(|it| document.pointer(&it).is_some());
            it.0 == app && (!is_small || has())
        };
        let old = &sides[usize::from(is_small)].iter().find(fits).unwrap().1;
        let new = mutated(old.document, place, change);
        let found = summary(&super::compare(old, &side(app, &new), ""));
        if found != [changes, names] {
            let row = [app, place, change, &found[0], &found[1]];
            wrong.push(format!("| {} |", row.join(" | ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Converts a document to OpenAPI 3.1.
fn modern(node: &Node) -> Node {
    let members = match node {
        Node::Object(members) => members,
        Node::List(items) => return Node::List(items.iter().map(modern).collect()),
        other => return other.clone(),
    };
    let mut new: indexmap::IndexMap<String, Node> = members
        .iter()
        .map(|(key, it)| (key.clone(), modern(it)))
        .collect();
    if new.contains_key("openapi") {
        new.insert("openapi".to_owned(), Node::Text("3.1.0".to_owned()));
    }
    if new.shift_remove("nullable").is_some() {
        let kinds = vec![new["type"].clone(), Node::Text("null".to_owned())];
        new.insert("type".to_owned(), Node::List(kinds));
    }
    if new.shift_remove("x-const").is_some() {
        let values = new.shift_remove("enum").unwrap();
        new.insert("const".to_owned(), values.items()[0].clone());
    }
    if let Some(bound) = new.get("minimum").and_then(Node::integer) {
        new.shift_remove("minimum");
        new.insert(
            "exclusiveMinimum".to_owned(),
            Node::Number((bound - 1).into()),
        );
    }
    Node::Object(new)
}

#[test]
fn equal_documents_have_no_changes() {
    for app in SPECS {
        let old = spec(app);
        assert_eq!(summary(&compare(app, &old, &old)), ["", ""]);
        let report = compare(app, &old, &modern(&old));
        assert_eq!(summary(&report), ["", ""]);
    }
    // The name of a path parameter is never sent, and Rust arguments have no names.
    let old = spec("crm");
    let text = serde_json::to_string(&old).unwrap();
    let text = text
        .replace("{reference}", "{id}")
        .replace("\"name\":\"reference\"", "\"name\":\"id\"");
    let report = compare("crm", &old, &Node::parse(&text).unwrap());
    assert_eq!(
        (summary(&report)[0].as_str(), report.status()),
        ("path parameter other", 0)
    );
    // A reference may be percent-encoded.
    let coded = SAMPLE.replace("schemas/Thing\"", "schemas/Th%69ng\"");
    let [old, new] = [SAMPLE, &coded].map(|it| Node::parse(it).unwrap());
    assert_eq!(summary(&compare("crm", &old, &new)), ["", ""]);
    // The length of the server's part of a path doesn't matter.
    let text = SAMPLE.replace(
        "paths:",
        "servers: [{url: \"https://a.example/v1/\"}]\npaths:",
    );
    let moved = SAMPLE.replace("  /things/", "  /v1/things/");
    let [old, new] = [text, moved].map(|it| Node::parse(&it).unwrap());
    assert_eq!(summary(&compare("crm", &old, &new)), ["server gone", ""]);
}

#[test]
fn the_last_line_and_the_exit_status_report_breaking_changes() {
    let old = spec("sample");
    let breaks = "Breaking: 1 changes for callers that write, 0 for callers that read, 2 names.";
    let unclear = "Unclear: 0 rejected, 1 not understood.";
    let values = "#Thing/properties/code/enum";
    for (place, change, status, last) in [
        ("/info/version", "= 2", 0, "Nothing changed."),
        (values, "+ 3", 0, "Not breaking: 1 changes."),
        ("#Thing/unheardOf", "= 1", 2, unclear),
        ("#Move/required", "= [to]", 1, breaks),
    ] {
        let report = compare("sample", &old, &mutated(&old, place, change));
        assert_eq!(report.status(), status, "{place}");
        for form in ["", "--markdown"] {
            let text = report.written(form).unwrap();
            assert_eq!(text.lines().last(), Some(last));
        }
        let json = Node::parse(&report.written("--json").unwrap()).unwrap();
        assert_eq!(json.text_at("verdict"), Some(last));
        assert_eq!(json.at("changes").items().len(), report.changes.len());
    }
}

/// The document without our extensions, as a vendor would publish it.
fn published(node: &Node) -> Node {
    match node {
        Node::Object(members) => {
            let rest = members.iter().filter(|(key, _)| !key.starts_with("x-"));
            Node::Object(rest.map(|(key, it)| (key.clone(), published(it))).collect())
        }
        Node::List(items) => Node::List(items.iter().map(published).collect()),
        other => other.clone(),
    }
}

#[test]
fn documented_parts_confirm_contradict_or_void_assumptions() {
    assert!(rows::<4>().len() > 15);
    for [app, place, change, expected] in rows() {
        let old = spec(app);
        let new = published(&mutated(&old, place, change));
        let found = super::assumed(&old, &new, "").into_iter();
        let found = found.map(|it| format!("{} {}", it.id, it.verdict));
        let found: Vec<String> = found.collect();
        let is_found = |it: &str| found.iter().any(|known| known == it);
        assert!(
            expected.split(", ").all(is_found),
            "{place} {change}: {found:?}"
        );
    }
}

/// Every place whose value matters to a program, with its parent.
fn places<'a>(node: &'a Node, parent: &'a Node, place: &str, found: &mut Vec<(String, &'a Node)>) {
    let means =
        |it: &(&String, &Node)| !is_read_by_people(it.0) && it.0 != "tags" && it.0 != "info";
    for (key, inner) in node.members().filter(means) {
        places(inner, node, &step(place, key), found);
    }
    for (at, inner) in node.items().iter().enumerate() {
        places(inner, node, &format!("{place}/{at}"), found);
    }
    found.extend((place.matches('/').count() > 1).then(|| (place.to_owned(), parent)));
}

/// Whether a document without the field has the same meaning.
fn is_implied(document: &Node, parent: &Node, key: &str) -> bool {
    let says_nothing = |it: &Node| it.members().all(|it| is_read_by_people(it.0));
    let value = parent.at(key);
    let target = |it: &Node| document.pointer(&it.plain()[1..]).is_some_and(says_nothing);
    match key {
        "$ref" => target(value),
        "schema" => value.get("$ref").map_or(says_nothing(value), target),
        "type" if parent.get("enum").is_none() && parent.get("const").is_none() => {
            crate::read::inferred(parent) == value.text()
        }
        "additionalProperties" => says_nothing(value),
        _ => *value == Node::Bool(false) || key == "type",
    }
}

/// One document per path, with the components that it needs, because small documents are fast to compare.
fn slices(document: &Node) -> Vec<Node> {
    let kept = |node: &Node, is_kept: &dyn Fn(&str) -> bool| {
        let kept = node.members().filter(|it| is_kept(it.0));
        kept.map(|(key, it)| (key.clone(), it.clone())).collect()
    };
    let paths = document.at("paths").members();
    let slices = paths.map(|(path, item)| {
        let mut used = BTreeSet::new();
        crate::read::references(document, item, &mut used);
        let components = document.at("components").members().map(|(kind, all)| {
            let place = step("/components", kind);
            let is_kept = |it: &str| kind == "securitySchemes" || used.contains(&step(&place, it));
            (kind.clone(), Node::Object(kept(all, &is_kept)))
        });
        let components = components.filter(|it| it.1.members().next().is_some());
        let mut slice = kept(document, &|it| it != "paths" && it != "components");
        let paths = kept(document.at("paths"), &|it| it == path);
        slice.insert("paths".to_owned(), Node::Object(paths));
        // It might name an operation that the slice lacks.
        let info = kept(document.at("info"), &|it| it != "x-metadata-operation");
        slice.insert("info".to_owned(), Node::Object(info));
        let components = Node::Object(components.collect());
        slice.insert("components".to_owned(), components);
        Node::Object(slice)
    });
    slices.collect()
}

/// The kind of a place, which is its last three steps without names and indices.
fn kind_of(place: &str) -> String {
    const NAMED: [&str; 6] = [
        "headers",
        "mapping",
        "paths",
        "properties",
        "responses",
        "schemas",
    ];
    let steps: Vec<&str> = place.split('/').collect();
    let kinds = steps.windows(2).map(|pair| match pair {
        [before, _] if NAMED.contains(before) => "*",
        [_, step] if step.parse::<usize>().is_ok() => "#",
        [_, step] => step,
        _ => unreachable!("windows of two"),
    });
    let kinds: Vec<&str> = kinds.collect();
    kinds[kinds.len().saturating_sub(3)..].join("/")
}

/// Changes two places of each kind in each document. The comparison treats places of a kind the same, but one place may be
/// sent and the other received. `LONG_TESTS` changes all places.
#[test]
fn every_change_is_detected() {
    let is_long = std::env::var_os("LONG_TESTS").is_some();
    // All documents except the largest.
    for app in &SPECS[1..] {
        let (whole, mut seen) = (spec(app), BTreeSet::new());
        let mut tried: BTreeMap<String, usize> = BTreeMap::new();
        for old in slices(&whole) {
            let mut all = Vec::new();
            places(&old, &old, "", &mut all);
            for (place, parent) in &all {
                let key = place.rsplit('/').next().unwrap();
                let is_item = !parent.items().is_empty();
                let removed = (!is_implied(&old, parent, key)).then_some("-");
                // The descriptions of scopes are for people.
                let replaced = (!is_item && !place.contains("/scopes/")).then_some("= [odd]");
                if !seen.insert(place.clone()) {
                    continue;
                }
                let of_kind = tried.entry(kind_of(place)).or_default();
                *of_kind += 1;
                if *of_kind > 2 && !is_long {
                    continue;
                }
                for change in removed.into_iter().chain(replaced) {
                    let new = mutated(&old, place, change);
                    let changes = changes(&old, &new);
                    let is_noticed =
                        !changes.known.is_empty() || !changes.not_understood.is_empty();
                    assert!(is_noticed, "{app}: {place} {change}");
                }
            }
        }
        let mut all = Vec::new();
        places(&whole, &whole, "", &mut all);
        all.retain(|it| !seen.contains(&it.0));
        assert!(all.is_empty(), "{app}: {:?}", all[0].0);
    }
}

/// A chain of schemas in which each schema contains the next.
fn chain(length: usize, link: &str, end: &str) -> Node {
    let links = (0..length).map(|at| {
        let next = format!("\"#/components/schemas/S{}\"", at + 1);
        format!("S{at}: {}", link.replace('@', &format!("{{$ref: {next}}}")))
    });
    let all = links.chain([format!("S{length}: {end}"), "Change:".to_owned()]);
    let all = all.map(|it| format!("    {it}")).collect::<Vec<_>>();
    let text = SAMPLE.replace("    Change:", &all.join("\n"));
    let thing = "schema: {$ref: \"#/components/schemas/Thing\"}";
    Node::parse(&text.replace(thing, "schema: {$ref: \"#/components/schemas/S0\"}")).unwrap()
}

#[test]
fn a_schema_with_many_references_is_compared_once() {
    for link in [
        "{allOf: [@, @, {properties: {b: {type: string}}}]}",
        "{type: object, properties: {a: @, b: @}, x-assumption: A07}",
        "{oneOf: [@, {items: @}], discriminator: {propertyName: at}}",
        "@",
    ] {
        let [old, new] = [1, 2].map(|it| chain(40, link, &format!("{{minLength: {it}}}")));
        let new = published(&new);
        assert_eq!(changes(&old, &new).known.len(), 1, "{link}");
    }
}

/// The report for two versions of a schema that is sent and received.
fn sent_and_received(schemas: [&str; 2]) -> Report {
    let change = "schema: {$ref: \"#/components/schemas/Change\"}";
    let text = SAMPLE.replace(change, "schema: {$ref: \"#/components/schemas/Thing\"}");
    let old = Node::parse(&text).unwrap();
    let [was, is] = schemas.map(|it| mutated(&old, "#Thing/properties/code", &format!("= {it}")));
    compare("sample", &was, &is)
}

#[test]
fn a_change_is_located_where_it_breaks_and_each_use_is_listed() {
    let report = sent_and_received(["{type: integer, maximum: 9}", "{type: integer, maximum: 8}"]);
    let text = report.written("").unwrap();
    let line = "  PATCH /things/{id} body.code and 1 more: limit narrower `9` -> `8` (/components/schemas/Thing/properties/code/maximum)";
    assert!(text.lines().any(|it| it == line), "{text}");
    let json = Node::parse(&report.written("--json").unwrap()).unwrap();
    let uses = json.pointer("/changes/0/uses").unwrap().items().iter();
    let uses = uses.map(|it| (it.text_at("place").unwrap(), it.is_set("breaks_writers")));
    let uses: Vec<_> = uses.collect();
    assert_eq!(uses, [("body.code", true), ("response 200.code", false)]);
}

#[test]
fn lines_name_their_subject_and_escape_strings_of_documents() {
    let known = "{enum: [a, \"`b\\n# `` <b>\", \"_c_\"]}";
    for (form, was, is, line) in [
        (
            "",
            "{items: {}}",
            "{items: {}, uniqueItems: true}",
            "rule new `uniqueItems: true`",
        ),
        ("", "{odd: 1}", "{odd: 2}", "code: odd other: 1 -> 2"),
        // Each merged schema counts.
        (
            "",
            "{allOf: [{multipleOf: 2}, {multipleOf: 3}]}",
            "{allOf: [{multipleOf: 2}, {multipleOf: 5}]}",
            "rule other",
        ),
        (
            "",
            "{allOf: [{items: {maxLength: 3}}, {items: {type: string}}]}",
            "{allOf: [{items: {maxLength: 3}}, {items: {type: integer}}]}",
            "type other",
        ),
        (
            "--markdown",
            "{enum: [a]}",
            known,
            "value new ``` \"`b\\n# `` <b>\" ```",
        ),
        (
            "--markdown",
            "{}",
            "{\"x\\n# <b>*`\": 1}",
            "x\\n\\# \\<b\\>\\*\\` new",
        ),
    ] {
        let text = sent_and_received([was, is]).written(form).unwrap();
        assert!(text.contains(line), "{text}");
    }
}

#[test]
fn an_error_about_arguments_or_documents_is_one_line() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let crm = root.join("specs/crm.yaml");
    let crm = crm.to_str().unwrap();
    let other = std::env::temp_dir().join(format!("contract-diff-{}.json", std::process::id()));
    let file = other.to_str().unwrap();
    let version = "this is not an OpenAPI 3.0 or 3.1 document";
    for (text, arguments, message) in [
        ("{\"swagger\": \"2.0\"}", &[crm, file][..], version),
        ("{\"openapi\": \"3.2.0\"}", &[file, crm], version),
        ("[", &[crm, file], "not YAML"),
        (
            "",
            &[crm, crm, "--json", "--markdown"],
            "mutually exclusive",
        ),
    ] {
        std::fs::write(&other, text).unwrap();
        let error = super::report(&root, arguments).unwrap_err();
        assert!(error.contains(message), "{error}");
        assert_eq!(error.trim().lines().count(), 1);
    }
    std::fs::remove_file(other).unwrap();
}
