//! Requests: counted, never more than announced, and what each reply tells by its headers.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::HeaderMap;
use jiff::Timestamp;
use sdk_core::observe::{ExtraHeaders, ObservedAttempt};
use sdk_core::{App, Error, ErrorKind, Observer, Operation, RawCall, RawTarget, TokenError};
use serde_json::Value;

use super::report::Report;

/// Headers worth telling of. Only known names are shown: another may be anything.
const TELLING: [(&str, &str); 19] = [
    ("a rate limit", "ratelimit"),
    ("a rate limit", "ratelimit-policy"),
    ("a rate limit", "ratelimit-limit"),
    ("a rate limit", "ratelimit-remaining"),
    ("a rate limit", "x-ratelimit-limit"),
    ("a rate limit", "x-ratelimit-remaining"),
    ("a rate limit", "x-ratelimit-reset"),
    ("a rate limit", "retry-after"),
    ("a request id", "x-correlation-id"),
    ("a request id", "correlation-id"),
    ("a request id", "request-id"),
    ("a request id", "x-trace-id"),
    ("a request id", "traceparent"),
    ("caching", "cache-control"),
    ("caching", "etag"),
    ("caching", "age"),
    ("caching", "expires"),
    ("caching", "vary"),
    ("caching", "last-modified"),
];

/// No examination sends more requests, token exchanges included.
pub(crate) const MOST: usize = 90;

/// What a reply was, whether the SDK took it for a success or not.
#[derive(Clone)]
pub(crate) struct Seen {
    pub(crate) status: u16,
    pub(crate) body: Bytes,
}

impl Seen {
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Whether it says no for good: a gateway says other things, and for a while.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self.status, 400 | 401 | 403 | 404 | 405 | 409 | 422)
    }

    /// Whether it is an answer to what was asked, and not about the caller's rights.
    pub(crate) fn is_telling(&self) -> bool {
        self.is_success() || matches!(self.status, 400 | 404 | 405 | 422)
    }

    pub(crate) fn json(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok()
    }
}

/// Counts what is sent.
#[derive(Clone, Default)]
pub(crate) struct Meter {
    sent: Arc<AtomicUsize>,
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
}

pub(crate) struct Contact {
    report: Report,
    pub(crate) meter: Meter,
    pub(crate) clients: Clients,
    /// The applications whose audience is their origin, as assumed, and for which it was seen to matter.
    pub(crate) by_origin: BTreeSet<App>,
    /// Whether the Platform is asked for all tokens, as assumed.
    pub(crate) by_platform: bool,
    /// The applications that refuse calls without a token, that accepted theirs, that refused it, and that do not answer.
    pub(crate) demanding: BTreeSet<App>,
    accepting: BTreeSet<App>,
    refusing: BTreeSet<App>,
    silent: BTreeSet<App>,
    /// Replies of protected operations with a request id, and operations whose replies have none.
    named: BTreeSet<Vec<u8>>,
    nameless: BTreeSet<String>,
    /// The largest distance between the server's clock and ours, in seconds.
    skew: Option<i64>,
    /// Names of headers that tell something, with the number of replies.
    telling: BTreeMap<String, usize>,
    /// Whether a response announced the end of its operation.
    is_ending: bool,
}

impl Deref for Contact {
    type Target = Report;

    fn deref(&self) -> &Report {
        &self.report
    }
}

impl DerefMut for Contact {
    fn deref_mut(&mut self) -> &mut Report {
        &mut self.report
    }
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

fn find(id: &str) -> Option<&'static Operation> {
    let mut all = App::all().flat_map(operations).copied();
    all.find(|operation| operation.id == id)
}

/// An operation of the contract.
pub(crate) fn operation(id: &str) -> &'static Operation {
    find(id).expect("the contract has it")
}

/// What is known of an error without a reply. What a token endpoint wrote is left out: it may be anything.
pub(crate) fn without_a_reply(error: &Error) -> String {
    let cause = std::error::Error::source(error);
    match cause.and_then(|cause| cause.downcast_ref::<TokenError>()) {
        None if error.kind() == ErrorKind::TokenUnavailable => "no token".to_owned(),
        None => error.to_string(),
        Some(token) => {
            let status = token
                .status()
                .map_or(String::new(), |status| format!(" ({status})"));
            format!("no token: {}{status}", token.kind().as_str())
        }
    }
}

