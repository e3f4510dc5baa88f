//! The reads of the doctor, in order. Some reads take a reference, a cursor or a path from earlier responses.

use sdk_accounting::operations as accounting;
use sdk_core::{App, Method, Operation, RawTarget};
use sdk_crm::operations as crm;
use sdk_platform::operations as platform;

use super::facts::{Facts, records};
use Expected::{Any, Documented, NotAllowed, Published, Rejection, Success};
use Source::{Cursor, First, Limit, OpenapiPath, Text};

pub(crate) struct Read {
    pub(crate) name: &'static str,
    pub(crate) app: App,
    /// `None` for a path without an operation.
    pub(crate) operation: Option<&'static Operation>,
    /// The path, if there is no operation.
    path: Source,
    parameters: Vec<(&'static str, Source)>,
    /// The maximum number of records in the response, which is 25 for reads without the parameter.
    pub(crate) limit: usize,
    pub(crate) with_token: bool,
    /// Any other response is a finding.
    pub(crate) expected: Expected,
    pub(crate) is_needed: Box<dyn Fn(&Facts) -> bool>,
}

#[derive(Clone, Copy)]
pub(crate) enum Expected {
    /// A success with the documented fields.
    Documented,
    /// A success with undocumented fields.
    Success,
    /// A rejection with the documented fields.
    Rejection,
    /// A 405, because the path accepts only commands.
    NotAllowed,
    /// A success, or a 404 if the record isn't published.
    Published,
    Any,
}

enum Source {
    Text(&'static str),
    Limit(usize),
    /// The reference of the first record in a list's response.
    First(&'static Operation),
    /// The cursor of the second page of opportunities.
    Cursor,
    /// The path in Accounting's metadata.
    OpenapiPath,
}

/// The name-only operations of Accounting.
pub(super) static NAME_ONLY: [&Operation; 4] = [
    &accounting::GET_ACCOUNTING_READINESS,
    &accounting::GET_ACCOUNTING_ACTOR,
    &accounting::GET_ACCOUNTING_OVERVIEW,
    &accounting::LIST_INVOICES,
];

/// The name of the reads of name-only operations without a token.
pub(super) const BARE: &str = "name-only without a token";

/// Publications: the assumed resource type, the alternative, and a list with such records.
pub(super) static PUBLICATIONS: [(&str, &str, &Operation); 3] = [
    ("crm/person", "crm/people", &crm::LIST_PEOPLE),
    (
        "crm/organization",
        "crm/organizations",
        &crm::LIST_ORGANIZATIONS,
    ),
    (
        "accounting/counterparty",
        "accounting/counterparties",
        &accounting::LIST_FINANCIAL_COUNTERPARTIES,
    ),
];

pub(crate) fn steps() -> [(&'static str, Vec<Read>); 8] {
    [
        ("health and contracts", health()),
        ("Platform", platform()),
        ("CRM", crm()),
        ("pages", pages()),
        ("rejections", rejections()),
        (
            "Calendar",
            vec![path("the Calendar", App::Calendar, COMMANDS, NotAllowed)],
        ),
        ("Accounting", accounting()),
        ("publications", publications()),
    ]
}

const ACTIVE: (&str, Source) = ("status", Text("active"));
const CURSOR: (&str, Source) = ("cursor", Cursor);
const COMMANDS: Source = Text("/calendar/v1/event-commands");
const EARLIER: Source = Text("2026-01-01T00:00:00Z");
const LATER: Source = Text("2026-01-02T00:00:00Z");

fn health() -> Vec<Read> {
    vec![
        read(&crm::GET_HEALTH, Success).without_token("getHealth"),
        read(&crm::GET_READINESS, Success).without_token("getReadiness"),
    ]
}

fn platform() -> Vec<Read> {
    vec![
        read(&platform::LIST_APPS, Documented),
        read(&platform::GET_ORGANIZATION_CONTEXT, Documented),
        read(&platform::GET_ORGANIZATION_CONTEXT, Rejection)
            .without_token("Platform without a token"),
    ]
}

fn crm() -> Vec<Read> {
    vec![
        read(&crm::GET_TODAY, Rejection).without_token("CRM without a token"),
        read(&crm::GET_TODAY, Documented),
        read(&crm::GET_ACTORS, Documented),
        read(&crm::GET_FUNNEL, Documented),
        read(&crm::GET_PRESENTATION, Documented),
        read(&crm::SEARCH, Documented)
            .limit(2)
            .with([("q", Text("an"))]),
    ]
}

fn pages() -> Vec<Read> {
    let reference = |list| ("reference", First(list));
    let deferred = ("stage", Text("deferred"));
    vec![
        read(&crm::LIST_OPPORTUNITIES, Documented).limit(1),
        read(&crm::LIST_PEOPLE, Documented).limit(1).with([ACTIVE]),
        read(&crm::LIST_ORGANIZATIONS, Documented).limit(1),
        read(&crm::LIST_TASKS, Documented).limit(1),
        read(&crm::LIST_INTAKE_SUBMISSIONS, Documented).limit(1),
        read(&crm::GET_PERSON_TIMELINE, Documented)
            .limit(1)
            .with([reference(&crm::LIST_PEOPLE)]),
        read(&crm::GET_INTAKE_SUBMISSION, Documented)
            .with([reference(&crm::LIST_INTAKE_SUBMISSIONS)]),
        named("all people", &crm::LIST_PEOPLE)
            .limit(50)
            .with([ACTIVE])
            .only_if(|facts| facts.success("listPeople")["nextCursor"] == ""),
        named("a cursor with another limit", &crm::LIST_OPPORTUNITIES)
            .limit(2)
            .with([CURSOR]),
        named("a cursor with another filter", &crm::LIST_OPPORTUNITIES)
            .limit(1)
            .with([deferred, CURSOR]),
    ]
}

fn rejections() -> Vec<Read> {
    let nobody = ("reference", Text("PER-000000000000"));
    let unknown = Text("/api/crm/v1/suite-doctor");
    vec![
        named("a window", &crm::GET_FUNNEL).with([("from", EARLIER), ("to", LATER)]),
        named("a reversed window", &crm::GET_FUNNEL).with([("from", LATER), ("to", EARLIER)]),
        named("an unknown parameter", &crm::LIST_PEOPLE).with([("suiteDoctor", Text("1"))]),
        path("an unknown path", App::Crm, unknown, Any),
        named("an unknown person", &crm::GET_PERSON).with([nobody]),
    ]
}

fn accounting() -> Vec<Read> {
    let openapi_path = |name| path(name, App::Accounting, OpenapiPath, Any);
    let mut reads = vec![
        openapi_path("openapiPath").without_token("openapiPath"),
        openapi_path("openapiPath with a token")
            .only_if(|facts| facts.got("openapiPath", &[401, 403])),
        read(&accounting::LIST_FINANCIAL_COUNTERPARTIES, Documented),
        read(&accounting::LIST_FINANCIAL_COUNTERPARTIES, Rejection)
            .without_token("Accounting without a token"),
    ];
    for operation in NAME_ONLY {
        let bare = read(operation, Any).without_token(BARE);
        reads.extend([read(operation, Success), bare]);
    }
    reads
}

fn publications() -> Vec<Read> {
    let mut reads = Vec::new();
    for (assumed, other, list) in PUBLICATIONS {
        let is_absent = move |facts: &Facts| facts.got(assumed, &[404]);
        reads.push(publication(assumed, list));
        reads.push(publication(other, list).only_if(is_absent));
    }
    reads
}

/// The name is the ID of the operation.
fn read(operation: &'static Operation, expected: Expected) -> Read {
    let name = operation.id;
    Read {
        operation: Some(operation),
        ..path(name, operation.application, Text(""), expected)
    }
}

fn named(name: &'static str, operation: &'static Operation) -> Read {
    Read {
        name,
        ..read(operation, Any)
    }
}

fn publication(name: &'static str, list: &'static Operation) -> Read {
    let (app, kind) = name.split_once('/').unwrap_or_default();
    let read = Read {
        name,
        ..read(&platform::GET_PUBLICATION, Published)
    };
    read.with([
        ("appId", Text(app)),
        ("resourceType", Text(kind)),
        ("sourceRecordId", First(list)),
    ])
}

fn path(name: &'static str, app: App, path: Source, expected: Expected) -> Read {
    Read {
        name,
        app,
        operation: None,
        path,
        parameters: Vec::new(),
        limit: 25,
        with_token: true,
        expected,
        is_needed: Box::new(|_| true),
    }
}

impl Read {
    fn with<const N: usize>(mut self, parameters: [(&'static str, Source); N]) -> Self {
        self.parameters.extend(parameters);
        self
    }

    fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self.with([("limit", Limit(limit))])
    }

    fn without_token(mut self, name: &'static str) -> Self {
        (self.name, self.with_token) = (name, false);
        self
    }

    fn only_if(mut self, is_needed: impl Fn(&Facts) -> bool + 'static) -> Self {
        self.is_needed = Box::new(is_needed);
        self
    }

    /// Returns the operation or the path, if it is known from earlier responses.
    pub(crate) fn target(&self, facts: &Facts) -> Option<RawTarget> {
        match self.operation {
            Some(operation) => Some(operation.into()),
            None => Some((Method::Get, self.path.resolve(facts)?).into()),
        }
    }

    /// Returns the parameters of path and query, if their values are known from earlier responses.
    pub(crate) fn parameters(&self, facts: &Facts) -> Option<Vec<(&'static str, String)>> {
        let all = self.parameters.iter();
        all.map(|(name, it)| Some((*name, it.resolve(facts)?)))
            .collect()
    }
}

impl Source {
    /// Returns the value, if it is known from earlier responses.
    fn resolve(&self, facts: &Facts) -> Option<String> {
        let value = match self {
            Text(text) => return Some((*text).to_owned()),
            Limit(limit) => return Some(limit.to_string()),
            First(list) => records(&facts.success(list.id)).first()?["publicReference"].clone(),
            Cursor => facts.success("listOpportunities")["nextCursor"].clone(),
            OpenapiPath => facts.metadata(App::Accounting)["openapiPath"].clone(),
        };
        let text = value.as_str().filter(|text| match self {
            Cursor => !text.is_empty(),
            OpenapiPath => text.starts_with('/') && !text.contains(['?', '#', '%']),
            _ => true,
        });
        text.map(str::to_owned)
    }
}
