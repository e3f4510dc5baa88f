//! Requests: counted, never more than announced, and what each reply tells by its headers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::HeaderMap;
use jiff::Timestamp;
use sdk_core::observe::{ExtraHeaders, ObservedAttempt};
use sdk_core::{App, Deprecation, Error, ErrorKind, Observer, Operation, RawCall, RawTarget};
use serde_json::Value;

use crate::report::Report;

/// No examination sends more requests, token exchanges included.
pub(crate) const MOST: usize = 90;

/// What a reply was, whether the SDK took it for a success or not.
pub(crate) struct Seen {
    pub(crate) status: u16,
    pub(crate) body: Bytes,
}

impl Seen {
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    pub(crate) fn json(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok()
    }
}

/// Counts what is sent.
#[derive(Clone, Default)]
pub(crate) struct Meter {
    sent: Arc<AtomicUsize>,
    deprecated: Arc<Mutex<Vec<String>>>,
}

impl Meter {
    pub(crate) fn sent(&self) -> usize {
        self.sent.load(Ordering::Relaxed)
    }

    pub(crate) fn count(&self) {
        self.sent.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether another call is within what was announced: it may need an exchange, and after a 401 both again.
    pub(crate) fn may_send(&self) -> bool {
        self.sent() + 4 <= MOST
    }
}

impl Observer for Meter {
    fn attempt_started(&self, _: &ObservedAttempt<'_>, _: &mut ExtraHeaders<'_>) {
        self.count();
    }

    fn deprecated(&self, deprecation: &Deprecation) {
        let mut deprecated = self.deprecated.lock().unwrap();
        deprecated.push(deprecation.to_string());
    }
}

pub(crate) struct Contact {
    pub(crate) report: Report,
    pub(crate) meter: Meter,
    pub(crate) clients: Clients,
    /// The applications whose audience is their origin, as assumed.
    pub(crate) by_origin: BTreeSet<App>,
    /// Whether the Platform is asked for all tokens, as assumed.
    pub(crate) by_platform: bool,
    /// Replies of protected operations with a request id, and operations whose replies have none.
    named: usize,
    nameless: BTreeSet<String>,
    /// The largest distance between the server's clock and ours, in seconds.
    skew: Option<i64>,
    /// Names of headers that tell something, with the number of replies.
    telling: BTreeMap<String, usize>,
}

/// The clients whose settings are sound.
#[derive(Default)]
pub(crate) struct Clients {
    pub(crate) platform: Option<sdk_platform::Client>,
    pub(crate) crm: Option<sdk_crm::Client>,
    pub(crate) calendar: Option<sdk_calendar::Client>,
    pub(crate) accounting: Option<sdk_accounting::Client>,
}

impl Clients {
    fn call(&self, app: App, target: impl Into<RawTarget>) -> Option<RawCall> {
        Some(match app {
            App::Platform => self.platform.as_ref()?.raw_call(target),
            App::Crm => self.crm.as_ref()?.raw_call(target),
            App::Calendar => self.calendar.as_ref()?.raw_call(target),
            _ => self.accounting.as_ref()?.raw_call(target),
        })
    }
}

/// What the SDK knows of an application.
pub(crate) fn operations(app: App) -> &'static [&'static Operation] {
    match app {
        App::Platform => sdk_platform::Client::operations(),
        App::Crm => sdk_crm::Client::operations(),
        App::Calendar => sdk_calendar::Client::operations(),
        _ => sdk_accounting::Client::operations(),
    }
}

pub(crate) fn operation(id: &str) -> Option<&'static Operation> {
    let mut all = App::all().flat_map(operations).copied();
    all.find(|operation| operation.id == id)
}

impl Contact {
    pub(crate) fn new(report: Report, meter: Meter) -> Self {
        Self {
            report,
            meter,
            clients: Clients::default(),
            by_origin: BTreeSet::new(),
            by_platform: false,
            named: 0,
            nameless: BTreeSet::new(),
            skew: None,
            telling: BTreeMap::new(),
        }
    }

