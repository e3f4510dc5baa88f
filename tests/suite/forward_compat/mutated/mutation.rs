//! What a later version of a contract may do to a reply, within what its schema leaves open.

use super::arbitrary::Random;
use super::json::Json;
use super::schema::{Kind, Member, Schema};

/// Instants in notations that RFC 3339 allows, some of which no date library holds.
const INSTANTS: [&str; 9] = [
    "2026-01-15T09:00:00Z",
    "2026-01-15T10:30:00+05:30",
    "1970-01-01T00:00:00.000000001Z",
    "2026-06-30t23:59:59.5z",
    "2016-12-31T15:59:60-08:00",
    "9999-12-30T00:00:00-11:00",
    "9999-12-31T23:59:59Z",
    "9999-12-31T23:59:59.999999999-12:00",
    "2026-01-15T09:00:00.123456789012Z",
];

const INTEGERS: [&str; 5] = [
    "0",
    "-1",
    "1",
    "9223372036854775807",
    "-9223372036854775808",
];

/// Integers that 64 bits do not hold.
const ODD_INTEGERS: [&str; 3] = [
    "9223372036854775808",
    "-9223372036854775809",
    "123456789012345678901234567890",
];

/// A reply as a later version might send it.
pub(super) fn mutate(value: &Json, schema: Schema, random: &mut Random) -> Json {
    match (schema.kind(), value) {
        (Kind::Object(known), Json::Object(members)) => object(&known, members, random),
        (Kind::Array(items, many), Json::Array(values)) => array(items, many, values, random),
        (Kind::OpenObject, Json::Object(members)) => inside(members, random),
        (Kind::Open, _) => open(value, random),
        (Kind::Text, _) if random.percent(30) => random.text(),
        (Kind::Instant, _) if random.percent(50) => Json::Text(random.one_of(&INSTANTS).to_owned()),
        (Kind::Integer, _) if random.percent(30) => {
            Json::Number(random.one_of(&INTEGERS).to_owned())
        }
        (Kind::Number, _) if random.percent(70) => random.number(),
        (Kind::Boolean, _) if random.percent(30) => Json::Bool(random.percent(50)),
        _ => value.clone(),
    }
}

fn object(known: &[Member], members: &[(String, Json)], random: &mut Random) -> Json {
    let mut mutated = Vec::new();
    for (name, value) in members {
        let value = match known.iter().find(|member| member.name == name) {
            None => open(value, random),
            Some(member) if !member.required && random.percent(10) => continue,
            Some(member) if !member.required && random.percent(10) => Json::Null,
            Some(member) if member.schema.is_assumed() && random.percent(30) => random.value(),
            Some(member) if !member.required && random.percent(10) => odd(value, member, random),
            Some(member) => mutate(value, member.schema, random),
        };
        mutated.push((name.clone(), value));
    }
    while random.percent(40) {
        let (name, value) = random.member();
        if !known.iter().any(|member| member.name == name) {
            mutated.push((name, value));
        }
    }
    if random.percent(50) {
        random.shuffle(&mut mutated);
    }
    Json::Object(mutated)
}

/// A value of the member's type that its field cannot hold, if there are any.
fn odd(value: &Json, member: &Member, random: &mut Random) -> Json {
    match member.schema.kind() {
        Kind::Integer => Json::Number(random.one_of(&ODD_INTEGERS).to_owned()),
        _ => mutate(value, member.schema, random),
    }
}

fn array(items: Schema, many: usize, values: &[Json], random: &mut Random) -> Json {
    let mut mutated: Vec<Json> = values
        .iter()
        .map(|value| mutate(value, items, random))
        .collect();
    if random.percent(20) && !values.is_empty() {
        mutated = values
            .iter()
            .cycle()
            .take(many.max(values.len() + 1))
            .map(|value| mutate(value, items, random))
            .collect();
    } else if random.percent(10) {
        mutated.clear();
    }
    if random.percent(20) {
        random.shuffle(&mut mutated);
    }
    Json::Array(mutated)
}

/// Where nothing is shown, anything may come.
fn open(value: &Json, random: &mut Random) -> Json {
    if random.percent(15) {
        return random.value();
    }
    match value {
        Json::Array(values) => {
            Json::Array(values.iter().map(|value| open(value, random)).collect())
        }
        Json::Object(members) => inside(members, random),
        other => other.clone(),
    }
}

/// An object stays one, with whatever members.
fn inside(members: &[(String, Json)], random: &mut Random) -> Json {
    let mut mutated: Vec<_> = members
        .iter()
        .map(|(name, value)| (name.clone(), open(value, random)))
        .collect();
    mutated.extend((0..random.below(2)).map(|_| random.member()));
    random.shuffle(&mut mutated);
    Json::Object(mutated)
}

/// The value in the one form that all of its notations have: members in the order of their names.
pub(super) fn normal(value: &Json, schema: Option<Schema>) -> Json {
    let kind = schema.map_or(Kind::Open, Schema::kind);
    match (kind, value) {
        (Kind::Array(items, _), Json::Array(values)) => Json::Array(
            values
                .iter()
                .map(|value| normal(value, Some(items)))
                .collect(),
        ),
        (kind, Json::Object(members)) => {
            let known = if let Kind::Object(known) = kind {
                known
            } else {
                Vec::new()
            };
            let mut members: Vec<(String, Json)> = members
                .iter()
                .map(|(name, value)| {
                    let member = known.iter().find(|member| member.name == name);
                    (
                        name.clone(),
                        normal(value, member.map(|member| member.schema)),
                    )
                })
                .collect();
            // Stable, so that equal names stay in their order.
            members.sort_by(|(left, _), (right, _)| left.cmp(right));
            Json::Object(members)
        }
        (_, other) => other.clone(),
    }
}
