//! The reads, application by application.

use sdk_core::{App, ContractReport, Error, MissingScopes};
use serde_json::Value;

use crate::contact::{Contact, Seen, operation, operations};
use crate::report::Report;
use crate::shape::{check, kind, named};

/// What is asked of the CRM beside its pages.
const CRM: [(&str, &[(&str, &str)]); 5] = [
    ("getToday", &[]),
    ("getActors", &[]),
    ("getFunnel", &[]),
    ("getPresentation", &[]),
    ("search", &[("q", "an"), ("limit", "2")]),
];

/// The lists with a cursor. Opportunities come first: their page is documented, so their cursor can be tried.
const LISTS: [&str; 5] = [
    "listOpportunities",
    "listPeople",
    "listOrganizations",
    "listTasks",
    "listIntakeSubmissions",
];

/// The scopes that were granted, and what they open.
pub(crate) async fn scopes(contact: &mut Contact) {
    macro_rules! missing {
        ($app:ident $field:ident) => {
            if let Some(client) = contact
                .clients
                .$field
                .clone()
                .filter(|_| contact.meter.may_send())
            {
                let missing = client.missing_scopes(operations(App::$app)).await;
                opened(&mut contact.report, App::$app, missing);
            }
        };
    }
    missing!(Platform platform);
    missing!(Crm crm);
    missing!(Calendar calendar);
    missing!(Accounting accounting);
}

fn opened(report: &mut Report, app: App, missing: Result<MissingScopes, Error>) {
    let Ok(missing) = missing else {
        return report.failure(
            format!("{app}: the SDK gets no token"),
            "see under \"token\"",
        );
    };
    let Some(granted) = &missing.granted else {
        return report.note(format!(
            "{app}: the token reply does not say which scopes it grants"
        ));
    };
    let named = operations(app)
        .iter()
        .filter(|it| !it.scopes.is_empty())
        .count();
    let (open, granted) = (named - missing.operations.len(), granted.len());
    let opens = format!("{app}: {granted} scopes open {open} of {named} operations that name one");
    let lacks = missing
        .operations
        .iter()
        .map(|it| format!("{} needs {}", it.id, it.scopes.join(" or ")));
    let lacks: Vec<String> = lacks.collect();
    if lacks.is_empty() {
        return report.ok(opens);
    }
    report.problem(
        opens,
        format!(
            "have the client granted what the service needs: {}",
            lacks.join("; ")
        ),
    );
}

/// Asks for what should succeed, and holds it against its schema.
async fn read(contact: &mut Contact, id: &str, parameters: &[(&str, &str)]) -> Option<Value> {
    let operation = operation(id)?;
    let app = operation.application;
    let seen = contact
        .get(operation, operation.authenticated, parameters)
        .await;
    let json = contact.json(app, id, seen)?;
    check(&mut contact.report, app, id, &json);
    Some(json)
}

/// The first array of a page, whatever it is called.
fn records(page: &Value) -> &[Value] {
    let mut members = page.as_object().into_iter().flatten();
    members
        .find_map(|(_, it)| it.as_array())
        .map_or(&[], Vec::as_slice)
}

fn reference(page: Option<&Value>) -> Option<String> {
    Some(
        records(page?).first()?["publicReference"]
            .as_str()?
            .to_owned(),
    )
}

pub(crate) async fn platform(contact: &mut Contact) {
    contact.report.step("Platform");
    if let Some(apps) = read(contact, "listApps", &[]).await {
        is_wrapped(&mut contact.report, "listApps", &apps);
    }
    read(contact, "getOrganizationContext", &[]).await;
    let Some(open) = operation("getOrganizationContext") else {
        return;
    };
    if let Some(seen) = contact.get(open, false, &[]).await {
        let error = seen.json().unwrap_or_default()["error"].take();
        let texts = ["code", "message", "requestId"]
            .iter()
            .all(|it| error[it].is_string());
        let evidence = format!("without a token: {}, {}", seen.status, named(&error));
        if texts && error["retryable"].is_boolean() && seen.status == 401 {
            contact.report.ok(evidence);
        } else {
            contact.report.problem(
                evidence,
                "the contract documents another envelope: ask its makers",
            );
        }
    }
}

