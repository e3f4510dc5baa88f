//! Pages that each port serves besides its operations: an HTML page at `/`, and the contract at `/openapi.yaml`.
//!
//! The HTML page shows addresses, operations with counts, the most recent requests and the faults. The page of the
//! control port shows all applications and has buttons.

use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderName, Method, header};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::app::App;
use crate::contradict::Assumption;
use crate::generated::contracts::contract;
use crate::message::{Reply, Request};
use crate::recorder::RecordedRequest;
use crate::routing;
use crate::suite::Suite;

pub(crate) const PATHS: [&str; 2] = ["/", "/openapi.yaml"];

pub(crate) fn answer(suite: &Suite, app: App, request: &Request) -> Option<Reply> {
    if request.method != Method::GET && request.method != Method::HEAD {
        return None;
    }
    match &*routing::plain(&request.path) {
        "/" => Some(page(suite, Some(app))),
        "/openapi.yaml" => Some(openapi(suite, app, request)),
        _ => None,
    }
}

/// The number of requests that the page shows.
const REQUESTS: usize = 20;

const SCRIPT: &str = include_str!("../templates/page.js");

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'s> {
    suite: &'s Suite,
    /// The application whose port serves the page; `None` for the control port.
    here: Option<App>,
    apps: Vec<App>,
    faults: Vec<Value>,
    requests: Vec<RecordedRequest>,
}

impl<'s> Page<'s> {
    /// Returns the title and the version of a contract.
    fn contract(&self, app: App) -> (&'s str, &'s str) {
        let known = contract(app);
        let brought = self.suite.brought(app);
        brought.map_or((known.title, known.version), |brought| {
            (&brought.title, &brought.version)
        })
    }
}

pub(crate) fn page(suite: &Suite, here: Option<App>) -> Reply {
    let shows = |app: App| here.is_none_or(|here| here == app);
    let requests = suite.recorder.requests().into_iter().rev();
    let requests = requests.filter(|request| shows(request.app));
    let page = Page {
        suite,
        here,
        apps: App::all().filter(|app| shows(*app)).collect(),
        faults: suite.faults.views(),
        requests: requests.take(REQUESTS).collect(),
    };
    let html = page.render().expect("writing to a string can't fail");
    // Only this server's own script may run, and only on the port that accepts commands.
    let script = STANDARD.encode(Sha256::digest(SCRIPT));
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{script}'; connect-src 'self'; style-src 'unsafe-inline'; \
         img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    Reply::text(200, "text/html; charset=utf-8", html)
        .with(header::CONTENT_SECURITY_POLICY, &policy)
        .with(HeaderName::from_static("x-content-type-options"), "nosniff")
        .with(header::CACHE_CONTROL, "no-store")
}

/// Returns the published contract, without the line that names its source, and with this server's addresses.
fn openapi(suite: &Suite, app: App, request: &Request) -> Reply {
    let copy = contract(app).spec;
    let published = copy.split_once('\n').map_or(copy, |(_, spec)| spec);
    // Replace the addresses of all applications, because the token endpoint is at the Platform.
    let published = App::all().fold(published.to_owned(), |published, other| {
        let nowhere = format!("https://{}.invalid", other.short());
        published.replace(&nowhere, suite.url(other))
    });
    let brought = suite.brought(app);
    let spec = match brought {
        Some(contract) => contract.text.to_string(),
        None if suite.contradicts(Assumption::A01) => {
            published.replace("operationId: ", "operationId: other_")
        }
        None => published,
    };
    // A browser would download YAML, but it displays plain text.
    let by_a_person = request
        .header(header::ACCEPT.as_str())
        .is_some_and(|accept| accept.contains("text/html"));
    let media_type = if by_a_person {
        "text/plain; charset=utf-8"
    } else {
        "application/yaml"
    };
    Reply::text(200, media_type, spec)
}
