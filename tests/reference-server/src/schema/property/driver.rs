//! Sends requests to its own server, and checks the rules for every response.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::sync::LazyLock;

use bytes::Bytes;
use fastrand::Rng;
use http::{HeaderMap, HeaderValue, Method, Version, header};
use regex::Regex;
use serde_json::Value;

use crate::app::App;
use crate::base::Base;
use crate::builder::Builder;
use crate::generated::operations::Operation;
use crate::message::Request;
use crate::schema::check::{self, Side};
use crate::schema::{Served, built_in};
use crate::suite::Suite;
use crate::token::key::TokenKey;

/// The number of stored references per kind.
const KEPT: usize = 60;

pub(super) fn operations() -> impl Iterator<Item = &'static Served> {
    App::all().flat_map(|app| &built_in(app).unwrap().operations)
}

/// Whether the operation is a command whose exact replay returns the durable result.
pub(super) fn is_command(operation: &Served) -> bool {
    operation.method == "POST"
        && !operation.is_exchange()
        && !operation.written.is_some_and(Operation::name_only)
}

pub(super) fn successes(operation: &Served) -> Vec<u16> {
    let responses = operation.raw["responses"].as_object().unwrap();
    let statuses = responses.keys().filter_map(|status| status.parse().ok());
    statuses.filter(|status| *status < 300).collect()
}

/// Whether a status is documented, by the operation or by the contract's general rules.
fn documents(operation: &Served, status: u16) -> bool {
    let responses = &operation.raw["responses"];
    // "Missing or invalid credentials yield 401; missing entitlement, scope or active binding yields 403."
    let of_rights = !operation.security.is_empty() && (status == 401 || status == 403);
    // Where the contract lists no error statuses, the statuses that it explains are allowed.
    let explained = [400, 401, 403, 404, 409].contains(&status);
    let open = responses.get("default").is_some();
    responses.get(status.to_string()).is_some() || of_rights || open && explained
}

/// References from earlier responses. Requests need them to reach a record.
#[derive(Default)]
pub(super) struct Pool(BTreeMap<String, Vec<String>>);

impl Pool {
    fn harvest(&mut self, body: &Value) {
        static REFERENCE: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r#""(([A-Z0-9]+)-[A-Z0-9]{12})""#).unwrap());
        for found in REFERENCE.captures_iter(&body.to_string()) {
            let [reference, prefix] = found.extract().1;
            let known = self.0.entry(prefix.to_owned()).or_default();
            if known.len() < KEPT && !known.iter().any(|known| known == reference) {
                known.push(reference.to_owned());
            }
        }
    }

    pub(super) fn pick(&self, prefix: &str, random: &mut Rng) -> Option<String> {
        let known = self.0.get(prefix.trim_end_matches('-'))?;
        random.choice(known).cloned()
    }
}

pub(super) struct Driver {
    pub(super) suite: Suite,
    pub(super) pool: Pool,
    tokens: HashMap<App, String>,
}

pub(super) struct Got {
    pub(super) status: u16,
    /// Whether the response has a `WWW-Authenticate` header.
    pub(super) is_challenge: bool,
    pub(super) body: Value,
}

impl Driver {
    pub(super) fn new() -> Driver {
        let settings = Builder::default();
        let bases = App::each(|app| Base::read("", &format!("http://{app}")).unwrap());
        let key = TokenKey::new(&settings, false).unwrap();
        let mut driver = Driver {
            suite: Suite::new(settings, key, bases, None).unwrap(),
            pool: Pool::default(),
            tokens: HashMap::new(),
        };
        driver.tokens = App::all().map(|app| (app, driver.token_of(app))).collect();
        driver
    }

    /// Returns a token of the default client, which has all rights.
    pub(super) fn token_of(&self, app: App) -> String {
        let client = &self.suite.settings.client;
        self.token(app, &client.id, &client.secret)
    }

