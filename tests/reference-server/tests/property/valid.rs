//! Requests that the spec allows.

use fastrand::Rng;
use serde_json::{Map, Value, json};

use crate::pool::Pool;
use crate::request::{Request, encoded};
use crate::schema::Schema;
use crate::spec::{Described, Place};
use crate::{pattern, templates};

/// Characters that break what is careless with text.
const LETTERS: [char; 16] = [
    'a', 'n', 'B', '7', ' ', '-', '&', '=', '%', '"', '\\', 'é', '漢', '🦀', '\u{0}', '\n',
];

/// A request within the spec.
pub(crate) fn request(operation: &Described, random: &mut Rng, pool: &Pool) -> Request {
    let mut request = Request {
        path: operation.path.clone(),
        query: Vec::new(),
        headers: Vec::new(),
        media_type: None,
        body: Vec::new(),
    };
    for parameter in &operation.parameters {
        let name = &parameter.name;
        // A cursor is not made up; it comes from a page.
        if name == "cursor" || !parameter.required && random.u8(..100) >= 50 {
            continue;
        }
        let value = plain(&value(parameter.schema, random, pool));
        match parameter.place {
            Place::Path => {
                request.path = request
                    .path
                    .replace(&format!("{{{name}}}"), &encoded(&value));
            }
            Place::Query => request.query.push((name.clone(), value)),
            Place::Header => request.headers.push((name.to_lowercase(), value)),
        }
    }
    for [one, other] in &operation.exclusive {
        let both = [one, other]
            .iter()
            .all(|name| request.query.iter().any(|(known, _)| known == *name));
        if both {
            request.query.retain(|(name, _)| name != other);
        }
    }
    if let Some(body) = &operation.body {
        let value = value(body.schema, random, pool);
        let value = templates::body(&operation.id, value, random, pool);
        if body.form {
            request.media_type = Some("application/x-www-form-urlencoded");
            request.body = form(&value).into_bytes();
        } else {
            request.media_type = Some("application/json");
            request.body = value.to_string().into_bytes();
        }
    }
    templates::path(&operation.id, &mut request.path, random, pool);
    request
}

/// Whether the spec says too little for all that it allows to be accepted: bodies that are not shown, two whose
/// members are shown without those that are needed, a filter whose values are not shown, and a window whose order is assumed.
pub(crate) fn is_open(operation: &Described) -> bool {
    let body = operation.body.as_ref();
    let unshown = body.is_some_and(|body| body.schema.text("type").is_none());
    unshown
        || [
            "submitEventCommand",
            "exchangeToken",
            "getFunnel",
            "listIntakeSubmissions",
        ]
        .contains(&operation.id.as_str())
}

/// The request for the page after this one, if there is one.
pub(crate) fn next_page(request: &Request, body: &Value) -> Option<Request> {
    let cursor = body.get("nextCursor")?.as_str()?;
    Some(request.with_query("cursor", &[cursor]))
}

/// A value that conforms to a schema.
pub(crate) fn value(schema: Schema, random: &mut Rng, pool: &Pool) -> Value {
    if schema.nullable() && random.u8(..100) < 20 {
        return Value::Null;
    }
    match schema.text("type") {
        None => anything(random, 2),
        Some("string") => string(schema, random, pool).into(),
        Some("integer") => {
            let (least, most) = (
                schema.number("minimum").unwrap_or(-3),
                schema.number("maximum").unwrap_or(1_000),
            );
            let picks = [least, most, random.i64(least..=most)];
            (*random.choice(&picks).unwrap()).into()
        }
        Some("boolean") => random.bool().into(),
        Some("array") => {
            let least = schema.size("minItems").unwrap_or(0);
            let most = schema.size("maxItems").unwrap_or(4);
            let picks = [least, most, random.usize(least..=most)];
            let items = schema.items().unwrap();
            (0..*random.choice(&picks).unwrap())
                .map(|_| value(items, random, pool))
                .collect()
        }
        Some("object") => {
            let required = schema.required();
            let mut members = Map::new();
            for (name, schema) in schema.properties() {
                if required.contains(&name) || random.u8(..100) < 60 {
                    members.insert(name.to_owned(), value(schema, random, pool));
                }
            }
            if random.u8(..100) < 25 {
                members.insert("unheardOf".to_owned(), anything(random, 2));
            }
            members.into()
        }
        Some(other) => panic!("nobody makes a {other}"),
    }
}

fn string(schema: Schema, random: &mut Rng, pool: &Pool) -> String {
    let values = schema.values();
    if !values.is_empty() {
        return (*random.choice(&values).unwrap()).to_owned();
    }
    let least = schema.size("minLength").unwrap_or(0);
    let most = schema.size("maxLength").unwrap_or(40);
    if let Some(known) = schema.text("pattern") {
        let prefix = known.trim_start_matches('^').split('[').next().unwrap();
        let seen = pool.pick(prefix, random).filter(|_| random.u8(..100) < 80);
        return seen.unwrap_or_else(|| pattern::text(known, random, (least, most)));
    }
    match schema.text("format") {
        Some("date-time") => {
            let second = random.i64(1_700_000_000..=1_800_000_000);
            jiff::Timestamp::from_second(second).unwrap().to_string()
        }
        Some("date") => {
            let (month, day) = (random.i64(1..=12), random.i64(1..=28));
            format!("{}-{month:02}-{day:02}", random.i64(1990..=2040))
        }
        _ => {
            let picks = [least, most, random.usize(least..=most)];
            let length = *random.choice(&picks).unwrap();
            (0..length)
                .map(|_| *random.choice(&LETTERS).unwrap())
                .collect()
        }
    }
}

/// Any JSON.
pub(crate) fn anything(random: &mut Rng, depth: u32) -> Value {
    match random.i64(0..=if depth == 0 { 5 } else { 7 }) {
        0 => Value::Null,
        1 => random.bool().into(),
        2 => random.i64(i64::MIN / 2..=i64::MAX / 2).into(),
        3 => json!(0.1),
        4 | 5 => (0..random.usize(0..=8))
            .map(|_| *random.choice(&LETTERS).unwrap())
            .collect::<String>()
            .into(),
        6 => (0..random.usize(0..=3))
            .map(|_| anything(random, depth - 1))
            .collect(),
        _ => {
            let name = ["operation", "publicReference", "payload", "x"];
            let members = (0..random.usize(0..=3)).map(|_| {
                (
                    (*random.choice(&name).unwrap()).to_owned(),
                    anything(random, depth - 1),
                )
            });
            members.collect::<Map<_, _>>().into()
        }
    }
}

/// A value as a parameter is written.
pub(crate) fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// The members of an object as a form; members that are no text are left out.
pub(crate) fn form(value: &Value) -> String {
    let members = value.as_object().into_iter().flatten();
    let fields = members.filter(|(_, value)| value.is_string());
    let fields =
        fields.map(|(name, value)| format!("{}={}", encoded(name), encoded(&plain(value))));
    fields.collect::<Vec<_>>().join("&")
}