/// A list whose wrapper is the reference server's reading.
fn is_wrapped(report: &mut Report, operation: &str, list: &Value) {
    report.judge(
        list["items"].is_array(),
        "A76",
        format!("{operation} has {}", named(list)),
    );
}

/// What needs no token: whether anything is there at all. Returns the path of Accounting's description.
pub(crate) async fn open(contact: &mut Contact) -> Option<String> {
    contact.report.step("health and contracts");
    read(contact, "getHealth", &[]).await;
    read(contact, "getReadiness", &[]).await;
    if let Some(crm) = contact.clients.crm.clone() {
        contract(&mut contact.report, App::Crm, crm.check_contract().await);
    }
    let accounting = contact.clients.accounting.clone()?;
    let metadata = accounting.check_contract().await;
    let metadata = contract(&mut contact.report, App::Accounting, metadata)?;
    Some(metadata["openapiPath"].as_str()?.to_owned())
}

fn contract(report: &mut Report, app: App, found: Result<ContractReport, Error>) -> Option<Value> {
    let found = match found {
        Ok(found) => found,
        Err(error) => {
            let said = error
                .status()
                .map_or_else(|| error.to_string(), |status| status.to_string());
            let cure = format!("check {}", app.url_variable());
            report.failure(format!("{app}: no metadata: {said}"), cure);
            return None;
        }
    };
    let served = found.served.as_deref();
    let said = format!(
        "{app}: built for {}, served {}",
        found.built_for,
        served.unwrap_or("no version")
    );
    match found.findings.first() {
        Some(first) if served.is_some() => {
            report.problem(
                format!("{said}: {first}"),
                "read what changed, and update the SDK",
            );
        }
        Some(_) => report.note(said),
        None => report.ok(said),
    }
    let metadata = found.metadata?.to_value().ok()?;
    if app == App::Crm {
        let holds = served.is_some() && found.status.is_some();
        report.judge(
            holds,
            "A46",
            format!("the CRM's metadata has {}", named(&metadata)),
        );
    }
    Some(metadata)
}

pub(crate) async fn crm(contact: &mut Contact) -> [Option<String>; 2] {
    contact.report.step("CRM");
    for (id, parameters) in CRM {
        let list = read(contact, id, parameters).await;
        if let Some(list) = list.filter(|_| matches!(id, "getActors" | "search")) {
            is_wrapped(&mut contact.report, id, &list);
        }
    }
    contact.report.step("pages");
    let mut pages = Vec::new();
    for id in LISTS {
        let parameters = [("limit", "1"), ("status", "active")];
        let parameters = &parameters[..if id == "listPeople" { 2 } else { 1 }];
        let page = read(contact, id, parameters).await.unwrap_or_default();
        let records = records(&page);
        if records.len() > 1 {
            let found = format!("{id} gives {} records where 1 was asked for", records.len());
            contact
                .report
                .problem(found, "count what comes, not what was asked for");
        }
        if let Some(record) = records.first() {
            let versioned = kind(&record["recordVersion"]) == "integer";
            let evidence = format!("a record of {id} has {}", named(record));
            contact.report.judge(
                versioned && record["publicReference"].is_string(),
                "A76",
                evidence,
            );
        }
        pages.push(page);
    }
    let [opportunities, people, organizations, _, intake] = &pages[..] else {
        return [None, None];
    };
    let references = [reference(Some(people)), reference(Some(organizations))];
    if let Some(person) = &references[0] {
        read(
            contact,
            "getPersonTimeline",
            &[("reference", person), ("limit", "1")],
        )
        .await;
    }
    if let Some(submission) = reference(Some(intake)) {
        read(
            contact,
            "getIntakeSubmission",
            &[("reference", &submission)],
        )
        .await;
    }
    cursors(contact, people, opportunities).await;
    refusals(contact).await;
    references
}

