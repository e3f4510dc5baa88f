//! Requests that a spec allows.

use fastrand::Rng;
use http::Method;
use serde_json::{Map, Value, json};

use super::driver::{self, Pool, encoded, form, set, set_body};
use super::templates;
use crate::message::Request;
use crate::schema::document::{Document, list, members};
use crate::schema::parameter::Parameter;
use crate::schema::{Served, text};

/// Characters that break careless code.
const LETTERS: [char; 16] = [
    'a', 'n', 'B', '7', ' ', '-', '&', '=', '%', '"', '\\', 'é', '漢', '🦀', '\u{0}', '\n',
];

/// The parts of a request, which can be replaced one by one.
#[derive(Clone)]
pub(super) struct Draft {
    method: Method,
    pub(super) path: String,
    pub(super) query: Vec<(String, String)>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) media_type: &'static str,
    pub(super) body: Vec<u8>,
}

impl Draft {
    pub(super) fn request(&self) -> Request {
        let mut request = driver::request(self.method.clone(), self.path.clone());
        if !self.query.is_empty() {
            let query = self.query.iter();
            request.query = Some(form(query.map(|(name, value)| (&**name, value.clone()))));
        }
        for (name, value) in &self.headers {
            set(&mut request, name, value);
        }
        set_body(&mut request, self.media_type, self.body.clone());
        request
    }

    /// With these values of a query parameter, and no others.
    pub(super) fn with_query(&self, name: &str, values: &[&str]) -> Draft {
        let mut draft = self.clone();
        replace(&mut draft.query, name, values);
        draft
    }

    /// With these values of a header, and no others.
    pub(super) fn with_header(&self, name: &str, values: &[&str]) -> Draft {
        let mut draft = self.clone();
        replace(&mut draft.headers, name, values);
        draft
    }

    pub(super) fn with_body(&self, body: impl Into<Vec<u8>>) -> Draft {
        Draft {
            body: body.into(),
            ..self.clone()
        }
    }
}

fn replace(all: &mut Vec<(String, String)>, name: &str, values: &[&str]) {
    all.retain(|(known, _)| known != name);
    all.extend(
        values
            .iter()
            .map(|value| (name.to_owned(), (*value).to_owned())),
    );
}

/// A request within the spec.
pub(super) fn request(operation: &Served, random: &mut Rng, pool: &Pool) -> Request {
    draft(operation, random, pool).request()
}

pub(super) fn draft(operation: &Served, random: &mut Rng, pool: &Pool) -> Draft {
    let document = &operation.document;
    let mut draft = Draft {
        method: operation.method.parse().unwrap(),
        path: operation.path.clone(),
        query: Vec::new(),
        headers: Vec::new(),
        media_type: "",
        body: Vec::new(),
    };
    for Parameter {
        name,
        schema,
        required,
        ..
    } in &operation.parameters
    {
        // A cursor is not made up; it comes from a page.
        if name == "cursor" || !required && random.u8(..100) >= 50 {
            continue;
        }
        let value = plain(&value(document, schema, random, pool));
        if operation.takes_query(name) {
            draft.query.push((name.clone(), value));
        } else if operation.takes_header(&name.to_lowercase()) {
            draft.headers.push((name.to_lowercase(), value));
        } else {
            let place = format!("{{{name}}}");
            draft.path = draft.path.replace(&place, &encoded(&value));
        }
    }
    for pair in list(&operation.raw["x-mutually-exclusive"]) {
        let given = |name: &Value| draft.query.iter().any(|(known, _)| *name == *known);
        if list(pair).iter().all(given) {
            draft.query.retain(|(name, _)| pair[1] != *name);
        }
    }
    if let Some((media_type, schema)) = body_of(operation) {
        let value = value(document, schema, random, pool);
        let value = templates::body(&operation.id, value, random, pool);
        draft.media_type = media_type;
        draft.body = if media_type == "application/json" {
            value.to_string().into_bytes()
        } else {
            // Fields that are not text are left out.
            let fields = members(&value);
            let fields = fields.filter_map(|(name, it)| Some((&**name, it.as_str()?.to_owned())));
            form(fields).into_bytes()
        };
    }
    templates::path(&operation.id, &mut draft.path, random, pool);
    draft
}

/// The media type and the schema of an operation's body.
pub(super) fn body_of(operation: &Served) -> Option<(&'static str, &Value)> {
    let content = &operation.raw["requestBody"]["content"];
    let known = ["application/json", "application/x-www-form-urlencoded"];
    known.into_iter().find_map(|media_type| {
        let schema = &content.get(media_type)?["schema"];
        Some((media_type, operation.document.resolve(schema)))
    })
}

/// Whether the spec says too little for all that it allows to be accepted: undocumented bodies, an event command whose
/// needed fields are undocumented, a filter whose values are, and a window whose order is assumed.
pub(super) fn is_open(operation: &Served) -> bool {
    let undocumented = body_of(operation).is_some_and(|(_, schema)| schema.get("type").is_none());
    let open = [
        "submitEventCommand",
        "exchangeToken",
        "getFunnel",
        "listIntakeSubmissions",
    ];
    undocumented || open.contains(&&*operation.id)
}

