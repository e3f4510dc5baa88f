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
use crate::data::{Record, Store, Table};
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

type Add = fn(&mut Store, Fields<'_>, Timestamp) -> Result<String, Refusal>;

/// The kinds, each after those that it refers to, with the members of a record; all but the first may be left out.
pub(crate) const KINDS: [(&str, &str, Add); 6] = [
    (
        "organizations",
        "displayName city status createdAt",
        organization,
    ),
    (
        "people",
        "displayName email jobTitle organizationReference status createdAt",
        person,
    ),
    (
        "opportunities",
        "title stage organizationReference personReference ownerReference valueMinMinor valueMaxMinor currency \
         closeReason createdAt",
        opportunity,
    ),
    (
        "tasks",
        "title status ownerReference opportunityReference dueAt createdAt",
        task,
    ),
    (
        "intakeSubmissions",
        "displayName company subject status createdAt",
        submission,
    ),
    (
        "counterparties",
        "displayName status currency",
        counterparty,
    ),
];

/// Adds all records or none, and gives their references by kind.
pub(crate) fn load(
    store: &mut Store,
    json: &[u8],
    now: Timestamp,
) -> Result<BTreeMap<&'static str, Vec<String>>, InvalidData> {
    let invalid = |at: &str, refusal: Refusal| InvalidData(format!("{at}{}", refusal.message));
    let body = Json::read_strictly(json).map_err(|refusal| invalid("", refusal))?;
    let all = Fields::of(&body).map_err(|refusal| invalid("", refusal))?;
    let kinds = KINDS.map(|(kind, ..)| kind);
    if let Some(kind) = all.names().find(|name| !kinds.contains(name)) {
        let known = kinds.join(", ");
        return Err(InvalidData(format!("{kind}: must be one of {known}")));
    }
    let mut filled = store.clone();
    let mut added = BTreeMap::new();
    for (kind, members, add) in KINDS {
        let records = all.array(kind).map_err(|refusal| invalid("", refusal))?;
        let records = records.unwrap_or_default().iter().enumerate();
        let references = records.map(|(place, record)| {
            let known =
                |name: &str| name == "publicReference" || members.split(' ').any(|one| one == name);
            let fields = Fields::of(record).map(Fields::or_null).and_then(|fields| {
                match fields.names().find(|name| !known(name)) {
                    Some(name) => Err(Refusal::invalid(format!(
                        "{name}: unknown member, not one of {members}"
                    ))),
                    None => Ok(fields),
                }
            });
            let reference = fields.and_then(|fields| add(&mut filled, fields, now));
            reference.map_err(|refusal| invalid(&format!("{kind}[{place}]: "), refusal))
        });
        added.insert(kind, references.collect::<Result<Vec<_>, _>>()?);
    }
    *store = filled;
    Ok(added)
}

