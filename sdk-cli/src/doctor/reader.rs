//! Sends each read once, within the limit of requests. An application that didn't respond gets no further reads.

use std::collections::BTreeSet;

use bytes::Bytes;
use sdk_core::{App, ContractReport, Error, ErrorKind, Suite};

use super::facts::{Facts, Seen};
use super::findings::{contract_version, for_app, page_size, success, without_a_response};
use super::reads::Expected::{Any, Documented, NotAllowed, Published, Rejection, Success};
use super::reads::Read;
use super::report::{MOST, Report};
use super::shape;
use crate::catalog::{self, with_client};

pub(crate) struct Reader {
    pub(crate) report: Report,
    pub(crate) facts: Facts,
    /// The suite for the reads, and the applications that get reads.
    pub(crate) suite: Option<Suite>,
    pub(crate) apps: BTreeSet<App>,
}

impl Reader {
    pub(crate) fn new(report: Report) -> Self {
        Self {
            report,
            facts: Facts::default(),
            suite: None,
            apps: BTreeSet::new(),
        }
    }

    pub(crate) async fn step(&mut self, name: &'static str, reads: &[Read]) {
        self.report.step(name);
        for read in reads {
            if let Some(seen) = self.read(read).await {
                self.add_findings(read, &seen);
                self.facts.responses.push(seen);
            }
        }
    }

    /// Returns the suite, if the application gets further reads and the limit of requests allows another call.
    fn may_ask(&mut self, app: App) -> Option<Suite> {
        if !self.report.meter.may_send() {
            let found = format!("the limit of {MOST} requests is reached");
            let remedy = "apply the remedies above, then run the doctor again";
            self.report.problem(found, remedy);
            return None;
        }
        self.suite.clone().filter(|_| self.apps.contains(&app))
    }

    /// Sends a read, unless it isn't needed, or its application gets no further reads.
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
        let label = read.operation.map_or(read.name, |it| it.id);
        let mut seen = match call.send().await {
            Ok(receipt) => {
                let (status, body) = (receipt.http_status(), receipt.bytes().clone());
                Seen::new(read.app, status, receipt.headers(), body)
            }
            Err(error) => self.rejected(label, read.app, &error)?,
        };
        (seen.name, seen.operation, seen.with_token) = (read.name, read.operation, read.with_token);
        Some(seen)
    }

    /// Returns a failed call's response. If there is no response, adds a failure.
    fn rejected(&mut self, label: &'static str, app: App, error: &Error) -> Option<Seen> {
        let Some((status, headers)) = error.status().zip(error.headers()) else {
            self.unanswered(app, label, error);
            return None;
        };
        let body = Bytes::copy_from_slice(error.body().unwrap_or_default());
        Some(Seen {
            name: label,
            ..Seen::new(app, status, headers, body)
        })
    }

    fn add_findings(&mut self, read: &Read, seen: &Seen) {
        let (report, label) = (&mut self.report, seen.label());
        page_size(report, seen, read.limit);
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
                let found = format!("{label} also succeeds without a token");
                report.problem(found, "ask the operator: the contract requires a token");
            }
            (NotAllowed, 405) => {
                report.ok("a GET of the Calendar's command path gets 405, as expected");
            }
            (NotAllowed, 404) => {
                let found = "a GET of the Calendar's command path gets 404 instead of 405";
                let remedy = "check SUITE_CALENDAR_URL, which may lead to another service";
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
                    if let Some(seen) = self.rejected("the metadata", app, &error) {
                        success(&mut self.report, &seen);
                    }
                }
            }
        }
    }

    fn unanswered(&mut self, app: App, name: &str, error: &Error) {
        let found = without_a_response(error);
        let remedy = match error.kind() {
            ErrorKind::Connect if found.contains("not valid for name") => {
                "set $URL to a name in the certificate; otherwise, $URL may lead to another service"
            }
            ErrorKind::Connect if found.contains("ertificate") => {
                "if its root is your own, add the root to the system's roots or SSL_CERT_FILE, or pass a client with \
                 `http_client`; otherwise, $URL may lead to another service"
            }
            ErrorKind::Connect => {
                "check scheme, host and port in $URL, whether the application listens there, and HTTPS_PROXY, HTTP_PROXY and \
                 NO_PROXY"
            }
            ErrorKind::TokenUnavailable => "see the findings under \"token\"",
            _ => "check $URL and the network (firewall, proxy)",
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
    with_client!(app, suite, |client| client.check_contract().await)
}