/// What an empty cursor means, and what another one is bound to.
async fn cursors(contact: &mut Contact, people: &Value, opportunities: &Value) {
    let (Some(list), Some(other)) = (operation("listPeople"), operation("listOpportunities"))
    else {
        return;
    };
    if people["nextCursor"] == "" {
        let all = contact
            .get(list, true, &[("status", "active"), ("limit", "50")])
            .await;
        let all = all
            .and_then(|it| it.json())
            .map_or(0, |it| records(&it).len());
        let evidence =
            format!("a page of 1 ends with an empty cursor, one of 50 has {all} records");
        contact
            .report
            .judge(all <= records(people).len(), "A53", evidence);
    }
    let Some(cursor) = opportunities["nextCursor"]
        .as_str()
        .filter(|it| !it.is_empty())
    else {
        return contact
            .report
            .note("there is one page of opportunities: no cursor could be tried");
    };
    let larger = contact
        .get(other, true, &[("limit", "2"), ("cursor", cursor)])
        .await;
    let filtered = [("limit", "1"), ("stage", "deferred"), ("cursor", cursor)];
    let filtered = contact.get(other, true, &filtered).await;
    if let (Some(larger), Some(filtered)) = (larger, filtered) {
        let (size, filter) = (larger.status, filtered.status);
        let evidence =
            format!("a cursor gets {size} with another page size, {filter} with another filter");
        contact
            .report
            .judge(larger.is_success() && filter == 400, "A75", evidence);
    }
}

/// What the CRM refuses, and with which body.
async fn refusals(contact: &mut Contact) {
    contact.report.step("refusals");
    let ids = ["getFunnel", "listPeople", "getPerson"].map(operation);
    let [Some(funnel), Some(people), Some(person)] = ids else {
        return;
    };
    let window = [
        ("from", "2026-01-02T00:00:00Z"),
        ("to", "2026-01-01T00:00:00Z"),
    ];
    let window = contact.get(funnel, true, &window).await;
    if let Some(seen) = window.filter(|it| it.is_success() || it.status == 400) {
        let evidence = format!("a window that ends before it begins gets {}", seen.status);
        contact.report.judge(seen.status == 400, "A12", evidence);
    }
    let odd = contact.get(people, true, &[("suiteDoctor", "1")]).await;
    let missing = contact
        .path(App::Crm, "/api/crm/v1/suite-doctor", true)
        .await;
    if let (Some(odd), Some(missing)) = (odd, missing) {
        let default = odd.json().map_or(0, |it| records(&it).len());
        if default > 25 {
            let found = format!("a page has {default} records by default, documented are 25");
            contact
                .report
                .problem(found, "set `limit` where it matters");
        }
        let statuses = format!("{}, an unknown path {}", odd.status, missing.status);
        let evidence = format!("an unknown query parameter gets {statuses}");
        contact
            .report
            .judge(odd.is_success() && missing.status == 404, "A74", evidence);
    }
    if let Some(seen) = contact
        .get(person, true, &[("reference", "PER-000000000000")])
        .await
    {
        refused(&mut contact.report, App::Crm, &seen);
    }
}

/// The body of a refusal of an application whose errors are not shown.
fn refused(report: &mut Report, app: App, seen: &Seen) {
    let body = seen.json().unwrap_or_default();
    let inner = if body["error"].is_object() {
        &body["error"]
    } else {
        &body
    };
    let message = inner["message"].is_string() || inner["error_description"].is_string();
    let evidence = format!("{app}: a {} has {}", seen.status, named(inner));
    report.judge(inner["code"].is_string() && message, "A55", evidence);
    let plain = body
        .as_object()
        .is_some_and(|it| it.keys().eq(["code", "message"]));
    report.judge(
        plain,
        "A72",
        format!("{app}: an error body has {}", named(&body)),
    );
}

pub(crate) async fn calendar(contact: &mut Contact) {
    contact.report.step("Calendar");
    let path = "/calendar/v1/event-commands";
    let Some(seen) = contact.path(App::Calendar, path, true).await else {
        return;
    };
    if matches!(seen.status, 404 | 405) {
        contact.report.ok(format!(
            "it documents no read; a GET of a command gets {}",
            seen.status
        ));
        refused(&mut contact.report, App::Calendar, &seen);
    } else {
        contact.json(App::Calendar, path, Some(seen));
    }
}

