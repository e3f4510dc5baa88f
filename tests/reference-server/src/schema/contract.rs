//! The operations of a document.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use http::Uri;
use serde_json::Value;

use super::document::{Document, list, members, plain};
use crate::app::App;

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
    operations: Vec<Described>,
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
    pub(super) parameters: Vec<Parameter>,
    pub(super) body: Option<Body>,
    /// By status, `2XX` or `default`.
    pub(super) replies: BTreeMap<String, Value>,
    /// The status of an exact replay, where it is another one.
    pub(super) replay_status: Option<u16>,
    /// Parameters of which a request has at most one.
    pub(super) exclusive: Vec<[String; 2]>,
    /// Instants of which the first is not after the second.
    pub(super) ordered: Vec<[String; 2]>,
}

#[derive(Debug)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) required: bool,
    pub(super) notation: Notation,
    pub(super) schema: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Path,
    Query,
    Header,
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notation {
    /// One parameter for each item.
    Repeated,
    /// Items with this between them.
    Joined(char),
    Json,
}

#[derive(Debug)]
pub(super) struct Body {
    pub(super) required: bool,
    /// By media type, in lower case and without parameters.
    pub(super) schemas: BTreeMap<String, Value>,
}

impl Contract {
    /// Reads a document, or says everything in it that cannot be served.
    pub(crate) fn read(app: App, text: &str) -> Result<Contract, String> {
        let mut problems = Vec::new();
        let document = Arc::new(Document::read(text, &mut problems));
        let mut operations: Vec<Described> = Vec::new();
        for (path, item) in members(&document.root["paths"]) {
            let item = document.resolve(item);
            for method in METHODS
                .into_iter()
                .filter(|method| item.get(*method).is_some())
            {
                let place = format!("{} {path}", method.to_uppercase());
                let mut problem = |what: String| problems.push(format!("{place}: {what}"));
                let operation = described(&document, app, (path, item), method, &mut problem);
                if operations.iter().any(|known| known.id == operation.id) {
                    problem(format!("a second operation {:?}", operation.id));
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
        // What is literal comes before what is a parameter.
        operations.sort_by_key(|operation| {
            let parts = operation.path.split('/');
            let kind = |part: &str| {
                let [starts, ends] = [part.starts_with('{'), part.ends_with('}')];
                usize::from(part.contains('{')) + usize::from(starts) + usize::from(ends)
            };
            parts.map(kind).collect::<Vec<_>>()
        });
        let server = plain(&document.root["servers"][0]["url"]).parse::<Uri>();
        let base = server.map(|uri| uri.path().trim_end_matches('/').to_owned());
        Ok(Contract {
            title: plain(&document.root["info"]["title"]),
            version: plain(&document.root["info"]["version"]),
            text: text.into(),
            base: base.unwrap_or_default(),
            operations,
        })
    }

    pub(crate) fn operations(&self) -> &[Described] {
        &self.operations
    }

    pub(crate) fn operation(&self, id: &str) -> Option<&Described> {
        self.operations.iter().find(|known| &*known.id == id)
    }

    /// A path as the document has it, without the path of the server.
    pub(crate) fn path<'p>(&self, path: &'p str) -> &'p str {
        let below = path.strip_prefix(&self.base);
        below.filter(|below| below.starts_with('/')).unwrap_or(path)
    }

    /// Every scope that an operation names.
    pub(crate) fn scopes(&self) -> impl Iterator<Item = &str> {
        let needed = self
            .operations
            .iter()
            .flat_map(|operation| &operation.security);
        needed.flatten().map(String::as_str)
    }

    pub(crate) fn clear_counts(&self) {
        for operation in &self.operations {
            operation.attempts.store(0, Ordering::Relaxed);
            operation.commits.store(0, Ordering::Relaxed);
        }
    }
}

impl Described {
    pub(super) fn parameter(&self, place: Place, name: &str) -> Option<&Parameter> {
        let mut all = self.parameters.iter();
        all.find(|known| known.place == place && known.name.eq_ignore_ascii_case(name))
    }

