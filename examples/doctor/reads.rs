//! The reads, application by application.

use sdk_core::{App, ContractMatch, ContractReport, Error, MissingScopes, Operation};
use serde_json::Value;

use super::contact::{Contact, Seen, operation, operations, without_a_reply};
use super::report::Report;
use super::shape::{check, kind, named};

type Parameters<'a> = &'a [(&'a str, &'a str)];

/// What is asked of the CRM beside its pages.
const CRM: [(&str, Parameters<'_>); 5] = [
    ("getToday", &[]),
    ("getActors", &[]),
    ("getFunnel", &[]),
    ("getPresentation", &[]),
    ("search", &[("q", "an"), ("limit", "2")]),
];

/// The lists with a cursor, each with one record. The page of opportunities is documented.
const LISTS: [(&str, Parameters<'_>); 5] = [
    ("listOpportunities", &[("limit", "1")]),
    ("listPeople", &[("limit", "1"), ("status", "active")]),
    ("listOrganizations", &[("limit", "1")]),
    ("listTasks", &[("limit", "1")]),
    ("listIntakeSubmissions", &[("limit", "1")]),
];

const NAME_ONLY: [&str; 3] = [
    "getAccountingReadiness",
    "getAccountingActor",
    "getAccountingOverview",
];

/// Resource types: in the singular, as assumed, and in the plural.
const PUBLISHED: [[&str; 3]; 3] = [
    ["crm", "person", "people"],
    ["crm", "organization", "organizations"],
    ["accounting", "counterparty", "counterparties"],
];

/// What the scopes that were granted open.
pub(crate) fn opened(report: &mut Report, app: App, missing: Result<MissingScopes, Error>) {
    let missing = match missing {
        Ok(missing) => missing,
        Err(error) => {
            let found = format!("{app}: the SDK itself: {}", without_a_reply(&error));
            return report.failure(found, "see under \"token\"");
        }
    };
    let Some(granted) = &missing.granted else {
        let found = format!("{app}: the token reply does not say which scopes it grants");
        return report.note(found);
    };
    let documented = operations(app).iter().filter(|it| !it.scopes.is_empty());
    let (all, granted) = (documented.count(), granted.len());
    let open = all - missing.operations.len();
    let opens = format!("{app}: {granted} scopes open {open} of {all} operations that name one");
    let lacks = |it: &&Operation| format!("{} needs {}", it.id, it.scopes.join(" or "));
    let lacks: Vec<String> = missing.operations.iter().map(lacks).collect();
    if lacks.is_empty() {
        return report.ok(opens);
    }
    let cure = format!(
        "have the client granted what the service needs: {}",
        lacks.join("; ")
    );
    report.problem(opens, cure);
}

/// Asks for what should succeed, and holds it against its schema.
async fn read(contact: &mut Contact, id: &str, parameters: Parameters<'_>) -> Option<Value> {
    let operation = operation(id);
    let (app, with_token) = (operation.application, operation.authenticated);
    let seen = contact.get(operation, with_token, parameters).await;
    let json = contact.success(app, id, seen)?;
    check(contact, app, id, &json);
    Some(json)
}

/// The first array of a page, whatever it is called.
fn records(page: &Value) -> &[Value] {
    let mut members = page.as_object().into_iter().flatten();
    let array = members.find_map(|(_, it)| it.as_array());
    array.map_or(&[], Vec::as_slice)
}

fn reference(page: &Value) -> Option<String> {
    let reference = records(page).first()?["publicReference"].as_str()?;
    Some(reference.to_owned())
}

/// Whether calls without a token are refused: otherwise a token that is accepted shows nothing.
async fn without_token(contact: &mut Contact, id: &str) -> Option<Seen> {
    let operation = operation(id);
    let seen = contact.get(operation, false, &[]).await?;
    if seen.status == 401 {
        contact.demanding.insert(operation.application);
    } else if seen.is_success() {
        let found = format!("{id} answers without a token, too");
        contact.problem(found, "ask the operator: the contract demands one");
    }
    Some(seen)
}

pub(crate) async fn platform(contact: &mut Contact) {
    contact.step("Platform");
    if let Some(apps) = read(contact, "listApps", &[]).await {
        is_wrapped(contact, "listApps", &apps);
    }
    read(contact, "getOrganizationContext", &[]).await;
    let seen = without_token(contact, "getOrganizationContext").await;
    if let Some(seen) = seen.filter(Seen::is_refusal) {
        let error = seen.json().and_then(|it| it.get("error").cloned());
        let error = error.unwrap_or_default();
        let mut texts = ["code", "message", "requestId"].iter();
        let fits = texts.all(|it| error[it].is_string()) && error["retryable"].is_boolean();
        let found = format!("a refusal has {}", named(&error));
        if fits {
            contact.ok(found);
        } else {
            contact.problem(
                found,
                "the contract documents another envelope: ask its makers",
            );
        }
    }
}

/// A list whose wrapper is the reference server's reading. One without records shows nothing.
fn is_wrapped(report: &mut Report, operation: &str, list: &Value) {
    if !records(list).is_empty() {
        let evidence = format!("{operation} has {}", named(list));
        report.judge(list["items"].is_array(), "A76", evidence);
    }
}

/// What needs no token: whether anything is there at all. Returns the path of Accounting's description.
pub(crate) async fn open(contact: &mut Contact) -> Option<String> {
    contact.step("health and contracts");
    for id in ["getHealth", "getReadiness"] {
        // The contract shows no body.
        match contact.get(operation(id), false, &[]).await {
            Some(seen) if seen.is_success() => contact.ok(format!("{id}: {}", seen.status)),
            seen => drop(contact.success(App::Crm, id, seen)),
        }
    }
    if let Some(crm) = contact
        .clients
        .crm
        .clone()
        .filter(|_| contact.is_alive(App::Crm))
    {
        let metadata = crm.check_contract().await;
        contract(contact, App::Crm, metadata);
    }
    let accounting = contact.clients.accounting.clone()?;
    let metadata = accounting.check_contract().await;
    let metadata = contract(contact, App::Accounting, metadata)?;
    Some(metadata["openapiPath"].as_str()?.to_owned())
}

fn contract(
    contact: &mut Contact,
    app: App,
    found: Result<ContractReport, Error>,
) -> Option<Value> {
    let found = match found {
        Ok(found) => found,
        Err(error) => {
            // The text of a reply is the server's, and may be anything.
            let body = error.body().unwrap_or_default().to_vec().into();
            if let Some(status) = error.status() {
                contact.success(app, "the metadata", Some(Seen { status, body }));
            } else {
                contact.silent(app, "the metadata", &error);
            }
            return None;
        }
    };
    let is_version = |it: &&str| {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || ".+-".contains(letter);
        it.len() <= 32 && it.chars().all(plain)
    };
    let served = found.served.as_deref();
    let version = served.map_or("no version", |it| {
        Some(it).filter(is_version).unwrap_or("another")
    });
    let said = format!("{app}: built for {}, served {version}", found.built_for);
    let all = found.findings.len();
    match found.matches {
        ContractMatch::Same if all == 0 => contact.ok(said),
        ContractMatch::Newer | ContractMatch::Unknown => contact.note(said),
        _ => {
            let cure = "`check_contract()` names them; read what changed, and update the SDK";
            contact.problem(format!("{said}: {all} differences"), cure);
        }
    }
    let metadata = found.metadata?.to_value().ok()?;
    if app == App::Crm {
        let holds = served.is_some() && found.status.is_some();
        contact.judge(
            holds,
            "A46",
            format!("the CRM's metadata has {}", named(&metadata)),
        );
    }
    Some(metadata)
}

pub(crate) async fn crm(contact: &mut Contact) -> [Option<String>; 2] {
    contact.step("CRM");
    without_token(contact, "getToday").await;
    for (id, parameters) in CRM {
        let list = read(contact, id, parameters).await;
        if let Some(list) = list.filter(|_| matches!(id, "getActors" | "search")) {
            is_wrapped(contact, id, &list);
        }
    }
    contact.step("pages");
    let mut pages = Vec::new();
    for (id, parameters) in LISTS {
        let page = read(contact, id, parameters).await.unwrap_or_default();
        let records = records(&page);
        if records.len() > 1 {
            let found = format!("{id} gives {} records where 1 was asked for", records.len());
            contact.problem(found, "count what comes, not what was asked for");
        }
        if let Some(record) = records.first() {
            let versioned = kind(&record["recordVersion"]) == "integer";
            let holds = versioned && record["publicReference"].is_string();
            contact.judge(
                holds,
                "A76",
                format!("a record of {id} has {}", named(record)),
            );
        }
        pages.push(page);
    }
    let references = [reference(&pages[1]), reference(&pages[2])];
    if let Some(person) = &references[0] {
        let parameters = [("reference", person.as_str()), ("limit", "1")];
        read(contact, "getPersonTimeline", &parameters).await;
    }
    if let Some(submission) = reference(&pages[4]) {
        read(
            contact,
            "getIntakeSubmission",
            &[("reference", &submission)],
        )
        .await;
    }
    cursors(contact, &pages[1], &pages[0]).await;
    refusals(contact).await;
    references
}

/// What an empty cursor means, and what another one is bound to.
async fn cursors(contact: &mut Contact, people: &Value, opportunities: &Value) {
    if people["nextCursor"] == "" {
        let list = operation("listPeople");
        let all = [("status", "active"), ("limit", "50")];
        let all = contact.get(list, true, &all).await.filter(Seen::is_success);
        if let Some(all) = all.and_then(|it| it.json()) {
            let (one, all) = (records(people).len(), records(&all).len());
            let evidence = format!("a page of 1 ends with an empty cursor, one of 50 has {all}");
            contact.judge(all <= one, "A53", evidence);
        }
    }
    let cursor = opportunities["nextCursor"].as_str();
    let Some(cursor) = cursor.filter(|it| !it.is_empty()) else {
        return contact.note("there is one page of opportunities: no cursor could be tried");
    };
    let list = operation("listOpportunities");
    let larger = [("limit", "2"), ("cursor", cursor)];
    let filtered = [("limit", "1"), ("stage", "deferred"), ("cursor", cursor)];
    let larger = contact
        .get(list, true, &larger)
        .await
        .filter(Seen::is_telling);
    let filtered = contact
        .get(list, true, &filtered)
        .await
        .filter(Seen::is_telling);
    if let (Some(larger), Some(filtered)) = (larger, filtered) {
        let holds = larger.is_success() && filtered.status == 400;
        let (size, filter) = (larger.status, filtered.status);
        let evidence =
            format!("a cursor gets {size} with another page size, {filter} with a filter");
        contact.judge(holds, "A75", evidence);
    }
}

/// What the CRM refuses, and with which body.
async fn refusals(contact: &mut Contact) {
    contact.step("refusals");
    let [funnel, people, person] = ["getFunnel", "listPeople", "getPerson"].map(operation);
    let window = [
        ("from", "2026-01-02T00:00:00Z"),
        ("to", "2026-01-01T00:00:00Z"),
    ];
    let right = [
        ("from", "2026-01-01T00:00:00Z"),
        ("to", "2026-01-02T00:00:00Z"),
    ];
    let right = contact
        .get(funnel, true, &right)
        .await
        .filter(Seen::is_success);
    let window = contact.get(funnel, true, &window).await;
    if let Some(seen) = window.filter(|it| right.is_some() && it.is_telling()) {
        let evidence = format!("a window that ends before it begins gets {}", seen.status);
        contact.judge(seen.status == 400, "A12", evidence);
    }
    let odd = contact.get(people, true, &[("suiteDoctor", "1")]).await;
    let missing = (App::Crm, "an unknown path", "/api/crm/v1/suite-doctor");
    let missing = contact.path(missing, true).await;
    let telling = |seen: Option<Seen>| seen.filter(Seen::is_telling);
    if let (Some(odd), Some(missing)) = (telling(odd), telling(missing)) {
        let default = odd.json().map_or(0, |it| records(&it).len());
        if default > 25 {
            let found = format!("a page has {default} records by default, documented are 25");
            contact.problem(found, "set `limit` where it matters");
        }
        let (status, path) = (odd.status, missing.status);
        let evidence = format!("an unknown query parameter gets {status}, an unknown path {path}");
        contact.judge(odd.is_success() && path == 404, "A74", evidence);
    }
    let nobody = [("reference", "PER-000000000000")];
    let nobody = contact.get(person, true, &nobody).await;
    refused(contact, App::Crm, nobody);
}

/// The body of a refusal of an application whose errors are not shown.
fn refused(report: &mut Report, app: App, seen: Option<Seen>) {
    let Some(seen) = seen.filter(Seen::is_refusal) else {
        return;
    };
    // Whoever answers otherwise may be a gateway.
    let Some(body) = seen.json().filter(Value::is_object) else {
        return;
    };
    let inner = if body["error"].is_object() {
        &body["error"]
    } else {
        &body
    };
    let message = inner["message"].is_string() || inner["error_description"].is_string();
    let evidence = format!("{app}: a {} has {}", seen.status, named(inner));
    report.judge(inner["code"].is_string() && message, "A55", evidence);
    let only = ["code", "message"];
    let plain = |it: &serde_json::Map<_, _>| {
        it.len() == 2 && only.iter().all(|name| it.contains_key(*name))
    };
    let evidence = format!("{app}: an error body has {}", named(&body));
    report.judge(body.as_object().is_some_and(plain), "A72", evidence);
}

pub(crate) async fn calendar(contact: &mut Contact) {
    contact.step("Calendar");
    let (app, path) = (App::Calendar, "/calendar/v1/event-commands");
    let Some(seen) = contact.path((app, path, path), true).await else {
        return;
    };
    match seen.status {
        405 => contact.ok("it documents no read; a GET of a command gets 405"),
        404 => {
            let found = "it documents no read, and a GET of a command gets 404 instead of 405";
            contact.problem(
                found,
                "check SUITE_CALENDAR_URL: this may be something else",
            );
        }
        _ => drop(contact.success(app, path, Some(seen.clone()))),
    }
    refused(contact, app, Some(seen));
}

pub(crate) async fn accounting(
    contact: &mut Contact,
    description: Option<String>,
) -> Option<String> {
    contact.step("Accounting");
    if let Some(path) = description {
        document(contact, &path).await;
    }
    let list = "listFinancialCounterparties";
    let counterparties = read(contact, list, &[]).await;
    if let Some(page) = &counterparties {
        is_wrapped(contact, list, page);
    }
    let refusal = without_token(contact, list).await;
    refused(contact, App::Accounting, refusal);
    for id in NAME_ONLY {
        by_name_only(contact, id).await;
    }
    if let Some(invoices) = by_name_only(contact, "listInvoices").await {
        is_wrapped(contact, "listInvoices", &invoices);
    }
    reference(&counterparties?)
}

/// A read that is known by name only, with a token and without.
async fn by_name_only(contact: &mut Contact, id: &str) -> Option<Value> {
    let with = contact.get(operation(id), true, &[]).await?;
    let without = contact.get(operation(id), false, &[]).await?;
    let (status, bare) = (with.status, without.status);
    let evidence = format!("{id} gets {status} with a token, {bare} without");
    if without.is_success() {
        let cure = "`without_token()` on the call saves the exchange";
        contact.contradict("A08", evidence, Some(cure));
    } else if bare == 401 && with.is_success() {
        contact.confirm("A08", evidence);
    }
    let body = with.json();
    let what = body.as_ref().map_or("no JSON", kind);
    let evidence = format!("{id} gets {status} with {what}");
    if with.is_telling() {
        contact.judge(status == 200 && body.is_some(), "A09", evidence.clone());
    }
    if !with.is_success() {
        contact.success(App::Accounting, id, Some(with));
        return None;
    }
    let body = body?;
    contact.judge(body.is_object(), "A82", evidence);
    Some(body)
}

/// The description that the metadata names, and the ids in it.
async fn document(contact: &mut Contact, path: &str) -> Option<()> {
    let app = App::Accounting;
    if !path.starts_with('/') || path.contains(['?', '#', '%']) {
        contact.note("openapiPath is no plain path: it is not read");
        return None;
    }
    let at = (app, "openapiPath", path);
    let mut seen = contact.path(at, false).await?;
    let evidence = format!("openapiPath without a token gets {}", seen.status);
    if seen.is_telling() || matches!(seen.status, 401 | 403) {
        contact.judge(seen.is_success(), "A85", evidence);
    }
    if matches!(seen.status, 401 | 403) {
        seen = contact.path(at, true).await?;
    }
    let document: Value = serde_yaml_ng::from_slice(&seen.body).ok()?;
    let ids = operations(app).iter().filter_map(|it| {
        let method = it.method.as_str().to_ascii_lowercase();
        let id = document["paths"][it.route][method.as_str()]["operationId"].as_str()?;
        Some((it.id, id == it.id))
    });
    let (same, other): (Vec<_>, Vec<_>) = ids.partition(|(_, same)| *same);
    if let Some((first, _)) = other.first() {
        let more = other.len() - 1;
        let evidence = format!("{first} and {more} more have other ids in the description");
        contact.contradict("A01", evidence, None);
    } else if same.len() > 1 {
        let count = same.len();
        contact.confirm(
            "A01",
            format!("{count} ids are the same in the description"),
        );
        contact.note("`cargo xtask adopt` compares the description with the specs");
    }
    Some(())
}

/// Which resource types are published.
pub(crate) async fn publications(
    contact: &mut Contact,
    references: [Option<String>; 3],
) -> Option<()> {
    contact.step("publications");
    let get = operation("getPublication");
    for ([app, one, many], reference) in PUBLISHED.into_iter().zip(references) {
        let Some(reference) = reference else { continue };
        let mut path = [
            ("appId", app),
            ("resourceType", one),
            ("sourceRecordId", &*reference),
        ];
        let seen = contact.get(get, true, &path).await?;
        let evidence = format!("{app}/{one} gets {}", seen.status);
        if seen.status != 404 {
            contact.success(App::Platform, get.id, Some(seen))?;
            contact.confirm("A83", evidence);
            continue;
        }
        path[1].1 = many;
        if contact.get(get, true, &path).await?.is_success() {
            let evidence = format!("{evidence}, {app}/{many} is there");
            contact.contradict("A83", evidence, None);
        } else {
            contact.note(format!("{evidence}: perhaps this record is not published"));
        }
    }
    Some(())
}
