//! Records that a test brings along, as JSON: an array for each kind, beside the demo data.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;

use crate::data::counterparties::Counterparty;
use crate::data::intake::{self, Intake, Linked};
use crate::data::opportunities::{Opportunity, STAGES, stage};
use crate::data::organizations::{self, Organization};
use crate::data::people::{self, Person};
use crate::data::tasks::{self, Task};
use crate::data::{Record, Store, Table, Text};
use crate::fields::Fields;
use crate::json::Json;
use crate::refusal::Refusal;

/// Why records were not loaded: which one, and what is wrong with it.
#[derive(Clone, Debug)]
pub struct InvalidData(String);

impl fmt::Display for InvalidData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidData {}

/// The kinds, each after those that it refers to, with the members of a record; all but the first may be left out.
const KINDS: &str = "\
organizations: displayName city status createdAt
people: displayName email jobTitle organizationReference status createdAt
opportunities: title stage organizationReference personReference ownerReference valueMinMinor valueMaxMinor currency \
    closeReason createdAt
tasks: title status ownerReference opportunityReference dueAt createdAt
intakeSubmissions: displayName company subject status createdAt
counterparties: displayName status currency";

/// The kinds in order, and their members.
pub(crate) fn kinds() -> impl Iterator<Item = (&'static str, &'static str)> {
    KINDS.lines().filter_map(|line| line.split_once(": "))
}

/// The references of what was added, by kind.
pub(crate) type Added = BTreeMap<&'static str, Vec<String>>;

/// Adds all records or none.
pub(crate) fn load(store: &mut Store, json: &[u8], now: Timestamp) -> Result<Added, InvalidData> {
    let mut filled = store.clone();
    let added = add(&mut filled, json, now).map_err(|refusal| InvalidData(refusal.message))?;
    *store = filled;
    Ok(added)
}

fn add(store: &mut Store, json: &[u8], now: Timestamp) -> Result<Added, Refusal> {
    let body = Json::read(json)?;
    let all = Fields::of(&body)?;
    known(all, &kinds().map(|(kind, _)| kind).collect::<Vec<_>>())?;
    let mut added = Added::new();
    for (kind, members) in kinds() {
        let members: Vec<&str> = members.split(' ').chain(["publicReference"]).collect();
        for (place, record) in all.array(kind)?.unwrap_or_default().iter().enumerate() {
            let row = Fields::of(record).map(Fields::or_null);
            let reference = row.and_then(|row| {
                known(row, &members)?;
                one(store, kind, row, row.instant("createdAt")?.unwrap_or(now))
            });
            let named = |refusal: Refusal| format!("{kind}[{place}]: {}", refusal.message);
            let reference = reference.map_err(|refusal| Refusal::invalid(named(refusal)))?;
            added.entry(kind).or_default().push(reference);
        }
        added.entry(kind).or_default();
    }
    Ok(added)
}

/// Refuses a member that is not one of these.
fn known(fields: Fields<'_>, members: &[&str]) -> Result<(), Refusal> {
    let unknown = fields.names().find(|name| !members.contains(name));
    let problem = |name| format!("{name}: unknown member, not one of {}", members.join(", "));
    unknown.map_or(Ok(()), |name| Err(Refusal::invalid(problem(name))))
}

/// Adds a record under the reference that it brings, or a new one.
fn create<R: Record>(table: &mut Table<R>, row: Fields<'_>, record: R) -> Result<String, Refusal> {
    let brought = row.reference("publicReference", R::KIND)?;
    if let Some(taken) = brought.filter(|brought| table.index(brought).is_some()) {
        return Err(Refusal::invalid(format!(
            "publicReference: {taken} is taken"
        )));
    }
    let index = table.create(record);
    if let Some(reference) = brought {
        table.rename(index, reference);
    }
    Ok(table.reference(index))
}

/// The record that a member refers to.
fn linked<R: Record>(
    table: &Table<R>,
    row: Fields<'_>,
    name: &str,
) -> Result<Option<u64>, Refusal> {
    let reference = row.reference(name, R::KIND)?;
    let index = reference.and_then(|reference| table.index(reference));
    if reference.is_some() && index.is_none() {
        return Err(Refusal::invalid(format!(
            "{name}: there is no such {}",
            R::NOUN
        )));
    }
    Ok(index)
}

