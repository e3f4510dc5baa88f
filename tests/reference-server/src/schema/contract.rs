//! The operations of a document.

use std::sync::Arc;

use super::document::{Document, members, plain};
use super::served::Served;
use crate::app::App;
use crate::pages;
use crate::routing::literal_first;

const METHODS: [&str; 8] = [
    "get", "put", "post", "patch", "delete", "head", "options", "trace",
];

#[derive(Debug)]
pub(crate) struct Contract {
    pub(crate) title: String,
    pub(crate) version: String,
    /// The document, unchanged.
    pub(crate) text: Arc<str>,
    /// The path of the document's first server. Request paths may start with it.
    base: String,
    pub(crate) operations: Vec<Served>,
    /// Parts of the document that the server doesn't check or serve. They are printed at the start.
    pub(crate) notes: Vec<String>,
}

impl Contract {
    /// Reads a document. The error lists everything in it that can't be served.
    pub(crate) fn read(app: App, text: &str) -> Result<Contract, String> {
        let mut problems = Vec::new();
        let document = Arc::new(Document::read(text, &mut problems));
        let mut operations: Vec<Served> = Vec::new();
        for (path, item) in members(&document.root["paths"]) {
            let item = document.resolve(item);
            // The SDK omits these operations, so no client calls them.
            let is_served = |method: &&&str| {
                let operation = item.get(**method);
                operation.is_some_and(|it| it.get("x-sdk-skip").is_none())
            };
            for method in METHODS.iter().filter(is_served) {
                let operation = Served::read(app, &document, (path, item), method, &mut problems);
                let place = format!("{} {path}: ", operation.method);
                if operations.iter().any(|known| known.id == operation.id) {
                    problems.push(format!("{place}duplicate operationId {:?}", operation.id));
                }
                if path.split('/').any(|part| part.matches('{').count() > 1) {
                    problems.push(format!("{place}two parameters in one segment of the path"));
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
            let same = |other: &&Served| {
                other.method == known.method && shape(&other.path) == shape(&known.path)
            };
            if known.path.contains(['?', '#']) {
                notes.push(format!(
                    "not reached: {place}, because no request has such a path"
                ));
            } else if let Some(other) = operations[..at].iter().find(same) {
                notes.push(format!(
                    "not reached: {place}, because {} matches its paths",
                    other.path
                ));
            } else if base.is_empty()
                && known.method == "GET"
                && pages::PATHS.contains(&&*known.path)
            {
                notes.push(format!(
                    "not reached: {place}, because the server has a page there"
                ));
            }
            let unread = known.parameters.iter().filter(|it| !it.is_read());
            notes.extend(unread.map(|it| format!("not checked: {place}: {}", it.name)));
            if known.success().is_none() {
                notes.push(format!("no documented success: {place} responds with 501"));
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

    /// Returns the position of the operation with a method and a path. The names of path parameters don't matter.
    pub(super) fn place(&self, method: &str, path: &str) -> Option<usize> {
        let path = shape(path);
        let mut operations = self.operations.iter();
        operations.position(|known| known.method == method && shape(&known.path) == path)
    }

    /// Returns the path as in the document, without the path of the document's server.
    pub(crate) fn path<'p>(&self, path: &'p str) -> &'p str {
        let below = path.strip_prefix(&self.base);
        below.filter(|below| below.starts_with('/')).unwrap_or(path)
    }

    pub(crate) fn scopes(&self) -> impl Iterator<Item = &str> {
        let security = self.operations.iter().flat_map(|known| &known.security);
        security.flatten().map(String::as_str)
    }
}

/// Returns the literal parts of a path between its parameters.
fn shape(path: &str) -> Vec<&str> {
    let after = |part: &'_ str| part.find('}').map_or(0, |end| end + 1);
    let parts = path.split('{').enumerate();
    parts
        .map(|(at, part)| if at == 0 { part } else { &part[after(part)..] })
        .collect()
}