    /// A read of a known operation, with parameters of its path and its query.
    pub(crate) async fn get(
        &mut self,
        operation: &'static Operation,
        with_token: bool,
        parameters: &[(&str, &str)],
    ) -> Option<Seen> {
        let mut call = self.clients.call(operation.application, operation)?;
        for (name, value) in parameters {
            let in_path = operation.route.contains(&format!("{{{name}}}"));
            call = if in_path {
                call.path(*name, *value)
            } else {
                call.query(*name, *value)
            };
        }
        let call = if with_token {
            call
        } else {
            call.without_token()
        };
        let seen = self.send(operation.application, operation.id, call).await?;
        if seen.is_success() && with_token && operation.authenticated {
            self.accepted(operation.application);
        }
        Some(seen)
    }

    /// A read of a path that no operation has.
    pub(crate) async fn path(&mut self, app: App, path: &str, with_token: bool) -> Option<Seen> {
        let call = self.clients.call(app, (sdk_core::Method::Get, path))?;
        let call = if with_token {
            call
        } else {
            call.without_token()
        };
        self.send(app, path, call).await
    }

    async fn send(&mut self, app: App, what: &str, call: RawCall) -> Option<Seen> {
        if !self.meter.may_send() {
            let cure = "cure what is above first, and run the doctor again";
            self.report
                .problem_once(format!("the announced {MOST} requests are used up"), cure);
            return None;
        }
        let protected = operation(what).is_some_and(|it| it.authenticated);
        match call.send().await {
            Ok(reply) => {
                self.note(what, protected, reply.headers());
                let (status, body) = (reply.http_status(), reply.bytes().clone());
                Some(Seen { status, body })
            }
            Err(error) => {
                let Some((status, headers)) = error.status().zip(error.headers()) else {
                    let (found, cure) = silence(app, &error);
                    self.report.failure(format!("{what}: {found}"), cure);
                    return None;
                };
                self.note(what, protected, headers);
                let body = Bytes::copy_from_slice(error.body().unwrap_or_default());
                Some(Seen { status, body })
            }
        }
    }

    /// Notes that an application accepted its token.
    fn accepted(&mut self, app: App) {
        if self.by_origin.contains(&app) {
            self.report
                .confirm("A43", format!("{app} accepts a token for its origin"));
        }
        if self.by_platform && app != App::Platform {
            let evidence = format!("{app} accepts a token of the Platform's /oauth/token");
            self.report.confirm("A02", evidence);
        }
    }

    /// The JSON of a success; otherwise what is wrong, with what cures it.
    pub(crate) fn json(&mut self, app: App, what: &str, seen: Option<Seen>) -> Option<Value> {
        let seen = seen?;
        let json = seen.json();
        if seen.is_success() && json.is_some() {
            return json;
        }
        let (url, audience) = (app.url_variable(), app.audience_variable());
        let (found, cure) = match seen.status {
            200..=299 if seen.body.trim_ascii_start().starts_with(b"<") => (
                "a web page instead of JSON",
                format!("set {url} to the application, and not to a portal"),
            ),
            200..=299 => (
                "a reply without JSON",
                format!("check {url}; `raw_call` takes it as it is"),
            ),
            300..=399 => (
                "a redirect, which is not followed",
                format!("set {url} to where it leads"),
            ),
            401 => (
                "the token is not accepted",
                format!("set {audience} to the exact audience, and check {url}, SUITE_TOKEN_URL"),
            ),
            403 => (
                "forbidden",
                format!(
                    "have the client granted the scopes above, the entitlement `{app}` and a workspace"
                ),
            ),
            404 | 405 => (
                "not there",
                format!("set {url} to the application's routed origin"),
            ),
            429 => (
                "a rate limit",
                "`max_in_flight`, `retry` of the builder; run it later".to_owned(),
            ),
            500.. => (
                "down, or not configured",
                "ask the operator, and run it again".to_owned(),
            ),
            _ => ("refused", "read the body with `raw_call`".to_owned()),
        };
        self.report
            .failure(format!("{what}: {found} ({})", seen.status), cure);
        None
    }

