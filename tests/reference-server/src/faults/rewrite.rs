//! Faults in the body of a response: values, fields, schemas and cursors that a client doesn't expect.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use bytes::Bytes;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use super::effects::Effects;
use super::strike::Struck;
use crate::message::Reply;

/// Fields whose values are enumerations.
const ENUMERATED: [&str; 6] = ["status", "stage", "type", "kind", "mode", "operation"];

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
    if let Ok(body) = rewritten(struck, &reply.body) {
        reply.body = Bytes::from(body);
    }
}

/// The fields of an object as raw JSON, so that unchanged amounts keep their digits.
type Members = BTreeMap<String, Box<RawValue>>;

fn rewritten(struck: &Struck, body: &[u8]) -> serde_json::Result<Vec<u8>> {
    let effects = &struck.effects;
    let body = changed(serde_json::from_slice(body)?, effects)?;
    let mut members: Members = serde_json::from_str(body.get())?;
    let text = |members: &Members, name: &str| -> Option<String> {
        serde_json::from_str(members.get(name)?.get()).ok()
    };
    let version = text(&members, "schemaVersion");
    // `outcome` is an enumeration here, but a constant in the Calendar.
    if effects.unknown_enum && version.as_deref() == Some("suite-accounting-command-result.v1") {
        members.insert("outcome".to_owned(), to_raw_value(UNKNOWN)?);
    }
    if let (Some(suffix), Some(version)) = (&effects.schema_suffix, version) {
        // `suite-crm-today.v1` becomes `suite-crm-today.v9`.
        let stem = version.rsplit_once('.').map_or(&*version, |(stem, _)| stem);
        let version = to_raw_value(&format!("{stem}.{suffix}"))?;
        members.insert("schemaVersion".to_owned(), version);
    }
    if let Some(round) = &struck.rounds {
        let original = text(&members, "nextCursor");
        let mut round = round.lock().unwrap_or_else(PoisonError::into_inner);
        let cursor = to_raw_value(&round.turn(original.as_deref()))?;
        members.insert("nextCursor".to_owned(), cursor);
    }
    serde_json::to_vec(&members)
}

fn changed(raw: &RawValue, effects: &Effects) -> serde_json::Result<Box<RawValue>> {
    if raw.get().starts_with('[') {
        let items: Vec<&RawValue> = serde_json::from_str(raw.get())?;
        let items = items.into_iter().map(|item| changed(item, effects));
        return to_raw_value(&items.collect::<Result<Vec<_>, _>>()?);
    }
    if !raw.get().starts_with('{') {
        return Ok(raw.to_owned());
    }
    let mut members: Members = serde_json::from_str(raw.get())?;
    for (name, member) in &mut members {
        let enumerated = member.get().starts_with('"') && ENUMERATED.contains(&name.as_str());
        *member = if effects.unknown_enum && enumerated {
            to_raw_value(UNKNOWN)?
        } else {
            changed(member, effects)?
        };
    }
    if effects.unknown_member {
        let added = json!({"since": "v9", "values": [1, "two", null]});
        members.insert("memberFromTheFuture".to_owned(), to_raw_value(&added)?);
    }
    to_raw_value(&members)
}
