//! Spans and events, as a trace exporter receives them.

use std::sync::{Arc, Mutex};

use opentelemetry::trace::{Status, TracerProvider as _};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use sdk_core::SchemaPolicy;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Context, SubscriberExt as _};

use super::metrics::text;
use super::{Adds, Diary};
use crate::fixtures::{add_person, created, get_person, person};
use crate::peer::{Peer, reply, script, stall, token};
use crate::samples::kick_off;
use crate::support::{Clients, builder_at, drop_when};

/// The names of events with their levels, without duplicates.
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

/// Collects the SDK's spans on this thread until the guard is dropped.
fn collect() -> (
    InMemorySpanExporter,
    Names,
    tracing::subscriber::DefaultGuard,
) {
    // Without a second subscriber, the first thread that meets an event decides for all threads whether it is enabled.
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

/// A call with two attempts, the renewal between them, and a dropped call. Each line has the parent or linked span, the
/// status and the attributes.
const SPANS: &str = "
GET /api/crm/v1/people/{reference} in getPerson
  http.request.method=GET http.request.resend_count=1 http.response.status_code=200 network.protocol.version=1.1 server.address=127.0.0.1 server.port=0 suite.outcome=ok url.full=ORIGIN/api/crm/v1/people/PER-0123456789AB url.template=/api/crm/v1/people/{reference}
GET /api/crm/v1/people/{reference} in getPerson failed
  error.type=503 http.request.method=GET http.response.status_code=503 network.protocol.version=1.1 server.address=127.0.0.1 server.port=0 suite.outcome=error url.full=ORIGIN/api/crm/v1/people/PER-0123456789AB url.template=/api/crm/v1/people/{reference}
POST /api/crm/v1/commands in submitCommand
  http.request.method=POST server.address=127.0.0.1 server.port=0 suite.outcome=cancelled url.full=ORIGIN/api/crm/v1/commands url.template=/api/crm/v1/commands
POST /oauth/token in token renewal
  http.request.method=POST http.response.status_code=200 network.protocol.version=1.1 server.address=127.0.0.1 server.port=0 suite.outcome=ok url.full=ORIGIN/oauth/token url.template=/oauth/token
getPerson
  suite.application=crm suite.attempts=2 suite.operation=getPerson suite.outcome=ok
submitCommand
  suite.application=crm suite.attempts=1 suite.effect=unknown suite.operation=submitCommand suite.outcome=cancelled
token renewal after getPerson
  suite.application=crm suite.audience=crm
";

/// Formats all spans sorted by name. All ports look the same.
fn formatted(spans: &[SpanData]) -> String {
    let named = |before: &str, id| {
        let span = spans.iter().find(|it| it.span_context.span_id() == id);
        span.map_or_else(String::new, |it| format!(" {before} {}", it.name))
    };
    let line = |span: &SpanData| {
        let parent = named("in", span.parent_span_id);
        let links = span.links.iter();
        let causes: String = links
            .map(|it| named("after", it.span_context.span_id()))
            .collect();
        let has_failed = matches!(span.status, Status::Error { .. });
        let status = if has_failed { " failed" } else { "" };
        let attributes = text(span.attributes.iter());
        format!("{}{parent}{causes}{status}\n  {attributes}\n", span.name)
    };
    let mut lines: Vec<_> = spans.iter().map(line).collect();
    lines.sort();
    format!("\n{}", lines.concat())
}

#[tokio::test]
async fn spans_have_the_attributes_of_the_conventions_and_a_renewal_its_cause() {
    let (exporter, _names, _guard) = collect();
    let peer = Peer::start(script([reply(503), person(), stall()]));
    let crm = builder_at(&peer.url()).crm();

    get_person(&crm).query("q", "of-the-query").await.unwrap();
    drop_when(peer.saw(3), add_person(&crm).send()).await;

    let spans = exporter.get_finished_spans().unwrap();
    assert_eq!(formatted(&spans).replace(&peer.url(), "ORIGIN"), SPANS);
    assert!(!format!("{spans:?}").contains("of-the-query"));
}

#[tokio::test]
async fn each_event_has_its_documented_name_and_level() {
    let (_exporter, names, _guard) = collect();
    // Another schema version, a field with an invalid type, and another constant.
    let odd = concat!(
        r#"{"schemaVersion":"suite-crm-today.v9","generatedAt":"2026-01-15T09:00:00Z","workspace":"w","counts":{},"#,
        r#""attention":[{"title":"a","recordVersion":18446744073709551616}],"recentChanges":[]}"#,
    );
    let odd = reply(200).header("sunset", "").body(odd);
    let failed = r#"{"schemaVersion":"suite-calendar-command-result.v1","operation":"event.create","outcome":"failed","publicReference":"EVT-1","recordVersion":1,"replayed":false}"#;
    let odd = [odd, created().body(failed)];
    let tokens = [reply(503), token("t-1"), token("t-2")];
    let script = script(odd.into_iter().chain([503; 6].map(reply))).tokens(tokens);
    let peer = Peer::start(script.tokens_always(reply(400)));
    let builder = builder_at(&peer.url())
        .schema_policy(SchemaPolicy::Warn)
        .max_in_flight(1);
    let panics = Diary::then(|| panic!("by an observer"));
    let builder = builder.observer(panics);
    let suite = builder.observer(Adds(vec![("cookie", "a")])).suite();
    let crm = suite.crm();

    crm.today().get().await.unwrap();
    kick_off(&suite.calendar()).await.unwrap();
    // One of these calls waits for a permit.
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