impl Contact {
    pub(crate) fn new(report: Report, meter: Meter) -> Self {
        Self {
            report,
            meter,
            clients: Clients::default(),
            by_origin: BTreeSet::new(),
            by_platform: false,
            demanding: BTreeSet::new(),
            accepting: BTreeSet::new(),
            refusing: BTreeSet::new(),
            silent: BTreeSet::new(),
            named: BTreeSet::new(),
            nameless: BTreeSet::new(),
            skew: None,
            telling: BTreeMap::new(),
            is_ending: false,
        }
    }

    /// A read of a known operation, with parameters of its path and its query.
    pub(crate) async fn get(
        &mut self,
        operation: &'static Operation,
        with_token: bool,
        parameters: &[(&str, &str)],
    ) -> Option<Seen> {
        let app = operation.application;
        let mut call = self.clients.call(app, operation)?;
        for (name, value) in parameters {
            let in_path = operation.route.contains(&format!("{{{name}}}"));
            call = if in_path {
                call.path(*name, *value)
            } else {
                call.query(*name, *value)
            };
        }
        let seen = self.send(app, operation.id, with_token, call).await?;
        let is_judged = with_token && operation.authenticated;
        if is_judged && seen.status == 401 {
            self.refusing.insert(app);
        } else if is_judged && seen.is_success() && seen.json().is_some() {
            self.accepting.insert(app);
        }
        Some(seen)
    }

    /// A read of a path that no operation has.
    pub(crate) async fn path(
        &mut self,
        (app, what, path): (App, &str, &str),
        with_token: bool,
    ) -> Option<Seen> {
        let call = self.clients.call(app, (sdk_core::Method::Get, path))?;
        self.send(app, what, with_token, call).await
    }

    /// Whether an application may be asked: one that did not answer once is not waited for again.
    pub(crate) fn is_alive(&mut self, app: App) -> bool {
        let may = self.meter.may_send();
        if !may {
            let cure = "cure what is above first, and run the doctor again";
            let found = format!("the announced {MOST} requests are used up");
            self.report.problem_once(found, cure);
        }
        may && !self.silent.contains(&app)
    }

    async fn send(
        &mut self,
        app: App,
        what: &str,
        with_token: bool,
        call: RawCall,
    ) -> Option<Seen> {
        if !self.is_alive(app) {
            return None;
        }
        let call = if with_token {
            call
        } else {
            call.without_token()
        };
        let protected = find(what).is_some_and(|it| it.authenticated);
        let (seen, headers) = match call.send().await {
            Ok(reply) => {
                let (status, body) = (reply.http_status(), reply.bytes().clone());
                (Seen { status, body }, reply.headers().clone())
            }
            Err(error) => {
                let Some((status, headers)) = error.status().zip(error.headers()) else {
                    self.silent(app, what, &error);
                    return None;
                };
                let body = Bytes::copy_from_slice(error.body().unwrap_or_default());
                (Seen { status, body }, headers.clone())
            }
        };
        // A gateway may answer in place of the application.
        let is_own = protected && (seen.is_success() || seen.is_refusal());
        self.headers(what, is_own, &headers);
        Some(seen)
    }

    /// The JSON of a success; otherwise what is wrong, with what cures it.
    pub(crate) fn success(&mut self, app: App, what: &str, seen: Option<Seen>) -> Option<Value> {
        let seen = seen?;
        let json = seen.json();
        if seen.is_success() && json.is_some() {
            return json;
        }
        let is_page = seen.body.trim_ascii_start().starts_with(b"<");
        let (found, cure) = match seen.status {
            200..=299 if is_page => ("a web page", "set $URL to the application, not to a portal"),
            200..=299 => ("no JSON", "check $URL; `raw_call` takes it as it is"),
            300..=399 => (
                "a redirect, which is not followed",
                "set $URL to where it leads",
            ),
            401 => (
                "the token is not accepted",
                "set $AUDIENCE exactly; check $URL, SUITE_TOKEN_URL",
            ),
            403 => (
                "forbidden",
                "have the client granted scopes, the entitlement `$APP`, a workspace",
            ),
            404 | 405 => ("not there", "set $URL to the application's routed origin"),
            429 => (
                "a rate limit",
                "run it later; `max_in_flight` keeps a service below it",
            ),
            500.. => (
                "down, or not configured",
                "ask the operator, and run it again",
            ),
            _ => ("refused", "read the body with `raw_call`"),
        };
        let cure = cure
            .replace("$URL", app.url_variable())
            .replace("$APP", app.name());
        let cure = cure.replace("$AUDIENCE", app.audience_variable());
        self.failure(format!("{what}: {found} ({})", seen.status), cure);
        None
    }