    /// The names of the path's parameters, in order.
    pub(super) fn places(&self) -> impl Iterator<Item = &str> {
        let parts = self.path.split('{').skip(1);
        parts.filter_map(|part| part.split('}').next())
    }
}

fn described(
    document: &Arc<Document>,
    app: App,
    (path, item): (&str, &Value),
    method: &str,
    problem: &mut impl FnMut(String),
) -> Described {
    let raw = &item[method];
    let mut parameters: Vec<Parameter> = Vec::new();
    // Those of the operation come first: they replace those of the path.
    for given in list(&raw["parameters"])
        .iter()
        .chain(list(&item["parameters"]))
    {
        let read = parameter(document.resolve(given)).unwrap_or_else(|what| {
            problem(what);
            None
        });
        let same =
            |known: &Parameter, new: &Parameter| known.place == new.place && known.name == new.name;
        parameters.extend(read.filter(|new| !parameters.iter().any(|known| same(known, new))));
    }
    let body = raw.get("requestBody").map(|body| document.resolve(body));
    let replies = members(&raw["responses"])
        .map(|(status, reply)| (status.to_uppercase(), document.resolve(reply).clone()));
    let security = raw.get("security").unwrap_or(&document.root["security"]);
    let needed = |alternative: &Value| {
        let schemes = members(alternative).flat_map(|(_, scopes)| list(scopes));
        schemes.map(plain).collect()
    };
    // An empty alternative is one without a token.
    let public = list(security)
        .iter()
        .any(|one| members(one).next().is_none());
    let described = Described {
        app,
        id: raw["operationId"]
            .as_str()
            .map_or_else(|| format!("{method} {path}").into(), Into::into),
        method: method.to_uppercase(),
        path: path.to_owned(),
        summary: plain(raw.get("summary").unwrap_or(&raw["description"])),
        security: if public {
            Vec::new()
        } else {
            list(security).iter().map(needed).collect()
        },
        attempts: AtomicU64::new(0),
        commits: AtomicU64::new(0),
        document: Arc::clone(document),
        body: body.map(|body| Body {
            required: body["required"] == true,
            schemas: members(&body["content"])
                .map(|(media_type, content)| (essence(media_type), content["schema"].clone()))
                .collect(),
        }),
        replies: replies.collect(),
        replay_status: raw["x-replay-status"]
            .as_u64()
            .and_then(|status| status.try_into().ok()),
        exclusive: pairs(&raw["x-mutually-exclusive"]),
        ordered: pairs(&raw["x-ordered"]),
        parameters,
    };
    if path.split('/').any(|part| part.matches('{').count() > 1) {
        problem("two parameters in one segment of the path".to_owned());
    }
    described
}

/// A parameter, unless it is of a kind that need not be read.
fn parameter(given: &Value) -> Result<Option<Parameter>, String> {
    let ignored = ["accept", "content-type", "authorization"];
    let name = plain(&given["name"]);
    let place = match given["in"].as_str() {
        Some("path") => Place::Path,
        Some("query") => Place::Query,
        Some("header") if ignored.contains(&name.to_lowercase().as_str()) => return Ok(None),
        Some("header") => Place::Header,
        other if given["required"] == true => {
            return Err(format!(
                "{name}: a required parameter in {}",
                other.unwrap_or("no place")
            ));
        }
        _ => return Ok(None),
    };
    let content = members(&given["content"]).next();
    let repeats = given["explode"].as_bool().unwrap_or(true) && place == Place::Query;
    let notation = match given["style"].as_str() {
        _ if content.is_some() => Notation::Json,
        None | Some("form") if repeats => Notation::Repeated,
        None | Some("form" | "simple") => Notation::Joined(','),
        Some("spaceDelimited") => Notation::Joined(' '),
        Some("pipeDelimited") => Notation::Joined('|'),
        Some(other) if given["required"] == true => {
            return Err(format!("{name}: the style {other}"));
        }
        Some(_) => return Ok(None),
    };
    let schema = content.map_or(&given["schema"], |(_, content)| &content["schema"]);
    Ok(Some(Parameter {
        name,
        place,
        required: given["required"] == true,
        notation,
        schema: schema.clone(),
    }))
}

fn pairs(value: &Value) -> Vec<[String; 2]> {
    let pairs = list(value).iter();
    pairs
        .map(|pair| [plain(&pair[0]), plain(&pair[1])])
        .collect()
}

/// A media type in lower case, without its parameters.
pub(super) fn essence(media_type: &str) -> String {
    let essence = media_type.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}