/// Adds a record under the reference that it brings, or a new one.
fn create<R: Record>(table: &mut Table<R>, row: Fields<'_>, record: R) -> Result<String, Refusal> {
    let reference = row.reference("publicReference", R::KIND)?;
    if reference.is_some_and(|reference| table.index(reference).is_some()) {
        return Err(Refusal::invalid(
            "publicReference: there is a record of that name",
        ));
    }
    let index = table.create(record);
    if let Some(reference) = reference {
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
    let Some(reference) = row.reference(name, R::KIND)? else {
        return Ok(None);
    };
    let missing = || Refusal::invalid(format!("{name}: there is no {} {reference}", R::NOUN));
    table.index(reference).map(Some).ok_or_else(missing)
}

fn text(row: Fields<'_>, name: &str, usual: &str) -> Result<String, Refusal> {
    Ok(row.text(name)?.unwrap_or(usual).to_owned())
}

fn status(row: Fields<'_>, values: &[&str], usual: &'static str) -> Result<String, Refusal> {
    Ok(row.one_of("status", values)?.unwrap_or(usual).to_owned())
}

/// The two parts of a name.
fn name(row: Fields<'_>) -> Result<[String; 2], Refusal> {
    let name = row.required_text("displayName")?;
    let (given, family) = name.split_once(' ').unwrap_or((name, ""));
    Ok([given.to_owned(), family.to_owned()])
}

fn organization(store: &mut Store, row: Fields<'_>, now: Timestamp) -> Result<String, Refusal> {
    let created_at = row.instant("createdAt")?.unwrap_or(now);
    let record = Organization {
        name: row.required_text("displayName")?.to_owned().into(),
        city: text(row, "city", "")?.into(),
        status: status(row, &organizations::STATUSES, "active")?.into(),
        created_at,
        updated_at: created_at,
        version: 1,
    };
    create(&mut store.organizations, row, record)
}

fn person(store: &mut Store, row: Fields<'_>, now: Timestamp) -> Result<String, Refusal> {
    let created_at = row.instant("createdAt")?.unwrap_or(now);
    let [given, family] = name(row)?;
    let record = Person {
        given: given.into(),
        family: family.into(),
        email: row.text("email")?.map(str::to_owned),
        job: text(row, "jobTitle", "")?.into(),
        organization: linked(&store.organizations, row, "organizationReference")?,
        status: status(row, &people::STATUSES, "active")?.into(),
        created_at,
        updated_at: created_at,
        version: 1,
    };
    create(&mut store.people, row, record)
}

fn opportunity(store: &mut Store, row: Fields<'_>, now: Timestamp) -> Result<String, Refusal> {
    let created_at = row.instant("createdAt")?.unwrap_or(now);
    let [least, most] = ["valueMinMinor", "valueMaxMinor"].map(|name| row.integer(name));
    let (least, most) = (least?.unwrap_or(0), most?);
    if most.is_some_and(|most| most < least) {
        return Err(Refusal::invalid(
            "valueMaxMinor: must not be under valueMinMinor",
        ));
    }
    let record = Opportunity {
        title: row.required_text("title")?.to_owned().into(),
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
        value_max_minor: most.unwrap_or(least),
        currency: text(row, "currency", "EUR")?.into(),
        created_at,
        updated_at: created_at,
        version: 1,
    };
    create(&mut store.opportunities, row, record)
}

fn task(store: &mut Store, row: Fields<'_>, now: Timestamp) -> Result<String, Refusal> {
    let created_at = row.instant("createdAt")?.unwrap_or(now);
    let record = Task {
        title: row.required_text("title")?.to_owned().into(),
        status: status(row, &tasks::STATUSES, "open")?.into(),
        owner: linked(&store.actors, row, "ownerReference")?,
        opportunity: linked(&store.opportunities, row, "opportunityReference")?,
        due_at: row.instant("dueAt")?,
        created_at,
        updated_at: created_at,
        version: 1,
    };
    create(&mut store.tasks, row, record)
}

fn submission(store: &mut Store, row: Fields<'_>, now: Timestamp) -> Result<String, Refusal> {
    let [given, family] = name(row)?;
    let record = Intake {
        given: given.into(),
        family: family.into(),
        company: text(row, "company", "")?,
        subject: text(row, "subject", "")?.into(),
        status: status(row, &intake::STATUSES, "received")?.into(),
        received_at: row.instant("createdAt")?.unwrap_or(now),
        review: None,
        history: Vec::new(),
        linked: Linked::default(),
        version: 1,
    };
    create(&mut store.intake, row, record)
}

fn counterparty(store: &mut Store, row: Fields<'_>, _: Timestamp) -> Result<String, Refusal> {
    let record = Counterparty {
        display_name: row.required_text("displayName")?.to_owned(),
        status: status(row, &["active", "archived"], "active")?.into(),
        currency: text(row, "currency", "EUR")?.into(),
        version: 1,
    };
    create(&mut store.counterparties, row, record)
}