pub(crate) async fn accounting(
    contact: &mut Contact,
    description: Option<String>,
) -> Option<String> {
    contact.report.step("Accounting");
    if let Some(path) = description {
        document(contact, &path).await;
    }
    let list = operation("listFinancialCounterparties")?;
    let counterparties = read(contact, list.id, &[]).await;
    if let Some(page) = &counterparties {
        is_wrapped(&mut contact.report, list.id, page);
    }
    if let Some(seen) = contact
        .get(list, false, &[])
        .await
        .filter(|it| !it.is_success())
    {
        refused(&mut contact.report, App::Accounting, &seen);
    }
    for id in [
        "getAccountingReadiness",
        "getAccountingActor",
        "getAccountingOverview",
        "listInvoices",
    ] {
        by_name_only(contact, id).await;
    }
    reference(counterparties.as_ref())
}

/// A read that is known by name only, with a token and without.
async fn by_name_only(contact: &mut Contact, id: &str) -> Option<()> {
    let operation = operation(id)?;
    let with = contact.get(operation, true, &[]).await?;
    let without = contact.get(operation, false, &[]).await?;
    let report = &mut contact.report;
    let evidence = format!(
        "{id} gets {} with a token, {} without",
        with.status, without.status
    );
    if without.is_success() {
        report.contradict(
            "A08",
            evidence,
            Some("`without_token()` on the call saves the exchange"),
        );
    } else if matches!(without.status, 401 | 403) && with.is_success() {
        report.confirm("A08", evidence);
    }
    let body = with.json();
    let evidence = format!(
        "{id} gets {} with {}",
        with.status,
        body.as_ref().map_or("no JSON", kind)
    );
    if with.is_success() || matches!(with.status, 400 | 404 | 405) {
        report.judge(
            with.status == 200 && body.is_some(),
            "A09",
            evidence.clone(),
        );
    }
    let body = body.filter(|_| with.is_success())?;
    report.judge(body.is_object(), "A82", evidence);
    if id == "listInvoices" {
        is_wrapped(report, id, &body);
    }
    Some(())
}

/// The description that the metadata names, and the ids in it.
async fn document(contact: &mut Contact, path: &str) -> Option<()> {
    let app = App::Accounting;
    let mut seen = contact.path(app, path, false).await?;
    let evidence = format!("openapiPath without a token gets {}", seen.status);
    contact.report.judge(seen.is_success(), "A85", evidence);
    if matches!(seen.status, 401 | 403) {
        seen = contact.path(app, path, true).await?;
    }
    let document: Value = serde_yaml_ng::from_slice(&seen.body).ok()?;
    let ids = operations(app).iter().filter_map(|it| {
        let method = it.method.as_str().to_ascii_lowercase();
        let id = document["paths"][it.route][method.as_str()]["operationId"].as_str()?;
        Some((it.id, id == it.id))
    });
    let (same, other): (Vec<_>, Vec<_>) = ids.partition(|(_, same)| *same);
    if let Some((first, _)) = other.first() {
        let evidence = format!(
            "{first} and {} more have other ids in the description",
            other.len() - 1
        );
        contact.report.contradict("A01", evidence, None);
    } else if !same.is_empty() {
        let evidence = format!("{} ids are the same in the description", same.len());
        contact.report.confirm("A01", evidence);
        contact
            .report
            .note("openapiPath has a description: `cargo xtask adopt` compares it with the specs");
    }
    Some(())
}

/// Which resource types are published.
pub(crate) async fn publications(
    contact: &mut Contact,
    references: [Option<String>; 3],
) -> Option<()> {
    contact.report.step("publications");
    let operation = operation("getPublication")?;
    let kinds = [
        ("crm", "person", "people"),
        ("crm", "organization", "organizations"),
        ("accounting", "counterparty", "counterparties"),
    ];
    for ((app, one, many), reference) in kinds.into_iter().zip(references) {
        let Some(reference) = reference else { continue };
        let mut path = [
            ("appId", app),
            ("resourceType", one),
            ("sourceRecordId", &reference),
        ];
        let seen = contact.get(operation, true, &path).await?;
        let evidence = format!("{app}/{one} gets {}", seen.status);
        if seen.status != 404 {
            contact.json(App::Platform, operation.id, Some(seen))?;
            contact.report.confirm("A83", evidence);
            continue;
        }
        path[1].1 = many;
        if contact.get(operation, true, &path).await?.is_success() {
            let evidence = format!("{evidence}, {app}/{many} is there");
            contact.report.contradict("A83", evidence, None);
        } else {
            let found = format!("{evidence}: perhaps this record is not published");
            contact.report.note(found);
        }
    }
    Some(())
}
