//! Sends the reads: each once, at most as many as announced, and none to an application that did not answer.

use std::collections::BTreeSet;

use bytes::Bytes;
use sdk_core::{
    App, ContractMatch, ContractReport, Error, ErrorKind, MissingScopes, Operation, Suite,
    TokenError,
};
use serde_json::Value;

use super::facts::{Facts, Seen, records};
use super::meter::{MOST, Meter};
use super::reads::Expected::{Any, Documented, NotAllowed, Published, Rejection, Success};
use super::reads::Read;
use super::report::Report;
use super::shape;
use crate::catalog::{self, operations};

pub(crate) struct Reader {
    pub(crate) report: Report,
    pub(crate) facts: Facts,
    /// The suite for the reads, and the applications that may be asked.
    pub(crate) suite: Option<Suite>,
    pub(crate) apps: BTreeSet<App>,
    meter: Meter,
}

impl Reader {
    pub(crate) fn new(report: Report, meter: Meter) -> Self {
        Self {
            report,
            facts: Facts::default(),
            suite: None,
            apps: BTreeSet::new(),
            meter,
        }
    }

    pub(crate) async fn step(&mut self, name: &'static str, reads: &[Read]) {
        self.report.step(name);
        for read in reads {
            if let Some(seen) = self.read(read).await {
                self.look(read, &seen);
                self.facts.responses.push(seen);
            }
        }
    }

    /// The suite, if the application may be asked: one that did not answer once is not waited for again.
    fn may_ask(&mut self, app: App) -> Option<Suite> {
        if !self.meter.may_send() {
            let found = format!("the announced {MOST} requests are used up");
            let remedy = "do what is named above first, and run the doctor again";
            self.report.problem(found, remedy);
            return None;
        }
        self.suite.clone().filter(|_| self.apps.contains(&app))
    }

    /// Sends a read, unless it isn't needed, or its application did not answer before.
    async fn read(&mut self, read: &Read) -> Option<Seen> {
        if !(read.is_needed)(&self.facts) {
            return None;
        }
        let parameters = read.parameters(&self.facts)?;
        let target = read.target(&self.facts)?;
        let suite = self.may_ask(read.app)?;
        let mut call = catalog::raw_call(&suite, read.app, target).ok()?;
        let route = read.operation.map_or("", |it| it.route);
        for (name, value) in parameters {
            call = if route.contains(&format!("{{{name}}}")) {
                call.path(name, value)
            } else {
                call.query(name, value)
            };
        }
        if !read.with_token {
            call = call.without_token();
        }
        let mut seen = match call.send().await {
            Ok(response) => {
                let headers = response.headers();
                let mut seen = Seen::new(read.name, read.app, response.http_status(), headers);
                seen.body = response.bytes().clone();
                seen
            }
            Err(error) => self.rejected(read.name, read.operation, read.app, &error)?,
        };
        (seen.operation, seen.with_token) = (read.operation, read.with_token);
        Some(seen)
    }

    /// The response of a failed call. If there is none, it adds a failure.
    fn rejected(
        &mut self,
        name: &'static str,
        operation: Option<&'static Operation>,
        app: App,
        error: &Error,
    ) -> Option<Seen> {
        let Some((status, headers)) = error.status().zip(error.headers()) else {
            self.unanswered(app, operation.map_or(name, |it| it.id), error);
            return None;
        };
        let mut seen = Seen::new(name, app, status, headers);
        seen.body = Bytes::copy_from_slice(error.body().unwrap_or_default());
        Some(seen)
    }

