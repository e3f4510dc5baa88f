//! Spans and events, as an exporter of traces gets them.

use std::sync::{Arc, Mutex};

use opentelemetry::trace::{Status, TracerProvider as _};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use sdk_core::SchemaPolicy;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Context, SubscriberExt as _};

use super::Panics;
use super::told::Adds;
use crate::fixtures::{add_person, created, get_person, person};
use crate::peer::{Peer, reply, script, stall, token};
use crate::samples::kick_off;
use crate::support::{Clients, builder_at, drop_when};

/// The names of events, each once, with their levels.
#[derive(Clone, Default)]
struct Names(Arc<Mutex<Vec<String>>>);

impl<S: Subscriber> Layer<S> for Names {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let name = format!("{} {}", event.metadata().level(), event.metadata().name());
        let mut names = self.0.lock().unwrap();
        if !names.contains(&name) {
            names.push(name);
        }
    }
}

/// Collects spans of the SDK on this thread, until the guard is dropped.
fn collect() -> (
    InMemorySpanExporter,
    Names,
    tracing::subscriber::DefaultGuard,
) {
    // Without a second subscriber the first thread that meets an event decides for all whether it is wanted.
    let _ = crate::support::Events::here();
    let (exporter, names) = (InMemorySpanExporter::default(), Names::default());
    let provider = SdkTracerProvider::builder()
        .with_simple_exporter(exporter.clone())
        .build();
    let layer = tracing_opentelemetry::layer()
        .with_tracer(provider.tracer("test"))
        .with_location(false)
        .with_threads(false)
        .with_target(false)
        .with_tracked_inactivity(false);
    let only = || Targets::new().with_target("sdk_core", Level::DEBUG);
    let registry = tracing_subscriber::registry()
        .with(layer.with_filter(only()))
        .with(names.clone().with_filter(only()));
    (exporter, names, tracing::subscriber::set_default(registry))
}

/// The attributes of a span, in the order of their names.
fn told(span: &SpanData) -> Vec<String> {
    let attributes = span.attributes.iter();
    let mut told: Vec<_> = attributes
        .map(|it| format!("{}={}", it.key, it.value))
        .collect();
    told.sort();
    told
}

#[tokio::test]
async fn spans_have_the_attributes_of_the_conventions_and_a_renewal_its_cause() {
    let (exporter, _names, _guard) = collect();
    let peer = Peer::start(script([reply(503), person(), stall()]));
    let crm = builder_at(&peer.url()).crm();

    get_person(&crm).query("q", "of-the-query").await.unwrap();
    drop_when(peer.saw(3), add_person(&crm).send()).await;

    let spans = exporter.get_finished_spans().unwrap();
    let named = |name: &str| -> Vec<&SpanData> {
        let mut spans: Vec<_> = spans.iter().filter(|span| span.name == name).collect();
        spans.sort_by_key(|span| span.start_time);
        spans
    };
    let origin = peer.url();
    let port = origin.rsplit(':').next().unwrap();
    let path = "/api/crm/v1/people/PER-0123456789AB";
    let failed = [
        "error.type=503",
        "http.request.method=GET",
        "http.response.status_code=503",
        "network.protocol.version=1.1",
        "server.address=127.0.0.1",
        &format!("server.port={port}"),
        "suite.outcome=error",
        &format!("url.full={origin}{path}"),
        "url.template=/api/crm/v1/people/{reference}",
    ];
    let attempts = named("GET /api/crm/v1/people/{reference}");
    assert_eq!(told(attempts[0]), failed);
    assert!(matches!(attempts[0].status, Status::Error { .. }));
    assert!(told(attempts[1]).contains(&"http.request.resend_count=1".to_owned()));
    assert!(!format!("{spans:?}").contains("of-the-query"));

    let call = named("getPerson")[0];
    let parents: Vec<_> = attempts.iter().map(|it| it.parent_span_id).collect();
    assert_eq!(parents, [call.span_context.span_id(); 2]);
    let renewal = named("token renewal")[0];
    assert_eq!(renewal.parent_span_id, opentelemetry::SpanId::INVALID);
    let links = renewal.links.iter().map(|it| it.span_context.span_id());
    assert_eq!(links.collect::<Vec<_>>(), [call.span_context.span_id()]);
    let exchange = named("POST /oauth/token")[0];
    assert_eq!(exchange.parent_span_id, renewal.span_context.span_id());

    let cancelled = [
        "suite.application=crm",
        "suite.attempts=1",
        "suite.effect=unknown",
        "suite.operation=submitCommand",
        "suite.outcome=cancelled",
    ];
    let dropped = named("submitCommand")[0];
    assert_eq!(told(dropped), cancelled);
    assert_eq!(dropped.status, Status::Unset);
}

#[tokio::test]
async fn each_event_has_its_documented_name_and_level() {
    let (_exporter, names, _guard) = collect();
    // Another version, and a member that its field cannot hold; another constant.
    let odd = concat!(
        r#"{"schemaVersion":"suite-crm-today.v9","generatedAt":"2026-01-15T09:00:00Z","workspace":"w","counts":{},"#,
        r#""attention":[{"title":"a","recordVersion":18446744073709551616}],"recentChanges":[]}"#,
    );
    let text = String::from_utf8(created().text().to_vec()).unwrap();
    let failed = text.replace("succeeded", "failed");
    assert_ne!(failed, text);
    let refused = [503; 6].map(reply);
    let odd = reply(200).header("sunset", "").body(odd);
    let odd = [odd, created().body(failed)];
    let tokens = [reply(503), token("t-1"), token("t-2")];
    let script = script(odd.into_iter().chain(refused)).tokens(tokens);
    let peer = Peer::start(script.tokens_always(reply(400)));
    let builder = builder_at(&peer.url())
        .schema_policy(SchemaPolicy::Warn)
        .max_in_flight(1);
    let suite = builder
        .observer(Panics)
        .observer(Adds(&[("cookie", "a")]))
        .suite();
    let crm = suite.crm();

    crm.today().get().await.unwrap();
    kick_off(&suite.calendar()).await.unwrap();
    // One of them waits for its turn.
    let both = tokio::join!(get_person(&crm).send(), get_person(&crm).send());
    assert!(both.0.is_err() && both.1.is_err());
    suite.platform().prewarm().await.unwrap_err();

    let mut seen = names.0.lock().unwrap().clone();
    seen.sort();
    let page = include_str!("../../../../sdk-core/src/observe/mod.rs");
    let rows = page
        .lines()
        .filter_map(|line| line.strip_prefix("//! | `suite."));
    let mut documented: Vec<_> = rows
        .map(|row| {
            let mut cells = row.split('|').map(str::trim);
            let name = cells.next().unwrap().trim_end_matches('`');
            format!("{} suite.{name}", cells.next().unwrap().to_uppercase())
        })
        .collect();
    documented.sort();
    assert_eq!(seen, documented);
}
