//! Faults that a reply carries in its body: values, members, schemas and cursors that a client does not expect.

use std::sync::PoisonError;

use bytes::Bytes;
use serde_json::{Value, json};

use super::strike::Struck;
use crate::message::Reply;

/// Members whose values are enumerations.
const ENUMERATED: [&str; 6] = ["status", "stage", "type", "kind", "mode", "operation"];

/// The value that no contract knows.
const UNKNOWN: &str = "from_the_future";

pub(super) fn rewrite(struck: &Struck, reply: &mut Reply) {
    let effects = &struck.effects;
    let untouched = !effects.unknown_enum
        && !effects.unknown_member
        && effects.schema_suffix.is_none()
        && effects.cursor_loop.is_none();
    if untouched {
        return;
    }
    let Ok(mut body) = serde_json::from_slice::<Value>(&reply.body) else {
        return;
    };
    if effects.unknown_enum {
        replace_enums(&mut body);
        // The outcome is an enumeration here, and a constant in the Calendar.
        if body["schemaVersion"] == "suite-accounting-command-result.v1" {
            body["outcome"] = Value::from(UNKNOWN);
        }
    }
    if effects.unknown_member {
        add_members(&mut body);
    }
    if let Some(suffix) = &effects.schema_suffix {
        replace_suffix(&mut body, suffix);
    }
    if let (Some(round), Some(members)) = (&struck.rounds, body.as_object_mut()) {
        let given = members.get("nextCursor").and_then(Value::as_str);
        let mut round = round.lock().unwrap_or_else(PoisonError::into_inner);
        let cursor = round.turn(given);
        members.insert("nextCursor".to_owned(), json!(cursor));
    }
    reply.body = Bytes::from(body.to_string());
}

fn replace_enums(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                if member.is_string() && ENUMERATED.contains(&name.as_str()) {
                    *member = Value::from(UNKNOWN);
                } else {
                    replace_enums(member);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(replace_enums),
        _ => {}
    }
}

fn add_members(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.values_mut().for_each(add_members);
            let added = json!({"since": "v9", "values": [1, "two", null]});
            members.insert("memberFromTheFuture".to_owned(), added);
        }
        Value::Array(items) => items.iter_mut().for_each(add_members),
        _ => {}
    }
}

/// `suite-crm-today.v1` becomes `suite-crm-today.v9`.
fn replace_suffix(body: &mut Value, suffix: &str) {
    let Some(Value::String(version)) = body.get_mut("schemaVersion") else {
        return;
    };
    let stem = version
        .rsplit_once('.')
        .map_or(version.as_str(), |(stem, _)| stem);
    *version = format!("{stem}.{suffix}");
}