    /// Adds the findings of a response.
    fn look(&mut self, read: &Read, seen: &Seen) {
        let (report, label) = (&mut self.report, seen.label());
        let parameters = read.parameters(&self.facts).unwrap_or_default();
        page_size(report, seen, &parameters);
        match (read.expected, seen.status) {
            (Documented, 200..=299) | (Rejection, 400..=499) => {
                let json = match read.expected {
                    Documented => success(report, seen),
                    _ => seen.json(),
                };
                let shape = read.operation.zip(json);
                let shape = shape.and_then(|(it, json)| shape::check(it, seen.status, &json));
                if let Some(shape) = shape {
                    shape.find(report, read.name);
                    self.facts.evidence.extend(shape.evidence(read.name));
                }
            }
            (Success, 200..=299) if read.with_token => {}
            (Success, status @ 200..=299) => report.ok(format!("{label}: {status}")),
            (Rejection, 200..=299) => {
                let found = format!("{label} answers without a token, too");
                report.problem(found, "ask the operator: the contract demands one");
            }
            (NotAllowed, 405) => {
                report.ok("it documents no read; a GET of a command gets 405");
            }
            (NotAllowed, 404) => {
                let found = "it documents no read, and a GET of a command gets 404 instead of 405";
                let remedy = "check SUITE_CALENDAR_URL: this may be something else";
                report.problem(found, remedy);
            }
            (Rejection | Any, _) | (Published, 404) => {}
            _ => drop(success(report, seen)),
        }
    }

    /// Compares the contract versions of the applications that have metadata.
    pub(crate) async fn contracts(&mut self) {
        for app in [App::Crm, App::Accounting] {
            let Some(suite) = self.may_ask(app) else {
                continue;
            };
            match check_contract(&suite, app).await {
                Ok(contract) => {
                    contract_version(&mut self.report, &contract);
                    self.facts.contracts.insert(app, contract);
                }
                Err(error) => {
                    if let Some(seen) = self.rejected("the metadata", None, app, &error) {
                        success(&mut self.report, &seen);
                    }
                }
            }
        }
    }

    /// Adds a finding on an application that did not answer.
    fn unanswered(&mut self, app: App, name: &str, error: &Error) {
        let found = without_a_response(error);
        let remedy = match error.kind() {
            ErrorKind::Connect if found.contains("not valid for name") => {
                "set $URL to a name that the certificate has; otherwise another service has it"
            }
            ErrorKind::Connect if found.contains("ertificate") => {
                "if its root is your own, add that to the system's (or SSL_CERT_FILE), or pass a client with `http_client`; \
                 otherwise $URL leads to another service"
            }
            ErrorKind::Connect => {
                "check scheme, host and port in $URL, that it listens there, and HTTPS_PROXY, HTTP_PROXY and NO_PROXY"
            }
            ErrorKind::TokenUnavailable => "see the findings under \"token\"",
            _ => "check $URL and the way there (firewall, proxy)",
        };
        if matches!(
            error.kind(),
            ErrorKind::Connect | ErrorKind::Timeout | ErrorKind::TokenUnavailable
        ) {
            self.apps.remove(&app);
        }
        let found = format!("{name}: {found}");
        self.report.failure(found, for_app(remedy, app));
    }
}

async fn check_contract(suite: &Suite, app: App) -> Result<ContractReport, Error> {
    match app {
        App::Crm => sdk_crm::Client::new(suite)?.check_contract().await,
        _ => sdk_accounting::Client::new(suite)?.check_contract().await,
    }
}

/// The reason why there is no response. The words of a token endpoint are left out, because they may be anything.
fn without_a_response(error: &Error) -> String {
    let cause = std::error::Error::source(error);
    match cause.and_then(|cause| cause.downcast_ref::<TokenError>()) {
        None if error.kind() == ErrorKind::TokenUnavailable => "no token".to_owned(),
        None => error.to_string(),
        Some(token) => {
            let status = token.status().map(|status| format!(" ({status})"));
            let status = status.unwrap_or_default();
            format!("no token: {}{status}", token.kind().as_str())
        }
    }
}

