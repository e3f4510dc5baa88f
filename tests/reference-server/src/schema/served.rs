//! An operation that the server serves, with its description in the document.

use std::collections::HashMap;
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use super::document::{Document, list, members, plain};
use super::parameter::Parameter;
use super::sample;
use crate::app::App;
use crate::auth::Caller;
use crate::generated::operations::Operation;

/// The path of the token exchange. A vendor's document may lack it.
pub(crate) const EXCHANGE: &str = "/oauth/token";

/// An operation of this package's contract or of a test's document.
#[derive(Debug)]
pub(crate) struct Served {
    pub(crate) app: App,
    pub(crate) id: Arc<str>,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) summary: String,
    /// Alternative sets of required scopes; empty if the operation needs no token.
    pub(crate) security: Vec<Vec<String>>,
    /// The suite's operation, if the document is this package's contract.
    pub(crate) written: Option<Operation>,
    pub(crate) document: Arc<Document>,
    pub(super) parameters: Vec<Parameter>,
    /// The raw operation object of the document.
    pub(crate) raw: Value,
    /// Cached samples of its schemas, by address and first turn.
    samples: Mutex<HashMap<(usize, usize), Option<Value>>>,
}

impl Served {
    /// Reads an operation, and adds each unreadable parameter to `problems`.
    pub(super) fn read(
        app: App,
        document: &Arc<Document>,
        (path, item): (&str, &Value),
        method: &str,
        problems: &mut Vec<String>,
    ) -> Served {
        let raw = &item[method];
        let mut given: Vec<&Value> = Vec::new();
        let all = list(&raw["parameters"])
            .iter()
            .chain(list(&item["parameters"]));
        for parameter in all.map(|parameter| document.resolve(parameter)) {
            // The operation's parameters come first, because they replace the path's parameters.
            let same = |known: &&Value| {
                let keys = ["in", "name"];
                keys.iter().all(|key| known[key] == parameter[key])
            };
            if !given.iter().any(same) {
                given.push(parameter);
            }
        }
        let security = list(raw.get("security").unwrap_or(&document.root["security"]));
        let scopes = |one: &Value| -> Vec<String> {
            let schemes = members(one).flat_map(|(_, scopes)| list(scopes));
            schemes.map(plain).collect()
        };
        // An empty alternative means no token. The exchange itself can't need a token.
        let public = security.iter().any(|one| members(one).next().is_none());
        let public = public || app == App::Platform && path == EXCHANGE;
        let needed = security.iter().filter(|_| !public);
        let unnamed = || format!("{method} {path}");
        let mut served = Served {
            app,
            id: raw["operationId"]
                .as_str()
                .map_or_else(unnamed, str::to_owned)
                .into(),
            method: method.to_uppercase(),
            path: path.to_owned(),
            summary: plain(raw.get("summary").unwrap_or(&raw["description"])),
            security: needed.map(scopes).collect(),
            written: None,
            document: Arc::clone(document),
            parameters: Vec::new(),
            raw: raw.clone(),
            samples: Mutex::default(),
        };
        for parameter in given {
            match Parameter::read(document, parameter, served.places()) {
                Ok(parameter) => served.parameters.extend(parameter),
                Err(problem) => {
                    problems.push(format!("{} {path}: {problem}", served.method));
                }
            }
        }
        served
    }

    pub(crate) fn is_exchange(&self) -> bool {
        self.app == App::Platform && self.path == EXCHANGE
    }

    /// Whether the operation has no handler and is served from its schema.
    pub(crate) fn is_from_schema(&self) -> bool {
        self.written.is_none_or(Operation::served_from_schema)
    }

    pub(crate) fn admits(&self, caller: &Caller) -> bool {
        let mut held = self
            .security
            .iter()
            .map(|all| all.iter().all(|scope| caller.has_scope(scope)));
        self.security.is_empty() || held.any(|held| held)
    }

    pub(crate) fn takes_query(&self, name: &str) -> bool {
        let mut parameters = self.parameters.iter();
        parameters.any(|known| known.is_query() && known.name == name)
    }

    pub(super) fn takes_header(&self, name: &str) -> bool {
        let mut parameters = self.parameters.iter();
        parameters.any(|known| known.is_header(name))
    }

    /// Returns the names of the path parameters, in order.
    pub(super) fn places(&self) -> impl Iterator<Item = &str> {
        let parts = self.path.split('{').skip(1);
        parts.filter_map(|part| part.split('}').next())
    }

    /// Returns a cached sample of a schema in this operation or its document.
    pub(super) fn sample(&self, schema: &Value, first: usize) -> Option<Value> {
        let mut kept = self.samples.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (ptr::from_ref(schema).addr(), first);
        let made = || sample::sample(&self.document, schema, first);
        kept.entry(key).or_insert_with(made).clone()
    }

    /// Returns the first documented success.
    pub(super) fn success(&self) -> Option<(&String, &Value)> {
        let replies = || members(&self.raw["responses"]);
        let successes = replies().filter(|(status, _)| status.starts_with('2'));
        let first = successes.min_by_key(|found| found.0);
        first.or_else(|| replies().find(|(status, _)| *status == "default"))
    }
}