fn text(row: Fields<'_>, name: &str, usual: &str) -> Result<String, Refusal> {
    Ok(row.text(name)?.unwrap_or(usual).to_owned())
}

fn status(row: Fields<'_>, values: &[&str], usual: &'static str) -> Result<Text, Refusal> {
    Ok(row
        .one_of("status", values)?
        .unwrap_or(usual)
        .to_owned()
        .into())
}

#[allow(clippy::too_many_lines, reason = "an arm for each kind")]
fn one(
    store: &mut Store,
    kind: &str,
    row: Fields<'_>,
    created_at: Timestamp,
) -> Result<String, Refusal> {
    let title = || Ok::<_, Refusal>(row.required_text("title")?.to_owned().into());
    let name = || Ok::<_, Refusal>(row.required_text("displayName")?.to_owned());
    let names = || {
        let name = row.required_text("displayName")?;
        let (given, family) = name.split_once(' ').unwrap_or((name, ""));
        Ok::<[Text; 2], Refusal>([given, family].map(|part| part.to_owned().into()))
    };
    match kind {
        "organizations" => {
            let record = Organization {
                name: name()?.into(),
                city: text(row, "city", "")?.into(),
                status: status(row, &organizations::STATUSES, "active")?,
                created_at,
                updated_at: created_at,
                version: 1,
            };
            create(&mut store.organizations, row, record)
        }
        "people" => {
            let [given, family] = names()?;
            let record = Person {
                given,
                family,
                email: row.text("email")?.map(str::to_owned),
                job: text(row, "jobTitle", "")?.into(),
                organization: linked(&store.organizations, row, "organizationReference")?,
                status: status(row, &people::STATUSES, "active")?,
                created_at,
                updated_at: created_at,
                version: 1,
            };
            create(&mut store.people, row, record)
        }
        "opportunities" => {
            let least = row.integer("valueMinMinor")?.unwrap_or(0);
            let most = row.integer("valueMaxMinor")?.unwrap_or(least);
            if most < least {
                return Err(Refusal::invalid(
                    "valueMaxMinor: must not be under valueMinMinor",
                ));
            }
            let record = Opportunity {
                title: title()?,
                stage: row
                    .one_of("stage", &STAGES)?
                    .and_then(stage)
                    .unwrap_or(STAGES[0]),
                before: None,
                entered_stage_at: created_at,
                close_reason: row
                    .text("closeReason")?
                    .map(|reason| reason.to_owned().into()),
                organization: linked(&store.organizations, row, "organizationReference")?,
                person: linked(&store.people, row, "personReference")?,
                owner: linked(&store.actors, row, "ownerReference")?,
                value_min_minor: least,
                value_max_minor: most,
                currency: text(row, "currency", "EUR")?.into(),
                created_at,
                updated_at: created_at,
                version: 1,
            };
            create(&mut store.opportunities, row, record)
        }
        "tasks" => {
            let record = Task {
                title: title()?,
                status: status(row, &tasks::STATUSES, "open")?,
                owner: linked(&store.actors, row, "ownerReference")?,
                opportunity: linked(&store.opportunities, row, "opportunityReference")?,
                due_at: row.instant("dueAt")?,
                created_at,
                updated_at: created_at,
                version: 1,
            };
            create(&mut store.tasks, row, record)
        }
        "intakeSubmissions" => {
            let [given, family] = names()?;
            let record = Intake {
                given,
                family,
                company: text(row, "company", "")?,
                subject: text(row, "subject", "")?.into(),
                status: status(row, &intake::STATUSES, "received")?,
                received_at: created_at,
                review: None,
                history: Vec::new(),
                linked: Linked::default(),
                version: 1,
            };
            create(&mut store.intake, row, record)
        }
        _ => {
            let record = Counterparty {
                display_name: name()?,
                status: status(row, &["active", "archived"], "active")?,
                currency: text(row, "currency", "EUR")?.into(),
                version: 1,
            };
            create(&mut store.counterparties, row, record)
        }
    }
}
