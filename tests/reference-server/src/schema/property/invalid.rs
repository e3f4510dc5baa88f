//! Requests that each break exactly one rule of the spec, with a description of the broken rule.

use bytes::Bytes;
use fastrand::Rng;
use serde_json::{Value, json};

use super::driver::{Pool, encoded, with_header, with_query};
use super::valid::{self, body_of, size};
use crate::message::Request;
use crate::schema::Served;
use crate::schema::check::{self, Side};
use crate::schema::document::{Document, list, members, plain};
use crate::schema::parameter::Parameter;

/// The number of valid requests that serve as a base.
const BASES: usize = 4;

type Broken = Vec<(String, Request)>;

pub(super) fn requests(operation: &Served, random: &mut Rng, pool: &Pool) -> Broken {
    let mut broken = Broken::new();
    for _ in 0..BASES {
        let mut base = valid::request(operation, random, pool);
        if operation.is_exchange() {
            // With wrong credentials, the credentials would be the reason for the rejection.
            let form = "grant_type=client_credentials&client_id=reference-client&client_secret=reference-secret";
            base.body = form.into();
        }
        for parameter in &operation.parameters {
            of_parameter(operation, parameter, &base, &mut broken);
        }
        for pair in list(&operation.raw["x-mutually-exclusive"]) {
            let [one, other] = [&pair[0], &pair[1]].map(plain);
            let both = with_query(&base, &one, &["received"]);
            broken.push((format!("{pair}"), with_query(&both, &other, &["all"])));
        }
        match body_of(operation) {
            Some(("application/json", schema)) => of_json(operation, schema, &base, &mut broken),
            Some(_) => of_form(&base, &mut broken),
            None => {}
        }
    }
    broken
}

fn with_body(base: &Request, body: impl Into<Bytes>) -> Request {
    Request {
        body: body.into(),
        ..base.clone()
    }
}

fn of_parameter(operation: &Served, parameter: &Parameter, base: &Request, broken: &mut Broken) {
    let name = parameter.name.as_str();
    let schema = operation.document.resolve(&parameter.schema);
    let mut texts = texts(&operation.document, schema);
    if name == "cursor" {
        let made_up = ["", "made-up", "bWFkZS11cC1idXQtbG9uZy1lbm91Z2g"];
        texts.extend(made_up.map(str::to_owned));
    }
    let (twice, missing) = (format!("{name} twice"), format!("{name} missing"));
    let text = |value: &String| format!("{name}={value:?}");
    if operation.takes_query(name) {
        // Omit optional parameters, so that they can't be the reason for the rejection.
        let optional = operation.parameters.iter().filter(|it| !it.required);
        let alone = optional.fold(base.clone(), |request, it| {
            with_query(&request, &it.name, &[])
        });
        let with = |values: &[&str]| with_query(&alone, name, values);
        broken.extend(texts.iter().map(|value| (text(value), with(&[value]))));
        broken.push((twice, with(&["1", "1"])));
        if parameter.required {
            broken.push((missing, with(&[])));
        }
    } else if operation.takes_header(&name.to_lowercase()) {
        let with = |values: &[&str]| with_header(base, name, values);
        texts.retain(|value| !value.contains(char::is_control));
        broken.extend(texts.iter().map(|value| (text(value), with(&[value]))));
        let key = "a-key-of-sixteen";
        broken.push((twice, with(&[key, key])));
        broken.push((missing, with(&[])));
    } else {
        broken.extend(texts.iter().map(|value| {
            let mut elsewhere = base.clone();
            let place = format!("{{{name}}}");
            elsewhere.path = operation.path.replace(&place, &encoded(value));
            (text(value), elsewhere)
        }));
    }
}

/// Returns strings that break the rules of a schema.
fn texts(document: &Document, schema: &Value) -> Vec<String> {
    let first = list(&schema["enum"]).first().map(plain);
    let wrong = match (schema["type"].as_str(), schema["format"].as_str()) {
        (Some("integer"), _) => "|ten|1.5|1e1|+1| 1|0x1|99999999999999999999999",
        (_, Some("date-time")) => {
            "|yesterday|2026-01-15|2026-02-30T00:00:00Z|2026-01-15T00:00:00|1768467600"
        }
        (_, Some("date")) => "|2026-02-30|2026-1-1|2026-01-01T00:00:00Z|today",
        _ if first.is_some() => "|unheard_of",
        _ => return bounds(document, schema),
    };
    let mut texts: Vec<String> = wrong.split('|').map(str::to_owned).collect();
    if let Some(first) = first {
        texts.extend([format!("{first} "), first.to_uppercase()]);
    }
    texts.extend(bounds(document, schema));
    texts
}

