//! An installation: a reference server in memory with its own addresses and credential, and the content of its lists.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use fastrand::Rng;
use http::request::Builder;
use http::{Request, Uri, header};
use http_body_util::{BodyExt as _, Full};
use sdk_core::{App, ClientCredentials, CredentialSource, CredentialsFuture, SuiteBuilder};
use sdk_reference_server::{self as server, ClientSpec, Fault, InMemoryService, ReferenceServer};
use serde_json::Value;
use suite_checker::Event;
use tower_service::Service as _;

use super::answer::{Answer, json};
use super::stage::{Stage, locked};

/// The applications and their host names.
pub(super) const APPS: [(App, server::App, &str); 4] = [
    (App::Crm, server::App::Crm, "crm"),
    (App::Calendar, server::App::Calendar, "calendar"),
    (App::Accounting, server::App::Accounting, "accounting"),
    (App::Platform, server::App::Platform, "core"),
];

/// The names of installations, which are part of their host names.
pub(super) const NAMES: [&str; 3] = ["one", "two", "three"];

/// The lists that consumers read, which are also their paths.
pub(super) const LISTS: [&str; 4] = ["people", "organizations", "opportunities", "tasks"];

/// The suffix of a schema version that the SDK does not know.
pub(super) const LATER: &str = ".v9";

/// The client ID, which is the same in every installation, so that a cache that mixes up installations is detected.
const CLIENT: &str = "service";

pub(super) struct Installation {
    pub(super) number: u32,
    pub(super) server: ReferenceServer,
    service: InMemoryService,
    /// The audiences of the applications, in the order of [`APPS`].
    pub(super) audiences: [String; 4],
    /// The secret that the clients of the installation use.
    known: Arc<Mutex<String>>,
    /// Serializes token exchanges, because each has its own terms.
    pub(super) turn: tokio::sync::Mutex<()>,
    lifetimes: [u64; 2],
    lies: u8,
    /// The fault that misstates the lifetime of the latest token, if there is one.
    lie: Mutex<Option<Fault>>,
    pub(super) people: Vec<String>,
    pub(super) counterparty: String,
}

impl Installation {
    pub(super) async fn new(stage: &Stage, number: u32, rng: &mut Rng, shared: bool) -> Self {
        let name = NAMES[number as usize];
        let audience = |app: &str| {
            let place = if shared { "any" } else { name };
            format!("https://{app}.{place}.suite.test")
        };
        let secret = format!("secret-{name}-{:016x}", rng.u64(..));
        stage.confide(&secret);
        let mut builder = ReferenceServer::builder()
            .seed(rng.u64(..))
            .seeded_tokens()
            .recorded_requests(0)
            .people(rng.u64(60..140))
            .organizations(30)
            .opportunities(45)
            .tasks(55)
            .intake_submissions(5)
            .client(ClientSpec::new(CLIENT, &*secret));
        for (_, app, host) in APPS {
            builder = builder.audience(app, audience(host));
        }
        let server = builder.in_memory();
        let mut it = Self {
            number,
            service: server.service(),
            audiences: APPS.map(|(_, _, host)| audience(host)),
            known: Arc::new(Mutex::new(secret)),
            turn: tokio::sync::Mutex::default(),
            lifetimes: [(2, 10), (5, 60), (60, 300), (300, 300)][rng.usize(..4)].into(),
            lies: [0, 0, 20, 60][rng.usize(..4)] * u8::from(!stage.simulation.faultless),
            lie: Mutex::default(),
            people: Vec::new(),
            counterparty: server.sample_counterparty(),
            server,
        };
        it.list(stage).await;
        it.upgrade(stage, rng);
        it
    }

    pub(super) fn addressed(&self, mut builder: SuiteBuilder) -> SuiteBuilder {
        let name = NAMES[self.number as usize];
        for ((app, _, host), audience) in APPS.into_iter().zip(&self.audiences) {
            builder = builder.application_url(app, format!("https://{host}.{name}.suite.test"));
            builder = builder.audience(app, audience);
        }
        let core = format!("https://core.{name}.suite.test");
        let held = Held(Arc::clone(&self.known));
        builder.core_url(core).credential_source(held).label(name)
    }

    /// Sends a request directly to the server.
    pub(super) async fn serve(&self, request: Request<Full<Bytes>>) -> Answer {
        let reply = self.service.clone().call(request).await;
        let (head, body) = reply.expect("no fault applies here").into_parts();
        let body = body.collect().await.expect("no fault applies here");
        Answer {
            status: head.status,
            headers: head.headers,
            body: body.to_bytes(),
        }
    }

