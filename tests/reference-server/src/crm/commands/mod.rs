//! Record commands. The contract doesn't document their body. This server assumes `{commandType, subjectReference?,
//! expectedRecordVersion?, commandId?, payload}`, with the fields of `assumed.yaml`.
//!
//! The contract doesn't document an idempotency key either. So a resend is the same body from the same actor, and
//! returns the stored result. With a `commandId`, a different body with the same ID is a conflict.

mod activities;
pub(crate) mod kinds;
pub(crate) mod opportunities;
pub(crate) mod organizations;
pub(crate) mod people;
pub(crate) mod tasks;

use jiff::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::call::{Answer, Call};
use crate::data::{Record, Store, Table};
use crate::idempotency;
use crate::keys;
use crate::message::Reply;
use crate::refusal::Refusal;
use crate::schema::{self, Broken, MISSING};
use kinds::Kind;

/// The common fields of all CRM commands.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Envelope {
    command_id: Option<String>,
    expected_record_version: Option<u64>,
    subject_reference: Option<String>,
}

impl Envelope {
    /// Returns a 409 if the caller expects a different version.
    pub(crate) fn check_version(&self, version: u64) -> Result<(), Refusal> {
        match self.expected_record_version {
            Some(expected) if expected != version => Err(Refusal::conflict(
                "stale_record_version",
                format!("expected version {expected}, the record has {version}"),
            )),
            _ => Ok(()),
        }
    }
}

/// A record command that breaks no rule.
struct Command<'b> {
    kind: Kind,
    envelope: &'b Envelope,
    payload: &'b Value,
    actor: u64,
    now: Timestamp,
}

pub(crate) fn submit(call: &Call<'_>) -> Answer {
    let body = call.body();
    let kind = Kind::of(&body["commandType"]).map_err(Refusal::invalid)?;
    let actor = call.caller()?.actor;
    let empty = json!({});
    let payload = Some(&body["payload"]).filter(|payload| !payload.is_null());
    let payload = payload.unwrap_or(&empty);
    let envelope = schema::fields(body)?;
    settle(call, &envelope, |store, now| {
        let command = Command {
            kind,
            envelope: &envelope,
            payload,
            actor,
            now,
        };
        command.apply(store)
    })
}

/// Adds every rule that a command breaks, or returns a 403 if the caller lacks the scope. A field that only other
/// commands use is rejected, because it would have no effect.
pub(crate) fn check(call: &Call<'_>, broken: &mut Broken) -> Result<(), Refusal> {
    let Some(body) = &call.sent.body else {
        return Ok(());
    };
    let kind = match Kind::of(&body["commandType"]) {
        Ok(kind) => kind,
        Err(problem) => {
            broken.check("create", body, "");
            if body.is_object() {
                broken.add("commandType", problem);
            }
            return Ok(());
        }
    };
    if !call.caller()?.has_scope(kind.scope()) {
        let message = format!("{} needs {}", kind.name, kind.scope());
        return Err(Refusal::out_of_scope(message, kind.scope()));
    }
    let empty = json!({});
    let payload = Some(&body["payload"]).filter(|payload| !payload.is_null());
    let payload = payload.unwrap_or(&empty);
    let frame = if kind.creates() { "create" } else { "change" };
    broken.check(frame, body, "");
    if kind.creates() {
        let foreign = |field: &str| schema::has("change", field) && !schema::has(frame, field);
        broken.reject(body, "", foreign);
    } else if body["subjectReference"].is_string() {
        let reference = &body["subjectReference"];
        broken.check(kind.subject(), reference, "subjectReference");
    }
    let takes = |kind: Kind, field: &str| schema::has(kind.name, field);
    let known = |field: &str| kinds::ALL.into_iter().any(|other| takes(other, field));
    broken.reject(payload, "payload.", |field| {
        known(field) && !takes(kind, field)
    });
    check_payload(kind.name, payload, "payload", broken);
    Ok(())
}

pub(crate) fn check_payload(name: &str, payload: &Value, at: &str, broken: &mut Broken) {
    broken.check(name, payload, at);
    if !payload.is_object() {
        return;
    }
    let gives = |field: &str| !payload[field].is_null();
    // A name comes in one field or in parts, and a new person must have a name.
    if gives("displayName") && (gives("givenName") || gives("familyName")) {
        let place = format!("{at}.displayName");
        broken.add(&place, "must not be sent with givenName or familyName");
    } else if name == "person.create" && !gives("displayName") && !gives("givenName") {
        broken.add(&format!("{at}.displayName"), MISSING);
    }
    let values = ["valueMinMinor", "valueMaxMinor"].map(|field| payload[field].as_i64());
    if let [Some(least), Some(most)] = values
        && least > most
    {
        let place = format!("{at}.valueMinMinor");
        broken.add(&place, opportunities::over(least, most));
    }
}

/// Applies a command once, identified by its ID or by its body. Reads the clock while it holds the store's lock, so
/// that the commands' instants are in the order in which they were applied.
pub(crate) fn settle(
    call: &Call<'_>,
    envelope: &Envelope,
    apply: impl FnOnce(&mut Store, Timestamp) -> Result<Value, Refusal>,
) -> Answer {
    let print = idempotency::fingerprint(call, &call.sent.canonical);
    let key = match &envelope.command_id {
        Some(id) => format!("id:{id}"),
        None => format!("body:{}", keys::encode(&print)),
    };
    let settled = idempotency::once(call, &key, print, |store| {
        apply(store, call.suite.clock.now())
    })?;
    let status = if settled.replayed { 200 } else { 201 };
    Ok(Reply::json(status, &settled.result))
}

impl Command<'_> {
    fn apply(&self, store: &mut Store) -> Result<Value, Refusal> {
        let (reference, version) = match self.kind.subject() {
            "person" => people::apply(self, store)?,
            "organization" => organizations::apply(self, store)?,
            "opportunity" => opportunities::apply(self, store)?,
            "task" => tasks::apply(self, store)?,
            _ => activities::apply(self, store)?,
        };
        store.note_change(crate::data::Change {
            action: self.kind.name.to_owned(),
            subject_type: self.kind.subject(),
            reference: reference.clone(),
            occurred_at: self.now,
            actor: self.actor,
        });
        Ok(json!({
            "commandType": self.kind.name,
            "outcome": "succeeded",
            "publicReference": reference,
            "recordVersion": version,
        }))
    }

    fn payload<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        schema::fields(self.payload)
    }

    /// Returns the record to change, or a 409 if the caller expects a different version.
    fn existing<R: Record>(
        &self,
        table: &Table<R>,
        version: impl FnOnce(&R) -> u64,
    ) -> Result<(u64, R), Refusal> {
        let subject = self.envelope.subject_reference.as_deref();
        let (index, row) = table.existing(subject.unwrap_or_default())?;
        self.envelope.check_version(version(&row))?;
        Ok((index, row))
    }
}

/// Returns the index of a record that a payload names, or a 404 if it doesn't exist.
fn linked<R: Record>(table: &Table<R>, reference: Option<&String>) -> Result<Option<u64>, Refusal> {
    let found = reference.map(|reference| table.existing(reference));
    Ok(found.transpose()?.map(|(index, _)| index))
}
