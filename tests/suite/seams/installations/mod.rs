//! Many installations in one process share only their connections. A dropped installation leaves nothing behind.

mod settings;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{Request, Response};
use opentelemetry_sdk::metrics::SdkMeterProvider;
use prometheus::{Registry, TextEncoder};
use sdk_core::transport::{RequestBody, ResponseBody, Transport, TransportFuture};
use sdk_core::{App, ClientCredentials, Suite, SuiteBuilder};
use sdk_opentelemetry::Metrics;
use tokio::task::JoinSet;

use crate::fixtures::{get_person, person};
use crate::peer::{Peer, always};
use crate::samples::promotion;
use crate::support::{Clients, builder_at};

/// A transport that serves every installation. Installation 17 is at `crm-17.suite.test` and `core-17.suite.test`,
/// which issues tokens only for its own credential. A call with data of another installation fails.
#[derive(Clone, Default)]
struct Installations {
    calls: Arc<AtomicUsize>,
    exchanges: Arc<AtomicUsize>,
}

impl Transport for Installations {
    fn send(&self, request: Request<RequestBody>) -> TransportFuture {
        let body = self.answer(request);
        Box::pin(async {
            // This keeps all calls in flight concurrently.
            for _ in 0..3 {
                tokio::task::yield_now().await;
            }
            Ok(Response::new(ResponseBody::from(body)))
        })
    }
}

impl Installations {
    /// Returns installation 0, whose transport other installations share.
    fn first(&self) -> Suite {
        let builder = of(Suite::builder(), 0).transport(self.clone());
        builder.build().unwrap()
    }

    fn answer(&self, request: Request<RequestBody>) -> String {
        let (head, body) = request.into_parts();
        let host = head.uri.host().unwrap().trim_end_matches(".suite.test");
        let (app, number) = host.split_once('-').unwrap();
        let authorization = head.headers["authorization"].to_str().unwrap();
        if app == "core" {
            self.exchanges.fetch_add(1, Ordering::Relaxed);
            let own = STANDARD.encode(format!("client-{number}:secret-{number}"));
            assert_eq!(authorization, format!("Basic {own}"));
            let form = String::from_utf8(body.into_bytes().unwrap().to_vec()).unwrap();
            assert!(form.contains(&format!("crm-{number}.suite.test")), "{form}");
            return format!(r#"{{"access_token":"token-{number}","token_type":"Bearer"}}"#);
        }
        self.calls.fetch_add(1, Ordering::Relaxed);
        assert_eq!(authorization, format!("Bearer token-{number}"));
        let (path, reference) = (head.uri.path(), reference(number));
        let body = String::from_utf8(body.into_bytes().unwrap().to_vec()).unwrap();
        assert!(format!("{path} {body}").contains(&reference), "{path}");
        format!(r#"{{"outcome":"succeeded","publicReference":"{reference}"}}"#)
    }
}

/// Sets the addresses and the credential of an installation.
fn of(builder: SuiteBuilder, number: usize) -> SuiteBuilder {
    let (id, secret) = (format!("client-{number}"), format!("secret-{number}"));
    builder
        .label(format!("installation {number}"))
        .core_url(format!("https://core-{number}.suite.test"))
        .application_url(App::Crm, format!("https://crm-{number}.suite.test"))
        .credentials(ClientCredentials::new(id, secret))
}

/// Returns an installation on the connections of `first`.
fn beside(first: &Suite, number: usize) -> Suite {
    let builder = of(Suite::builder(), number).transport_of(first);
    builder.build().unwrap()
}

/// Returns the ID of a person that only this installation has.
fn reference(number: &str) -> String {
    format!("PER-{number:0>12}")
}

async fn get(crm: &sdk_crm::Client, number: usize) {
    let reference = reference(&number.to_string());
    let person = crm.people().get(&reference).await.unwrap();
    let read: Option<String> = person.get("publicReference").unwrap();
    assert_eq!(read, Some(reference));
}

/// The transport checks each request, so a mixup fails in any order of calls. Nothing sleeps, so no limit expires on
/// the paused clock.
#[tokio::test(start_paused = true)]
async fn concurrent_calls_never_mix_installations() {
    const INSTALLATIONS: usize = 1_000;
    let transport = Installations::default();
    let first = transport.first();
    let others = (1..INSTALLATIONS).map(|number| beside(&first, number));
    let suites: Vec<_> = std::iter::once(first.clone()).chain(others).collect();

    let mut calls = JoinSet::new();
    for (number, suite) in suites.iter().enumerate() {
        let (read, write) = (suite.crm(), suite.crm());
        calls.spawn(async move {
            get(&read, number).await;
        });
        calls.spawn(async move {
            let command = promotion(&reference(&number.to_string()), "Clerk");
            write.commands().submit(command).await.unwrap();
        });
    }
    calls.join_all().await;

    assert_eq!(transport.calls.load(Ordering::Relaxed), 2 * INSTALLATIONS);
    assert_eq!(transport.exchanges.load(Ordering::Relaxed), INSTALLATIONS);
    for suite in &suites {
        let done = suite.stats();
        let done = (done.calls, done.attempts, done.token_exchanges);
        assert_eq!(done, (2, 2, 1), "{:?}", suite.label());
    }
}

#[tokio::test]
async fn installations_behind_one_origin_share_connections_but_no_token() {
    let peer = Peer::start(always(person()));
    let first = builder_at(&peer.url()).build().unwrap();
    get_person(&first.crm()).await.unwrap();
    for _ in 0..20 {
        let other = builder_at(&peer.url()).transport_of(&first).suite();
        get_person(&other.crm()).await.unwrap();
    }

    assert_eq!((peer.requests().len(), peer.exchanges().len()), (21, 21));
    assert_eq!(peer.connections(), 1);
}

#[tokio::test]
async fn a_dropped_installation_leaves_nothing_behind() {
    let transport = Installations::default();
    let first = transport.first();
    let before = Arc::strong_count(&transport.calls);
    for number in 1..100 {
        let suite = beside(&first, number);
        let crm = suite.crm();
        get(&crm, number).await;
        drop(suite);
        // A client works without its suite.
        get(&crm, number).await;
    }
    // The cache entry, its token and its renewal task hold the source, which holds the transport.
    assert_eq!(Arc::strong_count(&transport.calls), before);
    drop(first);
    assert_eq!(Arc::strong_count(&transport.calls), 1);
}

/// Returns the number of lines that Prometheus scrapes after a call of each installation.
async fn scraped(installations: usize, change: fn(Metrics) -> Metrics) -> usize {
    let registry = Registry::new();
    let exporter = opentelemetry_prometheus::exporter().with_registry(registry.clone());
    let exporter = exporter.build().unwrap();
    let provider = SdkMeterProvider::builder().with_reader(exporter).build();
    let metrics = change(Metrics::new(&provider));
    let first = Installations::default().first();
    for number in 1..=installations {
        let builder = of(Suite::builder(), number).observer(metrics.clone());
        get(&builder.transport_of(&first).crm(), number).await;
    }
    let text = TextEncoder::new().encode_to_string(&registry.gather());
    let text = text.unwrap();
    assert!(text.contains("http_client_request_duration_seconds_count"));
    text.lines().count()
}

#[tokio::test(start_paused = true)]
async fn fault_95_metrics_of_500_installations_have_as_many_lines_as_metrics_of_one() {
    let one = scraped(1, |metrics| metrics).await;
    assert_eq!(scraped(500, |metrics| metrics).await, one);
    for chosen in [Metrics::with_server_address, Metrics::with_installation] {
        assert!(scraped(3, chosen).await > scraped(1, chosen).await);
    }
}
