//! Builds requests that a spec allows.

use fastrand::Rng;
use serde_json::{Map, Value, json};

use super::driver::{self, Pool, encoded, form, with_header, with_query};
use super::templates;
use crate::message::Request;
use crate::schema::document::{Document, list, members, plain};
use crate::schema::{Served, text};

/// Characters that break careless code.
const LETTERS: [char; 16] = [
    'a', 'n', 'B', '7', ' ', '-', '&', '=', '%', '"', '\\', 'é', '漢', '🦀', '\u{0}', '\n',
];

pub(super) fn request(operation: &Served, random: &mut Rng, pool: &Pool) -> Request {
    let document = &operation.document;
    let mut query = Vec::new();
    let method = operation.method.parse().unwrap();
    let mut request = driver::request(method, operation.path.clone());
    for parameter in &operation.parameters {
        let name = &*parameter.name;
        // Cursors are not generated, but taken from a page.
        if name == "cursor" || !parameter.required && random.u8(..100) >= 50 {
            continue;
        }
        let value = plain(&value(document, &parameter.schema, random, pool));
        if operation.takes_query(name) {
            query.push((name, value));
        } else if operation.takes_header(&name.to_lowercase()) {
            request = with_header(&request, name, &[&value]);
        } else {
            let place = format!("{{{name}}}");
            request.path = request.path.replace(&place, &encoded(&value));
        }
    }
    for pair in list(&operation.raw["x-mutually-exclusive"]) {
        let given = |name: &Value| query.iter().any(|(known, _)| *name == *known);
        if list(pair).iter().all(given) {
            query.retain(|(name, _)| pair[1] != *name);
        }
    }
    for (name, value) in query {
        request = with_query(&request, name, &[&value]);
    }
    let known = templates::known(&operation.id, random, pool);
    if let Some((media_type, schema)) = body_of(operation) {
        let value = value(document, schema, random, pool);
        let value = known.map_or(value, |known| serde_json::from_str(&known).unwrap());
        request = with_header(&request, "content-type", &[media_type]);
        request.body = if media_type == "application/json" {
            value.to_string().into()
        } else {
            // Omit fields that are not strings.
            let fields = members(&value);
            let fields = fields.filter_map(|(name, it)| Some((&**name, it.as_str()?)));
            form(fields).into()
        };
    } else if let Some(path) = known {
        request.path = path;
    }
    request
}

pub(super) fn body_of(operation: &Served) -> Option<(&'static str, &Value)> {
    let content = &operation.raw["requestBody"]["content"];
    let known = ["application/json", "application/x-www-form-urlencoded"];
    known.into_iter().find_map(|media_type| {
        let schema = &content.get(media_type)?["schema"];
        Some((media_type, operation.document.resolve(schema)))
    })
}

/// Whether the server may reject requests that the spec allows. The spec leaves open some bodies, the required fields
/// of an event command, the values of a filter, and the order of a window.
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

pub(super) fn next_page(request: &Request, body: &Value) -> Option<Request> {
    let cursor = body.get("nextCursor")?.as_str()?;
    Some(with_query(request, "cursor", &[cursor]))
}

fn value(document: &Document, schema: &Value, random: &mut Rng, pool: &Pool) -> Value {
    let schema = document.resolve(schema);
    if schema["nullable"] == true && random.u8(..100) < 20 {
        return Value::Null;
    }
    match schema["type"].as_str() {
        None => anything(random),
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
                object.insert("unheardOf".to_owned(), anything(random));
            }
            object.into()
        }
        Some(other) => panic!("no generator for type {other}"),
    }
}

/// Returns a bound, or a value between the bounds.
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

fn anything(random: &mut Rng) -> Value {
    let values = [
        json!(null),
        json!(true),
        json!(i64::MIN),
        json!(0.1),
        json!("é\u{0}\n漢"),
        json!([1, "a", null, [{}]]),
        json!({"operation": true, "payload": {"x": [0.1]}}),
        json!({"publicReference": 7, "payload": null}),
    ];
    random.choice(values).unwrap()
}
