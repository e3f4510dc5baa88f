//! The operations of a document.

use std::collections::HashMap;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use super::document::{Document, list, members, plain};
use super::sample;
use crate::app::App;
use crate::pages;
use crate::routing::literal_first;

const METHODS: [&str; 8] = [
    "get", "put", "post", "patch", "delete", "head", "options", "trace",
];

/// The contract of one application.
#[derive(Debug)]
pub(crate) struct Contract {
    /// The name of the application, for people.
    pub(crate) title: String,
    pub(crate) version: String,
    /// The document as it came.
    pub(crate) text: Arc<str>,
    /// The path of its first server, with which paths may begin.
    base: String,
    pub(crate) operations: Vec<Described>,
    /// What in it is not checked or not reached, said at the start.
    pub(crate) notes: Vec<String>,
}

/// An operation as its document describes it.
#[derive(Debug)]
pub(crate) struct Described {
    pub(crate) app: App,
    pub(crate) id: Arc<str>,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) summary: String,
    /// Scopes of which all are needed, for each alternative; none if no token is needed.
    pub(crate) security: Vec<Vec<String>>,
    pub(crate) attempts: AtomicU64,
    pub(crate) commits: AtomicU64,
    pub(super) document: Arc<Document>,
    pub(super) parameters: Vec<Value>,
    /// All else, as it stands in the document.
    pub(super) raw: Value,
    /// Samples of the schemas in it, by their address and their first turn.
    samples: Mutex<HashMap<(usize, usize), Option<Value>>>,
}

impl Contract {
    /// Reads a document, or says everything in it that cannot be served.
    pub(crate) fn read(app: App, text: &str) -> Result<Contract, String> {
        let mut problems = Vec::new();
        let document = Arc::new(Document::read(text, &mut problems));
        let mut operations: Vec<Described> = Vec::new();
        for (path, item) in members(&document.root["paths"]) {
            let item = document.resolve(item);
            // What the SDK leaves out has no client, and needs no server.
            let is_served = |method: &&&str| {
                let operation = item.get(**method);
                operation.is_some_and(|it| it.get("x-sdk-skip").is_none())
            };
            for method in METHODS.iter().filter(is_served) {
                let operation = Described::of(app, &document, path, item, method);
                let place = format!("{} {path}: ", operation.method);
                if operations.iter().any(|known| known.id == operation.id) {
                    problems.push(format!("{place}a second operation {:?}", operation.id));
                }
                if path.split('/').any(|part| part.matches('{').count() > 1) {
                    problems.push(format!("{place}two parameters in one segment of the path"));
                }
                let unread =
                    |parameter: &&Value| parameter["required"] == true && !is_read(parameter);
                for parameter in operation.parameters.iter().filter(unread) {
                    let [name, style] = ["name", "style"].map(|name| plain(&parameter[name]));
                    let kind = plain(&parameter["in"]);
                    problems.push(format!("{place}{name}: required in the {kind} {style}"));
                }
                operations.push(operation);
            }
        }
        if operations.is_empty() {
            problems.push("paths: no operations".to_owned());
        }
        if !problems.is_empty() {
            let listed = problems.join("\n- ");
            return Err(format!(
                "the contract of {app} cannot be served:\n- {listed}"
            ));
        }
        operations.sort_by_key(|known| literal_first(&known.path));
        let server = plain(&document.root["servers"][0]["url"]);
        let server = server.split_once("://").map_or(&*server, |(_, rest)| rest);
        let base = server
            .find('/')
            .map_or("", |at| server[at..].trim_end_matches('/'));
        let mut notes: Vec<String> = document.unchecked().collect();
        for (at, known) in operations.iter().enumerate() {
            let place = format!("{} {}", known.method, known.path);
            let same =
                |other: &&Described| other.method == known.method && other.shape() == known.shape();
            if known.path.contains(['?', '#']) {
                notes.push(format!(
                    "not reached: {place}, since no request has such a path"
                ));
            } else if let Some(other) = operations[..at].iter().find(same) {
                notes.push(format!(
                    "not reached: {place}, since {} takes its paths",
                    other.path
                ));
            } else if base.is_empty()
                && known.method == "GET"
                && pages::PATHS.contains(&&*known.path)
            {
                notes.push(format!(
                    "not reached: {place}, since the server has a page there"
                ));
            }
            let unread = known
                .parameters
                .iter()
                .filter(|parameter| !is_read(parameter));
            notes.extend(
                unread.map(|parameter| {
                    format!("not checked: {place}: {}", plain(&parameter["name"]))
                }),
            );
            if known.success().is_none() {
                notes.push(format!("no success: {place}, which answers 501"));
            }
        }
        Ok(Contract {
            notes,
            title: plain(&document.root["info"]["title"]),
            version: plain(&document.root["info"]["version"]),
            text: text.into(),
            base: base.to_owned(),
            operations,
        })
    }