    /// Notes that an application did not answer, and what to do.
    pub(crate) fn silent(&mut self, app: App, what: &str, error: &Error) {
        let (url, found) = (app.url_variable(), without_a_reply(error));
        let cure = match error.kind() {
            ErrorKind::Connect if found.contains("not valid for name") => {
                "set $URL to a name that the certificate has; otherwise it is somebody else's"
            }
            ErrorKind::Connect if found.contains("ertificate") => {
                "if its root is your own, add that to the system's (or SSL_CERT_FILE), or pass a client with `http_client`; \
                 otherwise $URL leads to somebody else"
            }
            ErrorKind::Connect => {
                "check scheme, host and port in $URL, that it listens there, and HTTPS_PROXY, HTTP_PROXY and NO_PROXY"
            }
            ErrorKind::TokenUnavailable => "see what is said under \"token\"",
            _ => "check $URL and the way there (firewall, proxy)",
        };
        if matches!(
            error.kind(),
            ErrorKind::Connect | ErrorKind::Timeout | ErrorKind::TokenUnavailable
        ) {
            self.silent.insert(app);
        }
        self.failure(format!("{what}: {found}"), cure.replace("$URL", url));
    }

    pub(crate) fn headers(&mut self, what: &str, is_own: bool, headers: &HeaderMap) {
        let id = headers.get("x-request-id").filter(|id| !id.is_empty());
        match id {
            Some(id) if is_own => drop(self.named.insert(id.as_bytes().to_vec())),
            None if is_own => drop(self.nameless.insert(what.to_owned())),
            _ => {}
        }
        for (about, name) in TELLING
            .iter()
            .filter(|(_, name)| headers.contains_key(*name))
        {
            *self.telling.entry(format!("{about}: {name}")).or_default() += 1;
        }
        let ends = headers.contains_key("deprecation") || headers.contains_key("sunset");
        if ends {
            let cure = if what == "exchangeToken" {
                "ask the operator of the identity provider"
            } else {
                "plan the change; the event `suite.reply.deprecated` warns a service"
            };
            self.is_ending = true;
            self.report
                .problem_once(format!("{what} announces its end"), cure);
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

    /// What the tokens that were accepted show: nothing if another was refused, or of an application that takes calls without.
    pub(crate) fn tell_tokens(&mut self) {
        let demanding = self.accepting.intersection(&self.demanding);
        for app in demanding.filter(|_| self.refusing.is_empty()) {
            if self.by_origin.contains(app) {
                let evidence = format!("{app} demands a token, and takes one for its origin");
                self.report.confirm("A43", evidence);
            }
            if self.by_platform && *app != App::Platform {
                let evidence = format!("{app} demands a token, and takes the Platform's");
                self.report.confirm("A02", evidence);
            }
        }
    }

    pub(crate) fn into_report(self) -> Report {
        self.report
    }

    /// What was learnt from the headers of all replies.
    pub(crate) fn tell_headers(&mut self) {
        let report = &mut self.report;
        report.step("headers");
        let all = self.named.len();
        if let Some(first) = self.nameless.first() {
            let mut others = self.telling.keys();
            let other = others.find_map(|it| it.strip_prefix("a request id: "));
            let cure = other.map(|it| format!("`headers().get(\"{it}\")` of responses and errors"));
            let evidence = format!("{first} has no x-request-id; {all} replies have");
            report.contradict("A44", evidence, cure.as_deref());
        } else if all > 1 {
            let evidence = format!("{all} replies of protected operations have one each");
            report.confirm("A44", evidence);
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
        if !self.is_ending {
            report.ok("no reply announces a deprecation or a sunset");
        }
    }
}