/// The request for the page after this one, if there is one.
pub(super) fn next_page(request: &Request, body: &Value) -> Option<Request> {
    let cursor = encoded(body.get("nextCursor")?.as_str()?);
    let query = request.query.as_deref().unwrap_or_default();
    let query = query.split('&').filter(|pair| !pair.starts_with("cursor="));
    let query: Vec<&str> = query.filter(|pair| !pair.is_empty()).collect();
    Some(Request {
        query: Some(format!("cursor={cursor}&{}", query.join("&"))),
        ..request.clone()
    })
}

/// A value that conforms to a schema.
fn value(document: &Document, schema: &Value, random: &mut Rng, pool: &Pool) -> Value {
    let schema = document.resolve(schema);
    if schema["nullable"] == true && random.u8(..100) < 20 {
        return Value::Null;
    }
    match schema["type"].as_str() {
        None => anything(random, 2),
        Some("string") => string(schema, random, pool).into(),
        Some("integer") => {
            let least = schema["minimum"].as_i64().unwrap_or(-3);
            let most = schema["maximum"].as_i64().unwrap_or(1_000);
            pick(random, least, most, |random| random.i64(least..=most)).into()
        }
        Some("boolean") => random.bool().into(),
        Some("array") => {
            let least = size(schema, "minItems").unwrap_or(0);
            let most = size(schema, "maxItems").unwrap_or(4);
            let count = pick(random, least, most, |random| random.usize(least..=most));
            let item = |_| value(document, &schema["items"], random, pool);
            (0..count).map(item).collect()
        }
        Some("object") => {
            let required = list(&schema["required"]);
            let mut object = Map::new();
            for (name, property) in members(&schema["properties"]) {
                if required.contains(&json!(name)) || random.u8(..100) < 60 {
                    object.insert(name.clone(), value(document, property, random, pool));
                }
            }
            if random.u8(..100) < 25 {
                object.insert("unheardOf".to_owned(), anything(random, 2));
            }
            object.into()
        }
        Some(other) => panic!("nobody makes a {other}"),
    }
}

/// One of the bounds, or something between them.
fn pick<T>(random: &mut Rng, least: T, most: T, between: impl Fn(&mut Rng) -> T) -> T {
    match random.u8(..3) {
        0 => least,
        1 => most,
        _ => between(random),
    }
}

pub(super) fn size(schema: &Value, keyword: &str) -> Option<usize> {
    schema[keyword].as_u64()?.try_into().ok()
}

fn string(schema: &Value, random: &mut Rng, pool: &Pool) -> String {
    let values = list(&schema["enum"]);
    if let Some(value) = random.choice(values) {
        return plain(value);
    }
    let least = size(schema, "minLength").unwrap_or(0);
    let most = size(schema, "maxLength").unwrap_or(40);
    if let Some(pattern) = schema["pattern"].as_str() {
        let prefix = pattern.trim_start_matches('^').split('[').next().unwrap();
        let seen = pool.pick(prefix, random).filter(|_| random.u8(..100) < 80);
        let turn = random.usize(..1_000);
        return seen.unwrap_or_else(|| text::matching(pattern, least, turn).unwrap());
    }
    match schema["format"].as_str() {
        Some("date-time") => {
            let second = random.i64(1_700_000_000..=1_800_000_000);
            jiff::Timestamp::from_second(second).unwrap().to_string()
        }
        Some("date") => {
            let (month, day) = (random.i64(1..=12), random.i64(1..=28));
            format!("{}-{month:02}-{day:02}", random.i64(1990..=2040))
        }
        _ => {
            let length = pick(random, least, most, |random| random.usize(least..=most));
            let letter = |_| *random.choice(&LETTERS).unwrap();
            (0..length).map(letter).collect()
        }
    }
}

/// Any JSON.
fn anything(random: &mut Rng, depth: u32) -> Value {
    match random.i64(0..=if depth == 0 { 5 } else { 7 }) {
        0 => Value::Null,
        1 => random.bool().into(),
        2 => random.i64(i64::MIN / 2..=i64::MAX / 2).into(),
        3 => json!(0.1),
        4 | 5 => {
            let length = random.usize(0..=8);
            let letters = (0..length).map(|_| *random.choice(&LETTERS).unwrap());
            letters.collect::<String>().into()
        }
        6 => {
            let length = random.usize(0..=3);
            (0..length).map(|_| anything(random, depth - 1)).collect()
        }
        _ => {
            let names = ["operation", "publicReference", "payload", "x"];
            let length = random.usize(0..=3);
            let fields = (0..length).map(|_| {
                let name = *random.choice(&names).unwrap();
                (name.to_owned(), anything(random, depth - 1))
            });
            fields.collect::<Map<_, _>>().into()
        }
    }
}

/// A value as a parameter is written.
fn plain(value: &Value) -> String {
    crate::schema::document::plain(value)
}
