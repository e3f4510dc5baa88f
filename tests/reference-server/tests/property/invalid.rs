//! Requests that break the spec in one thing, and what that thing is.

use fastrand::Rng;

use crate::pool::Pool;
use crate::request::{Request, encoded};
use crate::schema::{Schema, matches};
use crate::spec::{Described, Parameter, Place};
use crate::{spoilt, valid};

/// From so many valid requests each.
const BASES: usize = 4;

pub(crate) fn requests(
    operation: &Described,
    random: &mut Rng,
    pool: &Pool,
) -> Vec<(String, Request)> {
    let mut broken = Vec::new();
    for _ in 0..BASES {
        let mut base = valid::request(operation, random, pool);
        if operation.id == "exchangeToken" {
            // With other credentials, it is they that are refused.
            base.body =
                b"grant_type=client_credentials&client_id=reference-client&client_secret=reference-secret".to_vec();
        }
        for parameter in &operation.parameters {
            of_parameter(operation, parameter, &base, &mut broken);
        }
        of_combinations(operation, &base, &mut broken);
        if let Some(body) = &operation.body {
            if body.form {
                spoilt::form(&base, &mut broken);
            } else {
                spoilt::json_body(body.schema, &base, &mut broken);
            }
        }
    }
    broken
}

fn of_parameter(
    operation: &Described,
    parameter: &Parameter,
    base: &Request,
    broken: &mut Vec<(String, Request)>,
) {
    let name = parameter.name.as_str();
    for value in texts(parameter.schema, name == "cursor") {
        let what = format!("{name}={value:?}");
        let value = value.as_str();
        match parameter.place {
            Place::Path => {
                let path = operation
                    .path
                    .replace(&format!("{{{name}}}"), &encoded(value));
                broken.push((
                    what,
                    Request {
                        path,
                        ..base.clone()
                    },
                ));
            }
            Place::Query => {
                // Alone, lest another parameter be the reason.
                let alone = alone(operation, base);
                broken.push((what, alone.with_query(name, &[value])));
            }
            Place::Header if value.contains(|letter: char| letter.is_control()) => {}
            Place::Header => broken.push((what, base.with_header(&name.to_lowercase(), &[value]))),
        }
    }
    let twice = format!("{name} twice");
    match parameter.place {
        Place::Path => {}
        Place::Query => {
            let known = base.query.iter().find(|(known, _)| known == name);
            if let Some((_, value)) = known {
                broken.push((twice, base.with_query(name, &[value, value])));
            }
            if parameter.required {
                broken.push((format!("{name} missing"), base.with_query(name, &[])));
            }
        }
        Place::Header => {
            let header = name.to_lowercase();
            broken.push((
                twice,
                base.with_header(&header, &["a-key-of-sixteen", "a-key-of-sixteen"]),
            ));
            broken.push((format!("{name} missing"), base.with_header(&header, &[])));
        }
    }
}

/// The request with its required parameters only.
fn alone(operation: &Described, base: &Request) -> Request {
    let mut request = base.clone();
    request.query.retain(|(name, _)| {
        operation
            .parameters
            .iter()
            .any(|known| known.required && known.name == *name)
    });
    request
}

/// Texts that a parameter of this schema must not be.
pub(crate) fn texts(schema: Schema, is_cursor: bool) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    match schema.text("type") {
        Some("integer") => {
            texts.extend(
                [
                    "",
                    "ten",
                    "1.5",
                    "1e1",
                    "+1",
                    " 1",
                    "0x1",
                    "99999999999999999999999",
                ]
                .map(str::to_owned),
            );
            texts.extend(
                schema
                    .number("minimum")
                    .map(|least| (least - 1).to_string()),
            );
            texts.extend(schema.number("maximum").map(|most| (most + 1).to_string()));
        }
        _ if !schema.values().is_empty() => {
            let first = schema.values()[0];
            texts.extend([
                String::new(),
                format!("{first} "),
                first.to_uppercase(),
                "unheard_of".to_owned(),
            ]);
        }
        _ if schema.text("format") == Some("date-time") => {
            let wrong = [
                "",
                "yesterday",
                "2026-01-15",
                "2026-02-30T00:00:00Z",
                "2026-01-15T00:00:00",
                "1768467600",
            ];
            texts.extend(wrong.map(str::to_owned));
        }
        _ => {}
    }
    if let Some(least) = schema.size("minLength") {
        texts.push("é".repeat(least - 1));
    }
    if let Some(most) = schema.size("maxLength") {
        texts.push("a".repeat(most + 1));
    }
    if let Some(pattern) = schema.text("pattern") {
        let right = "PER-0123456789AB".replace(
            "PER-",
            pattern
                .trim_start_matches('^')
                .split(['[', '('])
                .next()
                .unwrap(),
        );
        let wrong = [
            right.to_lowercase(),
            format!("{right}0"),
            format!("X{right}"),
            format!("{right}\n"),
            right.replace('0', "G "),
            right[..right.len() - 1].to_owned(),
            "mine, or somebody's".to_owned(),
        ];
        texts.extend(wrong.into_iter().filter(|text| !matches(pattern, text)));
    }
    if is_cursor {
        texts.extend(["", "made-up", "bWFkZS11cC1idXQtbG9uZy1lbm91Z2g"].map(str::to_owned));
    }
    texts
}

fn of_combinations(operation: &Described, base: &Request, broken: &mut Vec<(String, Request)>) {
    for [one, other] in &operation.exclusive {
        let allowed = |name: &String| {
            let parameter = operation
                .parameters
                .iter()
                .find(|known| known.name == *name)
                .unwrap();
            parameter
                .schema
                .values()
                .first()
                .map_or("accepted", |first| *first)
        };
        let both = base
            .with_query(one, &[allowed(one)])
            .with_query(other, &[allowed(other)]);
        broken.push((format!("{one} with {other}"), both));
    }
}