    pub(crate) fn operation(&self, id: &str) -> Option<&Described> {
        self.operations.iter().find(|known| &*known.id == id)
    }

    /// The operation of a method and a path as documents write it, whatever its parameters are called.
    pub(crate) fn at(&self, method: &str, path: &str) -> Option<&Described> {
        let path = shape(path);
        let mut operations = self.operations.iter();
        operations.find(|known| known.method == method && known.shape() == path)
    }

    /// A path as the document has it, without the path of the server.
    pub(crate) fn path<'p>(&self, path: &'p str) -> &'p str {
        let below = path.strip_prefix(&self.base);
        below.filter(|below| below.starts_with('/')).unwrap_or(path)
    }

    /// Every scope that an operation names.
    pub(crate) fn scopes(&self) -> impl Iterator<Item = &str> {
        let security = self.operations.iter().flat_map(|known| &known.security);
        security.flatten().map(String::as_str)
    }

    pub(crate) fn clear_counts(&self) {
        for counter in self
            .operations
            .iter()
            .flat_map(|known| [&known.attempts, &known.commits])
        {
            counter.store(0, Ordering::Relaxed);
        }
    }
}

impl Described {
    fn of(app: App, document: &Arc<Document>, path: &str, item: &Value, method: &str) -> Described {
        let raw = &item[method];
        let mut parameters: Vec<Value> = Vec::new();
        let all = list(&raw["parameters"])
            .iter()
            .chain(list(&item["parameters"]));
        for given in all.map(|parameter| document.resolve(parameter)) {
            // Those of the operation come first: they replace those of the path.
            let same = |known: &Value| ["in", "name"].iter().all(|key| known[key] == given[key]);
            if !parameters.iter().any(same) {
                parameters.push(given.clone());
            }
        }
        let security = list(raw.get("security").unwrap_or(&document.root["security"]));
        let scopes = |one: &Value| -> Vec<String> {
            let schemes = members(one).flat_map(|(_, scopes)| list(scopes));
            schemes.map(plain).collect()
        };
        // An empty alternative is one without a token.
        let public = security.iter().any(|one| members(one).next().is_none());
        let needed = security.iter().filter(|_| !public);
        let unnamed = || format!("{method} {path}");
        Described {
            app,
            id: raw["operationId"]
                .as_str()
                .map_or_else(unnamed, str::to_owned)
                .into(),
            method: method.to_uppercase(),
            path: path.to_owned(),
            summary: plain(raw.get("summary").unwrap_or(&raw["description"])),
            security: needed.map(scopes).collect(),
            attempts: AtomicU64::new(0),
            commits: AtomicU64::new(0),
            document: Arc::clone(document),
            parameters,
            raw: raw.clone(),
            samples: Mutex::default(),
        }
    }

    /// A sample of a schema of this operation or its document, made once.
    pub(super) fn sample(&self, schema: &Value, first: usize) -> Option<Value> {
        let mut kept = self.samples.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (ptr::from_ref(schema).addr(), first);
        let made = || sample::sample(&self.document, schema, first);
        kept.entry(key).or_insert_with(made).clone()
    }

    /// Whether it has a parameter of this name.
    pub(crate) fn takes(&self, place: &str, name: &str) -> bool {
        let named = |known: &Value| plain(&known["name"]).eq_ignore_ascii_case(name);
        self.parameters
            .iter()
            .any(|known| known["in"] == place && named(known))
    }

    /// The path with nameless parameters.
    fn shape(&self) -> Vec<&str> {
        shape(&self.path)
    }

    /// The first documented success.
    pub(super) fn success(&self) -> Option<(&String, &Value)> {
        let replies = || members(&self.raw["responses"]);
        let successes = replies().filter(|(status, _)| status.starts_with('2'));
        let first = successes.min_by_key(|found| found.0);
        first.or_else(|| replies().find(|(status, _)| *status == "default"))
    }

    /// The names of the path's parameters, in order.
    pub(super) fn places(&self) -> impl Iterator<Item = &str> {
        let parts = self.path.split('{').skip(1);
        parts.filter_map(|part| part.split('}').next())
    }
}

/// Whether a parameter is read; those that are not may be anything.
pub(super) fn is_read(parameter: &Value) -> bool {
    let place = parameter["in"].as_str().unwrap_or_default();
    let style = parameter["style"].as_str().unwrap_or("form");
    ["path", "query", "header"].contains(&place)
        && ["form", "simple", "spaceDelimited", "pipeDelimited"].contains(&style)
}

/// What a path has between its parameters.
fn shape(path: &str) -> Vec<&str> {
    let after = |part: &'_ str| part.find('}').map_or(0, |end| end + 1);
    let parts = path.split('{').enumerate();
    parts
        .map(|(at, part)| if at == 0 { part } else { &part[after(part)..] })
        .collect()
}