    pub(super) fn token(&self, app: App, id: &str, secret: &str) -> String {
        let fields = [
            ("grant_type", "client_credentials"),
            ("client_id", id),
            ("client_secret", secret),
            ("audience", self.suite.audience(app)),
        ];
        let request = request(Method::POST, crate::schema::EXCHANGE.to_owned());
        let urlencoded = "application/x-www-form-urlencoded";
        let mut request = with_header(&request, "content-type", &[urlencoded]);
        request.body = form(fields.into_iter()).into();
        let reply = self.suite.handle(App::Platform, &request);
        let body: Value = serde_json::from_slice(&reply.body).unwrap();
        body["access_token"].as_str().unwrap().to_owned()
    }

    /// Sends a request as the default client.
    pub(super) fn call(&mut self, operation: &Served, request: &Request) -> Got {
        let token = &self.tokens[&operation.app];
        let authorization = format!("Bearer {token}");
        let public = operation.security.is_empty();
        self.call_as(operation, request, if public { "" } else { &authorization })
    }

    /// Sends a request with this `Authorization` header, or without it if it is empty, and checks the response.
    pub(super) fn call_as(&mut self, operation: &Served, request: &Request, as_: &str) -> Got {
        let headers = [as_].into_iter().filter(|value| !value.is_empty());
        let headers: Vec<&str> = headers.collect();
        let request = with_header(request, "authorization", &headers);
        let reply = self.suite.handle(operation.app, &request);
        let status = reply.status.as_u16();
        let about = || format!("{}: {request:?}: {status}", operation.id);
        let media_type = &reply.headers["content-type"];
        assert_eq!(media_type, "application/json", "{}", about());
        assert!(reply.headers.contains_key("x-request-id"), "{}", about());
        let body: Value = serde_json::from_slice(&reply.body).unwrap();
        let documented = status < 500 && documents(operation, status);
        assert!(documented, "{}: {body}", about());
        let responses = &operation.raw["responses"];
        let shown = responses.get(status.to_string());
        let shown = shown.or_else(|| responses.get("default"));
        let shown = shown.map(|shown| operation.document.resolve(shown));
        let content = shown.and_then(|shown| shown["content"].get("application/json"));
        if let Some(content) = content {
            let (document, schema) = (&operation.document, &content["schema"]);
            let problems = check::problems(document, Side::Reply, schema, &body, "");
            assert_eq!(problems, [], "{}: {body}", about());
        }
        if status < 300 {
            self.pool.harvest(&body);
        }
        Got {
            status,
            is_challenge: reply.headers.contains_key("www-authenticate"),
            body,
        }
    }
}

pub(super) fn request(method: Method, path: String) -> Request {
    let host = [(header::HOST, HeaderValue::from_static("localhost"))];
    Request {
        method,
        version: Version::HTTP_11,
        path,
        query: None,
        authority: None,
        headers: HeaderMap::from_iter(host),
        body: Bytes::new(),
    }
}

/// Replaces all values of a query parameter.
pub(super) fn with_query(request: &Request, name: &str, values: &[&str]) -> Request {
    let query = request.query.as_deref().unwrap_or_default();
    let start = format!("{name}=");
    let others = query.split('&').filter(|pair| !pair.starts_with(&start));
    let values = form(values.iter().map(|value| (name, *value)));
    let pairs = others.chain([&*values]).filter(|pair| !pair.is_empty());
    Request {
        query: Some(pairs.collect::<Vec<_>>().join("&")),
        ..request.clone()
    }
}

/// Replaces all values of a header. Invalid header values are skipped.
pub(super) fn with_header(request: &Request, name: &str, values: &[&str]) -> Request {
    let mut request = request.clone();
    let name: header::HeaderName = name.parse().unwrap();
    request.headers.remove(&name);
    let values = values
        .iter()
        .map(|value| HeaderValue::from_bytes(value.as_bytes()));
    request
        .headers
        .extend(values.flatten().map(|value| (name.clone(), value)));
    request
}

/// Encodes fields as `application/x-www-form-urlencoded`. Every reserved character is escaped.
pub(super) fn form<'n>(fields: impl Iterator<Item = (&'n str, &'n str)>) -> String {
    let pairs = fields.map(|(name, value)| format!("{}={}", encoded(name), encoded(value)));
    pairs.collect::<Vec<_>>().join("&")
}

pub(super) fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}