/// Returns strings beyond the limits of a schema, and near misses of its pattern.
fn bounds(document: &Document, schema: &Value) -> Vec<String> {
    let mut texts = Vec::new();
    let bound = |keyword: &str| schema[keyword].as_i64();
    texts.extend(bound("minimum").map(|least| (least - 1).to_string()));
    texts.extend(bound("maximum").map(|most| (most + 1).to_string()));
    texts.extend(size(schema, "minLength").map(|least| "é".repeat(least - 1)));
    texts.extend(size(schema, "maxLength").map(|most| "a".repeat(most + 1)));
    if let Some(pattern) = schema["pattern"].as_str() {
        let prefix = pattern.trim_start_matches('^').split(['[', '(']).next();
        let right = format!("{}0123456789AB", prefix.unwrap());
        let wrong = [
            right.to_lowercase(),
            format!("{right}0"),
            format!("X{right}"),
            format!("{right}\n"),
            right.replace('0', "G "),
            right[..right.len() - 1].to_owned(),
            "mine, or somebody's".to_owned(),
        ];
        let wrong = wrong.into_iter();
        texts.extend(wrong.filter(|text| !document.matches(pattern, text)));
    }
    texts
}

fn of_form(base: &Request, broken: &mut Broken) {
    let form = String::from_utf8(base.body.to_vec()).unwrap();
    let bodies = [
        form.replace("grant_type", "grant"),
        form.replace("=client_credentials", "=password"),
        format!("{form}&grant_type=client_credentials"),
        format!("{form}&scope=%FF"),
    ];
    let bodies = bodies.map(|body| (format!("form {body}"), with_body(base, body)));
    broken.extend(bodies);
    let json = with_header(base, "content-type", &["application/json"]);
    broken.push(("JSON".to_owned(), json));
}

fn of_json(operation: &Served, schema: &Value, base: &Request, broken: &mut Broken) {
    let texts = ["", "{", "{]", "nul", "{'a':1}", "{}{}", "\u{feff}{}"].map(str::as_bytes);
    for body in texts.into_iter().chain([&b"\xff\xfe"[..]]) {
        let what = format!("body {:?}", String::from_utf8_lossy(body));
        broken.push((what, with_body(base, body)));
    }
    let others: [&[&str]; 3] = [&[], &["text/plain"], &["application/x-www-form-urlencoded"]];
    for other in others {
        let request = with_header(base, "content-type", other);
        broken.push((format!("media type {other:?}"), request));
    }
    let body: Value = serde_json::from_slice(&base.body).unwrap();
    let document = &operation.document;
    for (what, value) in spoilt(document, schema, &body) {
        // The generator and the validator are independent, and must agree.
        let problems = check::problems(document, Side::Request, schema, &value, "");
        assert!(!problems.is_empty(), "{what}: {value} is within the spec");
        broken.push((format!("body{what}"), with_body(base, value.to_string())));
    }
}

/// Returns variations of a value that break its schema in one place.
fn spoilt(document: &Document, schema: &Value, value: &Value) -> Vec<(String, Value)> {
    let schema = document.resolve(schema);
    let kind = schema["type"].as_str();
    let mut broken = Vec::new();
    let nullable = schema["nullable"] == true;
    for (its_kind, other) in [
        ("number", json!(7.5)),
        ("boolean", json!(true)),
        ("string", json!("text")),
        ("array", json!([])),
        ("object", json!({})),
        ("null", Value::Null),
    ] {
        let fits = its_kind == "null" && nullable;
        if !fits && kind.is_some_and(|kind| kind != its_kind) {
            broken.push((format!(": {other}"), other));
        }
    }
    match (kind, value) {
        (Some("string"), _) => {
            let texts = texts(document, schema).into_iter();
            broken.extend(texts.map(|text| (format!(": {text:?}"), text.into())));
        }
        (Some("array"), Value::Array(items)) => {
            if let Some(most) = size(schema, "maxItems") {
                let filler = items.first().cloned().unwrap_or(json!({}));
                broken.push((": too many".to_owned(), vec![filler; most + 1].into()));
            }
            if size(schema, "minItems").is_some_and(|least| least > 0) {
                broken.push((": none".to_owned(), json!([])));
            }
            let inner = spoilt(document, &schema["items"], &Value::Null);
            let inner = inner.into_iter().take(3);
            broken.extend(inner.map(|(what, item)| (format!("[0]{what}"), json!([item]))));
        }
        (Some("object"), Value::Object(fields)) => {
            for name in list(&schema["required"]).iter().filter_map(Value::as_str) {
                let mut less = fields.clone();
                less.remove(name);
                broken.push((format!(".{name} missing"), less.into()));
            }
            for (name, property) in members(&schema["properties"]) {
                let current = fields.get(name).unwrap_or(&Value::Null);
                for (what, value) in spoilt(document, property, current) {
                    let mut other = fields.clone();
                    other.insert(name.clone(), value);
                    broken.push((format!(".{name}{what}"), other.into()));
                }
            }
        }
        _ => {}
    }
    broken
}
