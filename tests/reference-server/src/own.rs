//! The test's own records, added to the demo data from JSON with one array per kind.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use crate::crm::commands::{check_payload, opportunities, organizations, people, tasks};
use crate::data::counterparties::Counterparty;
use crate::data::intake::{Intake, Linked};
use crate::data::{Record, Store, Table, Text};
use crate::json::Json;
use crate::params;
use crate::refusal::Refusal;
use crate::schema::{self, Broken};

/// The kinds in dependency order, each with the command whose payload its records use.
const KINDS: [(&str, &str); 6] = [
    ("organizations", "organization.create"),
    ("people", "person.create"),
    ("opportunities", "opportunity.create"),
    ("tasks", "task.create"),
    ("intakeSubmissions", "intake.create"),
    ("counterparties", "counterparty.create"),
];

pub(crate) fn kinds() -> impl Iterator<Item = &'static str> {
    KINDS.into_iter().map(|(kind, _)| kind)
}

/// The references of added records, by kind.
pub(crate) type Added = BTreeMap<&'static str, Vec<String>>;

/// Adds all records, or adds none and returns an error that names each invalid record.
pub(crate) fn load(store: &mut Store, json: &[u8], now: Timestamp) -> Result<Added, String> {
    let mut filled = store.clone();
    let added = add(&mut filled, json, now).map_err(|refusal| refusal.message)?;
    *store = filled;
    Ok(added)
}

fn add(store: &mut Store, json: &[u8], now: Timestamp) -> Result<Added, Refusal> {
    let body =
        Json::read(json).map_err(|problem| Refusal::invalid(format!("the file: {problem}")))?;
    let body = body.into_value();
    check(&body)?;
    let mut added: Added = kinds().map(|kind| (kind, Vec::new())).collect();
    for (kind, _, place, record) in records(&body) {
        let named = |refusal: Refusal| format!("{kind}[{place}]: {}", refusal.message);
        let reference = one(store, kind, record, now);
        let reference = reference.map_err(|refusal| Refusal::invalid(named(refusal)))?;
        added.entry(kind).or_default().push(reference);
    }
    Ok(added)
}

fn records(body: &Value) -> impl Iterator<Item = (&'static str, &'static str, usize, &Value)> {
    KINDS.into_iter().flat_map(|(kind, command)| {
        let all = body[kind].as_array().into_iter().flatten();
        all.enumerate()
            .map(move |(place, record)| (kind, command, place, record))
    })
}

/// Rejects the file with every rule that its records break. An unknown field is treated as a typo.
fn check(body: &Value) -> Result<(), Refusal> {
    let mut broken = Broken::default();
    broken.check("records", body, "");
    broken.reject(body, "", |kind| !schema::has("records", kind));
    for (kind, command, place, record) in records(body) {
        let at = format!("{kind}[{place}]");
        check_payload(command, record, &at, &mut broken);
        broken.check("record", record, &at);
        let known = |field: &str| schema::has(command, field) || schema::has("record", field);
        broken.reject(record, &format!("{at}."), |field| !known(field));
        if record["publicReference"].is_string() {
            let noun = command.split('.').next().unwrap_or_default();
            let place = format!("{at}.publicReference");
            broken.check(noun, &record["publicReference"], &place);
        }
    }
    broken.refused()
}

/// The fields that every record may have.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Common {
    public_reference: Option<String>,
    #[serde(default, deserialize_with = "params::optional_instant")]
    created_at: Option<Timestamp>,
    close_reason: Option<Text>,
}

/// The fields of kinds that no command creates.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Other {
    display_name: String,
    company: Option<String>,
    subject: Option<Text>,
    status: Option<Text>,
    currency: Option<Text>,
}

fn one(store: &mut Store, kind: &str, record: &Value, now: Timestamp) -> Result<String, Refusal> {
    let common: Common = schema::fields(record)?;
    let at = common.created_at.unwrap_or(now);
    let brought = common.public_reference.as_deref();
    match kind {
        "organizations" => {
            let payload: organizations::Payload = schema::fields(record)?;
            create(&mut store.organizations, brought, payload.create(at))
        }
        "people" => {
            let payload: people::Payload = schema::fields(record)?;
            let person = payload.create(store, at)?;
            create(&mut store.people, brought, person)
        }
        "opportunities" => {
            let payload: opportunities::Payload = schema::fields(record)?;
            let mut opportunity = payload.create(store, at)?;
            opportunity.close_reason = common.close_reason;
            create(&mut store.opportunities, brought, opportunity)
        }
        "tasks" => {
            let payload: tasks::Payload = schema::fields(record)?;
            let task = payload.create(store, at)?;
            create(&mut store.tasks, brought, task)
        }
        "intakeSubmissions" => {
            let other: Other = schema::fields(record)?;
            let name = &other.display_name;
            let (given, family) = name.split_once(' ').unwrap_or((name, ""));
            let submission = Intake {
                given: given.to_owned().into(),
                family: family.to_owned().into(),
                company: other.company.unwrap_or_default(),
                subject: other.subject.unwrap_or_default(),
                status: other.status.unwrap_or("received".into()),
                received_at: at,
                review: None,
                history: Vec::new(),
                linked: Linked::default(),
                version: 1,
            };
            create(&mut store.intake, brought, submission)
        }
        _ => {
            let other: Other = schema::fields(record)?;
            let counterparty = Counterparty {
                display_name: other.display_name,
                status: other.status.unwrap_or("active".into()),
                currency: other.currency.unwrap_or("EUR".into()),
                version: 1,
            };
            create(&mut store.counterparties, brought, counterparty)
        }
    }
}

/// Adds a record under its own reference, or under a new reference.
fn create<R: Record>(
    table: &mut Table<R>,
    brought: Option<&str>,
    record: R,
) -> Result<String, Refusal> {
    if let Some(taken) = brought.filter(|brought| table.index(brought).is_some()) {
        return Err(Refusal::invalid(format!(
            "publicReference: {taken} already exists"
        )));
    }
    let index = table.create(record);
    if let Some(reference) = brought {
        table.rename(index, reference);
    }
    Ok(table.reference(index))
}
