//! Record commands. The contract does not show their body; it is assumed to be
//! `{commandType, subjectReference?, expectedRecordVersion?, commandId?, payload}`.
//!
//! It does not show a place for an idempotency key either. So an exact replay is the same body from the same actor;
//! with a `commandId`, a different body under the same id is a conflict.

mod activities;
pub(crate) mod kinds;
mod opportunities;
mod organizations;
mod people;
mod tasks;

use serde_json::{Value, json};

use crate::call::{Answer, Call};
use crate::data::{Record, Store, Table, Text};
use crate::fields::Fields;
use crate::idempotency;
use crate::json::{Json, Members};
use crate::keys;
use crate::message::Reply;
use crate::refusal::Refusal;
use kinds::Kind;

/// What all CRM commands have in common.
#[derive(Clone, Debug)]
pub(crate) struct Envelope {
    command_id: Option<String>,
    expected_version: Option<u64>,
}

impl Envelope {
    pub(crate) fn read(fields: Fields<'_>) -> Result<Envelope, Refusal> {
        let expected_version = fields
            .integer("expectedRecordVersion")?
            .map(|version| {
                let positive = u64::try_from(version).ok().filter(|version| *version > 0);
                positive
                    .ok_or_else(|| Refusal::invalid("expectedRecordVersion: must be at least 1"))
            })
            .transpose()?;
        Ok(Envelope {
            command_id: fields.text("commandId")?.map(str::to_owned),
            expected_version,
        })
    }

    /// 409 if the caller saw a different version.
    pub(crate) fn check_version(&self, version: u64) -> Result<(), Refusal> {
        match self.expected_version {
            Some(expected) if expected != version => Err(Refusal::conflict(
                "stale_record_version",
                format!("expected version {expected}, the record has {version}"),
            )),
            _ => Ok(()),
        }
    }
}

/// A parsed record command.
pub(super) struct Command<'b> {
    kind: Kind,
    subject: Option<&'b str>,
    envelope: Envelope,
    payload: Fields<'b>,
    actor: u64,
    now: jiff::Timestamp,
}

pub(crate) fn submit(call: &Call<'_>) -> Answer {
    let body = call.json();
    let fields = Fields::of(body)?.or_null();
    let name = fields.required_text("commandType")?;
    let kind = Kind::named(name)
        .ok_or_else(|| Refusal::invalid(format!("commandType: unknown type {name}")))?;
    let caller = call.caller()?;
    if !caller.has_scope(kind.scope()) {
        let message = format!("{name} needs {}", kind.scope());
        return Err(Refusal::out_of_scope(message, kind.scope()));
    }
    let empty = Members::new();
    let command = Command {
        kind,
        subject: fields.text("subjectReference")?,
        envelope: Envelope::read(fields)?,
        payload: fields.object("payload")?.unwrap_or(Fields::members(&empty)),
        actor: caller.actor,
        now: call.now,
    };
    command.check_members()?;
    settle(call, body, &command.envelope, |store| command.apply(store))
}

/// Applies a command once, by its id or else by its body.
pub(crate) fn settle(
    call: &Call<'_>,
    body: &Json,
    envelope: &Envelope,
    apply: impl FnOnce(&mut Store) -> Result<Value, Refusal>,
) -> Answer {
    let print = idempotency::fingerprint(call, body);
    let key = match &envelope.command_id {
        Some(id) => format!("id:{id}"),
        None => format!("body:{}", keys::encode(&print)),
    };
    let settled = idempotency::once(call, &key, print, apply)?;
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

    /// 400 for a member that only other commands use. A member that no command uses is ignored.
    fn check_members(&self) -> Result<(), Refusal> {
        let refused = |member: &str| {
            let kind = self.kind.name;
            Err(Refusal::invalid(format!(
                "{member}: not accepted by {kind}"
            )))
        };
        if self.kind.verb() == "create" {
            if self.subject.is_some() {
                return refused("subjectReference");
            }
            if self.envelope.expected_version.is_some() {
                return refused("expectedRecordVersion");
            }
        }
        let taken = |name: &str| self.kind.members().any(|taken| taken == name);
        let mut known = kinds::ALL.into_iter().flat_map(Kind::members);
        let other = known.find(|name| self.payload.gives(name) && !taken(name));
        other.map_or(Ok(()), refused)
    }

    /// The record to change; 409 if the caller saw a different version.
    fn existing<R: Record>(
        &self,
        table: &Table<R>,
        version: impl FnOnce(&R) -> u64,
    ) -> Result<(u64, R), Refusal> {
        let subject = self
            .subject
            .ok_or_else(|| Refusal::invalid("subjectReference: missing"))?;
        R::KIND.check("subjectReference", subject)?;
        let (index, row) = table.existing(subject)?;
        self.envelope.check_version(version(&row))?;
        Ok((index, row))
    }

    /// The index of a record that the payload refers to; 404 if there is none.
    fn linked<R: Record>(&self, name: &str, table: &Table<R>) -> Result<Option<u64>, Refusal> {
        let missing = || Refusal::not_found(format!("{name}: no such record"));
        let reference = self.payload.reference(name, R::KIND)?;
        reference
            .map(|reference| table.index(reference).ok_or_else(missing))
            .transpose()
    }
}

/// A changed text member, which must not be empty.
fn changed(fields: Fields<'_>, name: &str) -> Result<Option<Text>, Refusal> {
    let text = fields.has(name).then(|| fields.required_text(name));
    Ok(text.transpose()?.map(|text| text.to_owned().into()))
}

/// The status in a payload, which must be one of the documented ones.
fn status(payload: Fields<'_>, documented: &[&str]) -> Result<Option<Text>, Refusal> {
    let status = payload.one_of("status", documented)?;
    Ok(status.map(|status| status.to_owned().into()))
}