    fn note(&mut self, what: &str, protected: bool, headers: &HeaderMap) {
        let id = "x-request-id";
        if protected && headers.contains_key(id) {
            self.named += 1;
        } else if protected {
            self.nameless.insert(what.to_owned());
        }
        let caching = [
            "cache-control",
            "etag",
            "age",
            "expires",
            "vary",
            "last-modified",
        ];
        for name in headers.keys().map(http::HeaderName::as_str) {
            let other_id = ["request-id", "correlation-id", "trace-id"]
                .iter()
                .any(|it| name.ends_with(it));
            let about = match name {
                _ if name.contains("ratelimit") || name == "retry-after" => "a rate limit",
                _ if caching.contains(&name) => "caching",
                _ if other_id && name != id => "a request id",
                _ => continue,
            };
            *self.telling.entry(format!("{about}: {name}")).or_default() += 1;
        }
        let date = headers
            .get(http::header::DATE)
            .and_then(|date| date.to_str().ok());
        let date = date.and_then(|date| jiff::fmt::rfc2822::parse(date).ok());
        let skew = date.map(|date| Timestamp::now().as_second() - date.timestamp().as_second());
        self.skew = self
            .skew
            .into_iter()
            .chain(skew)
            .max_by_key(|skew| skew.abs());
    }

    /// What was learnt from the headers of all replies.
    pub(crate) fn tell_headers(&mut self) {
        let report = &mut self.report;
        report.step("headers");
        if let Some(first) = self.nameless.first() {
            let other = self
                .telling
                .keys()
                .find_map(|it| it.strip_prefix("a request id: "));
            let cure = other.map(|it| format!("`headers().get(\"{it}\")` of responses and errors"));
            let evidence = format!("{first} has no x-request-id; {} replies have", self.named);
            report.contradict("A44", evidence, cure.as_deref());
        } else if self.named > 0 {
            report.confirm(
                "A44",
                format!("all {} replies of protected operations have it", self.named),
            );
        }
        match self.skew {
            None => report.note("no reply has a Date: the clocks cannot be compared"),
            Some(skew) if skew.abs() <= 30 => report.ok(format!("the clocks differ by {skew} s")),
            Some(skew) => {
                let cure = "set this machine's clock (NTP); the ages of stored commands go by it";
                report.problem(format!("the clocks differ by {skew} s"), cure);
            }
        }
        for (telling, count) in &self.telling {
            report.note(format!("{telling} on {count} replies"));
        }
        for about in ["a rate limit", "caching"] {
            if !self.telling.keys().any(|it| it.starts_with(about)) {
                report.ok(format!("no reply says anything about {about}"));
            }
        }
        let deprecated = self.meter.deprecated.lock().unwrap();
        for deprecated in deprecated.iter() {
            report.problem(
                deprecated.as_str(),
                "plan the change; `Observer::deprecated` tells a service",
            );
        }
        if deprecated.is_empty() {
            report.ok("no reply announces a deprecation or a sunset");
        }
    }
}

/// Why no reply came, and what to do.
fn silence(app: App, error: &Error) -> (String, String) {
    let (url, found) = (app.url_variable(), error.to_string());
    let cure = match error.kind() {
        ErrorKind::Connect if found.contains("ertificate") => format!(
            "if its root is your own, add that to the system's (or SSL_CERT_FILE), or pass a client with `http_client`; \
             otherwise {url} leads to somebody else"
        ),
        ErrorKind::Connect => format!(
            "check scheme, host and port in {url}, that it listens there, and HTTPS_PROXY, HTTP_PROXY and NO_PROXY"
        ),
        ErrorKind::TokenUnavailable => "see what is said under \"token\"".to_owned(),
        _ => format!("check {url} and the way there (firewall, proxy)"),
    };
    (found, cure)
}
