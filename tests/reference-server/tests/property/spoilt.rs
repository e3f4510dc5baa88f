//! Bodies that break the spec in one thing.

use serde_json::{Value, json};

use crate::invalid::texts;
use crate::request::Request;
use crate::schema::Schema;

pub(crate) fn form(base: &Request, broken: &mut Vec<(String, Request)>) {
    let text = String::from_utf8(base.body.clone()).unwrap();
    let with = |body: String| Request {
        body: body.into_bytes(),
        ..base.clone()
    };
    broken.push((
        "no grant type".to_owned(),
        with(text.replace("grant_type", "grant")),
    ));
    broken.push((
        "another grant type".to_owned(),
        with(text.replace("=client_credentials", "=password")),
    ));
    broken.push((
        "a field twice".to_owned(),
        with(format!("{text}&grant_type=client_credentials")),
    ));
    broken.push(("no UTF-8".to_owned(), with(format!("{text}&scope=%FF"))));
    broken.push((
        "JSON".to_owned(),
        Request {
            media_type: Some("application/json"),
            ..base.clone()
        },
    ));
}

pub(crate) fn json_body(schema: Schema, base: &Request, broken: &mut Vec<(String, Request)>) {
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
        let request = Request {
            body: body.to_vec(),
            ..base.clone()
        };
        broken.push((format!("body {:?}", String::from_utf8_lossy(body)), request));
    }
    for media_type in [
        None,
        Some("text/plain"),
        Some("application/x-www-form-urlencoded"),
    ] {
        broken.push((
            format!("media type {media_type:?}"),
            Request {
                media_type,
                ..base.clone()
            },
        ));
    }
    let body = base.json();
    for (what, value) in spoilt(schema, &body) {
        assert!(
            schema.problem(&value, "body").is_some(),
            "{what}: {value} is within the spec"
        );
        broken.push((format!("body{what}"), base.with_json(&value)));
    }
}

/// Versions of a value that break its schema in one place.
fn spoilt(schema: Schema, value: &Value) -> Vec<(String, Value)> {
    let mut broken = Vec::new();
    let kind = schema.text("type");
    let others = r#"[7.5, true, "text", [], {}, null]"#;
    let others: Vec<Value> = serde_json::from_str(others).unwrap();
    for other in others {
        let same = match kind {
            None => true,
            Some(_) if other.is_null() => schema.nullable(),
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
            broken.extend(
                texts(schema, false)
                    .into_iter()
                    .map(|text| (format!(": {text:?}"), text.into())),
            );
            if schema.text("format") == Some("date") {
                for text in [
                    "2026-02-30",
                    "2026-1-1",
                    "2026-01-01T00:00:00Z",
                    "",
                    "today",
                ] {
                    broken.push((format!(": {text:?}"), text.into()));
                }
            }
        }
        (Some("array"), Value::Array(items)) => {
            let filler = items.first().cloned().unwrap_or(json!({}));
            if let Some(most) = schema.size("maxItems") {
                broken.push((": too many".to_owned(), vec![filler; most + 1].into()));
            }
            if schema.size("minItems").is_some_and(|least| least > 0) {
                broken.push((": none".to_owned(), json!([])));
            }
            let inner = spoilt(schema.items().unwrap(), &Value::Null)
                .into_iter()
                .take(3);
            broken.extend(inner.map(|(what, item)| (format!("[0]{what}"), json!([item]))));
        }
        (Some("object"), Value::Object(members)) => {
            for name in schema.required() {
                let mut less = members.clone();
                less.remove(name);
                broken.push((format!(".{name} missing"), less.into()));
            }
            for (name, property) in schema.properties() {
                let current = members.get(name).unwrap_or(&Value::Null);
                for (what, value) in spoilt(property, current) {
                    let mut other = members.clone();
                    other.insert(name.to_owned(), value);
                    broken.push((format!(".{name}{what}"), other.into()));
                }
            }
        }
        _ => {}
    }
    broken
}
