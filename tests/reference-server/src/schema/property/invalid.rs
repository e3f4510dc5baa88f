//! Requests that break the spec in one thing, and what that thing is.

use fastrand::Rng;
use serde_json::{Value, json};

use super::driver::{Pool, encoded};
use super::valid::{self, Draft, body_of, size};
use crate::message::Request;
use crate::schema::Served;
use crate::schema::check::{self, Side};
use crate::schema::document::{Document, list, members, plain};
use crate::schema::parameter::Parameter;

/// From so many valid requests each.
const BASES: usize = 4;

type Broken = Vec<(String, Draft)>;

pub(super) fn requests(
    operation: &Served,
    random: &mut Rng,
    pool: &Pool,
) -> Vec<(String, Request)> {
    let mut broken = Broken::new();
    for _ in 0..BASES {
        let mut base = valid::draft(operation, random, pool);
        if operation.is_exchange() {
            // With other credentials, it is they that are rejected.
            let form = "grant_type=client_credentials&client_id=reference-client&client_secret=reference-secret";
            base = base.with_body(form);
        }
        for parameter in &operation.parameters {
            of_parameter(operation, parameter, &base, &mut broken);
        }
        for pair in list(&operation.raw["x-mutually-exclusive"]) {
            let [one, other] = [&pair[0], &pair[1]].map(plain);
            let both = base.with_query(&one, &["received"]);
            broken.push((format!("{pair}"), both.with_query(&other, &["all"])));
        }
        match body_of(operation) {
            Some(("application/json", schema)) => of_json(operation, schema, &base, &mut broken),
            Some(_) => of_form(&base, &mut broken),
            None => {}
        }
    }
    let request = |(what, draft): (String, Draft)| (what, draft.request());
    broken.into_iter().map(request).collect()
}

fn of_parameter(operation: &Served, parameter: &Parameter, base: &Draft, broken: &mut Broken) {
    let name = parameter.name.as_str();
    let header = name.to_lowercase();
    let schema = operation.document.resolve(&parameter.schema);
    let mut texts = texts(&operation.document, schema);
    if name == "cursor" {
        let made_up = ["", "made-up", "bWFkZS11cC1idXQtbG9uZy1lbm91Z2g"];
        texts.extend(made_up.map(str::to_owned));
    }
    for value in &texts {
        let what = format!("{name}={value:?}");
        if operation.takes_query(name) {
            // Without optional parameters, lest one of them be the reason.
            let mut alone = base.clone();
            alone.query.retain(|(known, _)| {
                let mut all = operation.parameters.iter();
                all.any(|it| it.required && it.name == *known)
            });
            broken.push((what, alone.with_query(name, &[value])));
        } else if operation.takes_header(&header) {
            if !value.contains(char::is_control) {
                broken.push((what, base.with_header(&header, &[value])));
            }
        } else {
            let mut elsewhere = base.clone();
            let place = format!("{{{name}}}");
            elsewhere.path = operation.path.replace(&place, &encoded(value));
            broken.push((what, elsewhere));
        }
    }
    let (twice, missing) = (format!("{name} twice"), format!("{name} missing"));
    if operation.takes_query(name) {
        let given = base.query.iter().find(|(known, _)| known == name);
        if let Some((_, value)) = given {
            broken.push((twice, base.with_query(name, &[value, value])));
        }
        if parameter.required {
            broken.push((missing, base.with_query(name, &[])));
        }
    } else if operation.takes_header(&header) {
        let key = "a-key-of-sixteen";
        broken.push((twice, base.with_header(&header, &[key, key])));
        broken.push((missing, base.with_header(&header, &[])));
    }
}

/// Texts that break the rules of a schema, as a parameter or as a string.
fn texts(document: &Document, schema: &Value) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    let first = list(&schema["enum"]).first().map(plain);
    let wrong: &[&str] = match (schema["type"].as_str(), schema["format"].as_str()) {
        (Some("integer"), _) => &[
            "",
            "ten",
            "1.5",
            "1e1",
            "+1",
            " 1",
            "0x1",
            "99999999999999999999999",
        ],
        (_, Some("date-time")) => &[
            "",
            "yesterday",
            "2026-01-15",
            "2026-02-30T00:00:00Z",
            "2026-01-15T00:00:00",
            "1768467600",
        ],
        (_, Some("date")) => &[
            "2026-02-30",
            "2026-1-1",
            "2026-01-01T00:00:00Z",
            "",
            "today",
        ],
        _ if first.is_some() => &["", "unheard_of"],
        _ => &[],
    };
    texts.extend(wrong.iter().map(|text| (*text).to_owned()));
    texts.extend(
        schema["minimum"]
            .as_i64()
            .map(|least| (least - 1).to_string()),
    );
    texts.extend(
        schema["maximum"]
            .as_i64()
            .map(|most| (most + 1).to_string()),
    );
    texts.extend(
        first
            .iter()
            .flat_map(|first| [format!("{first} "), first.to_uppercase()]),
    );
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

fn of_form(base: &Draft, broken: &mut Broken) {
    let form = String::from_utf8(base.body.clone()).unwrap();
    let bodies = [
        form.replace("grant_type", "grant"),
        form.replace("=client_credentials", "=password"),
        format!("{form}&grant_type=client_credentials"),
        format!("{form}&scope=%FF"),
    ];
    let bodies = bodies.map(|body| (format!("form {body}"), base.with_body(body)));
    broken.extend(bodies);
    let mut json = base.clone();
    json.media_type = "application/json";
    broken.push(("JSON".to_owned(), json));
}

fn of_json(operation: &Served, schema: &Value, base: &Draft, broken: &mut Broken) {
    let bodies: [&[u8]; 8] = [
        b"",
        b"{",
        b"{]",
        b"\xff\xfe",
        b"nul",
        b"{'a':1}",
        b"{}{}",
        b"\xef\xbb\xbf{}",
    ];
    for body in bodies {
        let what = format!("body {:?}", String::from_utf8_lossy(body));
        broken.push((what, base.with_body(body)));
    }
    for media_type in ["", "text/plain", "application/x-www-form-urlencoded"] {
        let mut other = base.clone();
        other.media_type = media_type;
        broken.push((format!("media type {media_type:?}"), other));
    }
    let body: Value = serde_json::from_slice(&base.body).unwrap();
    let document = &operation.document;
    for (what, value) in spoilt(document, schema, &body) {
        // The generator and the validator were written apart, and must agree.
        let problems = check::problems(document, Side::Request, schema, &value, "");
        assert!(!problems.is_empty(), "{what}: {value} is within the spec");
        broken.push((format!("body{what}"), base.with_body(value.to_string())));
    }
}

/// Versions of a value that break its schema in one place.
fn spoilt(document: &Document, schema: &Value, value: &Value) -> Vec<(String, Value)> {
    let schema = document.resolve(schema);
    let kind = schema["type"].as_str();
    let mut broken = Vec::new();
    for other in [
        json!(7.5),
        json!(true),
        json!("text"),
        json!([]),
        json!({}),
        Value::Null,
    ] {
        let same = match kind {
            None => true,
            Some(_) if other.is_null() => schema["nullable"] == true,
            Some("string") => other.is_string(),
            Some("boolean") => other.is_boolean(),
            Some("array") => other.is_array(),
            Some("object") => other.is_object(),
            Some("number") => other.is_number(),
            Some(_) => false,
        };
        if !same {
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