    /// Sets and returns the lifetime of the next token, which the server states unless the installation misstates it.
    pub(super) fn set_terms(&self, stage: &Stage, rng: &mut Rng) -> Duration {
        let [least, most] = self.lifetimes;
        let lies = rng.u8(..100) < self.lies && !stage.is_calm();
        // Tokens state their lifetime in whole seconds.
        let mut lasts = Duration::from_secs(rng.u64(least..=most));
        if stage.is_calm() {
            lasts = Duration::from_secs(300);
        }
        let mut lie = locked(&self.lie);
        if let Some(lie) = lie.take() {
            lie.remove();
        }
        if lies {
            stage.count("fault: lifetime misstated");
            let fault = || self.server.fault(server::Operation::ExchangeToken);
            *lie = match rng.u8(..6) {
                0 => Some(fault().token_expires_in(3_600)),
                1 => Some(fault().token_expires_in(1)),
                2 => Some(fault().token_expires_in(0)),
                3 => Some(fault().token_expires_in("soon")),
                4 => {
                    lasts = Duration::from_millis(rng.u64(1..500));
                    None
                }
                _ => Some(fault().omit_expires_in()),
            };
        }
        drop(lie);
        self.server.set_token_lifetime(lasts);
        lasts
    }

    /// Rotates the secret at the server. Calling the result gives the new secret to the clients.
    pub(super) fn rotate(&self, stage: &Stage, rng: &mut Rng) -> impl FnOnce() + Send + use<> {
        let secret = format!("secret-{:016x}-{:016x}", rng.u64(..), rng.u64(..));
        stage.confide(&secret);
        self.server.rotate_secret(CLIENT, &*secret);
        let known = Arc::clone(&self.known);
        move || *locked(&known) = secret
    }

    /// Records the content of the lists without using the SDK.
    async fn list(&mut self, stage: &Stage) {
        let form = format!(
            "grant_type=client_credentials&client_id={CLIENT}&client_secret={}&audience={}",
            locked(&self.known),
            self.audiences[0]
        );
        let request = Request::post(uri("core", "/oauth/token"))
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        let reply = self.ask(request, form).await;
        let token = reply["access_token"].as_str();
        let token = token.expect("the server issues tokens");
        let bearer = format!("Bearer {token}");
        for list in LISTS {
            let mut cursor = String::new();
            loop {
                let path = format!("/api/crm/v1/{list}?limit=50{cursor}");
                let request = Request::get(uri("crm", &path));
                let request = request.header(header::AUTHORIZATION, &bearer);
                let page = self.ask(request, String::new()).await;
                for item in page["items"].as_array().expect("a page has items") {
                    let record = item["publicReference"].as_str().unwrap_or_default();
                    stage.record(Event::Exists {
                        installation: self.number,
                        list: list.to_owned(),
                        record: record.to_owned(),
                    });
                    if list == "people" {
                        self.people.push(record.to_owned());
                    }
                }
                match page["nextCursor"].as_str() {
                    Some(next) => cursor = format!("&cursor={next}"),
                    None => break,
                }
            }
        }
    }

    async fn ask(&self, request: Builder, body: String) -> Value {
        let request = request.body(body.into()).expect("it is valid");
        json(&self.serve(request).await.body)
    }

    /// Makes some installations behave like a later version.
    fn upgrade(&self, stage: &Stage, rng: &mut Rng) {
        let often = |rng: &mut Rng| 0.3 * rng.f64();
        let (one, other) = (often(rng), often(rng));
        let kind = rng.u8(..12) + 12 * u8::from(stage.simulation.faultless);
        if kind > 4 {
            return;
        }
        stage.count("fault: installation with a later version");
        let fault = |often: f64, seed| self.server.fault_everywhere().probability(often, seed);
        if kind < 4 {
            let _fault = fault(one, rng.u64(..)).unknown_member();
        }
        if kind == 3 {
            let _fault = fault(other, rng.u64(..)).unknown_enum();
        }
        if kind == 4 {
            let later = LATER.trim_start_matches('.');
            let _fault = fault(other / 3.0, rng.u64(..)).schema_suffix(later);
        }
    }

    /// Returns the installation to the version that the SDK was built for.
    pub(super) fn end_upgrade(&self) {
        self.server.clear_faults();
    }
}

struct Held(Arc<Mutex<String>>);

impl CredentialSource for Held {
    fn credentials(&self) -> CredentialsFuture<'_> {
        let secret = locked(&self.0).clone();
        Box::pin(async { Ok(ClientCredentials::new(CLIENT, secret)) })
    }
}

/// Returns an address of the server itself.
pub(super) fn uri(host: &str, path: &str) -> Uri {
    let uri = format!("https://{host}.suite.test{path}");
    uri.parse().expect("a sent path is valid")
}