/// The JSON of a success. Otherwise it adds a failure with its remedy.
fn success(report: &mut Report, seen: &Seen) -> Option<Value> {
    if let Some(json) = seen.success() {
        return Some(json);
    }
    let is_page = seen.body.trim_ascii_start().starts_with(b"<");
    let (found, remedy) = match seen.status {
        200..=299 if is_page => ("a web page", "set $URL to the application, not to a portal"),
        200..=299 => ("no JSON", "check $URL; `raw_call` returns the bytes"),
        300..=399 => ("a redirect, which is not followed", LOCATION),
        401 => ("the token is not accepted", AUDIENCE),
        403 => ("forbidden", RIGHTS),
        404 | 405 => ("not there", "set $URL to the application's routed origin"),
        429 => ("a rate limit", LATER),
        500.. => (
            "down, or not configured",
            "ask the operator, and run it again",
        ),
        _ => ("rejected", "read the body with `raw_call`"),
    };
    let found = format!("{}: {found} ({})", seen.label(), seen.status);
    report.failure(found, for_app(remedy, seen.app));
    None
}

const LOCATION: &str = "set $URL to where it leads";
const AUDIENCE: &str = "set $AUDIENCE exactly; check $URL, SUITE_TOKEN_URL";
const RIGHTS: &str = "have the client granted scopes, the entitlement `$APP`, a workspace";
const LATER: &str = "run it later; `max_in_flight` keeps a service below it";

/// A remedy with the name and the variables of an application.
pub(crate) fn for_app(remedy: &str, app: App) -> String {
    let remedy = remedy.replace("$URL", app.url_variable());
    let remedy = remedy.replace("$AUDIENCE", app.audience_variable());
    remedy.replace("$APP", app.name())
}

/// Adds a finding on a page with more records than fit: as many as were requested, or 25.
fn page_size(report: &mut Report, seen: &Seen, parameters: &[(&str, String)]) {
    let mut limits = parameters.iter().filter(|(name, _)| *name == "limit");
    let limit = limits.find_map(|(_, limit)| limit.parse().ok());
    let (limit, is_page) = (
        limit.unwrap_or(25),
        seen.operation.is_some_and(|it| it.cursor),
    );
    let page = seen.success().filter(|_| is_page);
    let count = page.map_or(0, |page| records(&page).len());
    if count > limit {
        let found = format!("{} returns {count} records where {limit} fit", seen.label());
        report.problem(found, "set `limit`, and count the records of each page");
    }
}

fn contract_version(report: &mut Report, contract: &ContractReport) {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || ".+-".contains(letter);
    let version = match contract.served.as_deref() {
        None => "no version",
        Some(version) if version.len() <= 32 && version.chars().all(is_plain) => version,
        Some(_) => "another",
    };
    let (app, built_for) = (contract.application, contract.built_for);
    let found = format!("{app}: built for {built_for}, served {version}");
    let differences = contract.findings.len();
    match contract.matches {
        ContractMatch::Same if differences == 0 => report.ok(found),
        ContractMatch::Newer | ContractMatch::Unknown => report.note(found),
        _ => report.problem(
            format!("{found}: {differences} differences"),
            "`check_contract()` names them; read what changed, and update the SDK",
        ),
    }
}

/// Adds a finding on the operations that the granted scopes open.
pub(crate) fn scopes(report: &mut Report, app: App, missing: Result<MissingScopes, Error>) {
    let missing = match missing {
        Ok(missing) => missing,
        Err(error) => {
            let found = format!("{app}: the SDK itself: {}", without_a_response(&error));
            let remedy =
                "the doctor gets a token, and the SDK doesn't: see A05, or run the doctor again";
            return report.failure(found, remedy);
        }
    };
    let Some(granted) = &missing.granted else {
        let found = "the response to the token request doesn't name the granted scopes";
        return report.note(format!("{app}: {found}"));
    };
    let documented = operations(app).iter().filter(|it| !it.scopes.is_empty());
    let (all, granted) = (documented.count(), granted.len());
    let open = all - missing.operations.len();
    let found = format!("{app}: {granted} scopes open {open} of {all} operations that name one");
    let lacks = |it: &&Operation| format!("{} needs {}", it.id, it.scopes.join(" or "));
    let lacks: Vec<String> = missing.operations.iter().map(lacks).collect();
    if lacks.is_empty() {
        return report.ok(found);
    }
    let lacks = lacks.join("; ");
    let remedy = format!("have the client granted what the service needs: {lacks}");
    report.problem(found, remedy);
}
