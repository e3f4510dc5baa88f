//! What an operator sees: a trace per call, with its attempts, waits and token renewals.
//!
//! The SDK emits `tracing` spans with OpenTelemetry's attribute names. Here they go through `tracing-opentelemetry` to an
//! exporter in memory, and are drawn as a tree; a service would put its own exporter there. An observer passes the trace on,
//! so that the suite's own spans would hang below.
//!
//! ```text
//! cargo run --example observe
//! ```

#[path = "support/mod.rs"]
mod support;

use std::collections::HashMap;
use std::process::ExitCode;
use std::time::Duration;

use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::{SpanId, Status, TracerProvider as _};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use out::put;
use sdk_core::observe::{ExtraHeaders, ObservedAttempt};
use sdk_core::{Backoff, Error, Observer, RetryPolicy, Suite};
use sdk_reference_server::{Operation, ReferenceServer};
use support::{line, out};
use tracing::{Level, Span};
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Adds the trace of the attempt to its request, as W3C Trace Context writes it.
struct PassOn(TraceContextPropagator);

impl Observer for PassOn {
    fn attempt_started(&self, _attempt: &ObservedAttempt<'_>, headers: &mut ExtraHeaders<'_>) {
        let mut carrier = HashMap::new();
        self.0
            .inject_context(&Span::current().context(), &mut carrier);
        // An empty `tracestate` says nothing.
        for (name, value) in carrier.iter().filter(|(_, value)| !value.is_empty()) {
            headers.add(name, value);
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder()
        .with_simple_exporter(exporter.clone())
        .build();
    // The SDK's own spans and events; those of the HTTP library below it are for its authors.
    let layer = tracing_opentelemetry::layer()
        .with_tracer(provider.tracer("observe"))
        .with_tracked_inactivity(false)
        .with_location(false)
        .with_target(false)
        .with_threads(false)
        .with_filter(Targets::new().with_target("sdk_core", Level::DEBUG));
    tracing_subscriber::registry().with(layer).init();

    let server = ReferenceServer::start().await;
    incidents(&server).await?;

    provider.force_flush()?;
    draw(&exporter.get_finished_spans()?);
    Ok(out::end(ExitCode::SUCCESS))
}

/// A day in the life of a service, in four calls.
async fn incidents(server: &ReferenceServer) -> Result<(), Error> {
    let short = Backoff::new(Duration::from_millis(20), Duration::from_millis(40));
    let suite = Suite::builder()
        .variables(server.environment())
        .retry(RetryPolicy::default().with_backoff(short))
        .observer(PassOn(TraceContextPropagator::new()))
        .build()?;
    let crm = sdk_crm::Client::new(&suite)?;

    // All is well.
    crm.today().get().await?;
    // The CRM is restarted: two attempts fail, the third one is served.
    server.fault(Operation::ListPeople).times(2).status(503);
    crm.people().list().await?;
    // The token is revoked: one renewal, one more attempt.
    server.revoke_tokens();
    crm.actors().list().await?;
    // A record that is not there: an error that no repeat would change.
    let missing = crm.people().get("PER-000000000000").await;
    assert!(missing.is_err_and(|error| error.is_not_found()));
    // Every attempt took its trace along.
    let requests = server.requests();
    assert!(requests.iter().all(|it| it.header("traceparent").is_some()));
    Ok(())
}

/// Draws the spans as trees, in the order in which they began.
fn draw(spans: &[SpanData]) {
    let mut children: HashMap<SpanId, Vec<&SpanData>> = HashMap::new();
    for span in spans {
        children.entry(span.parent_span_id).or_default().push(span);
    }
    for list in children.values_mut() {
        list.sort_by_key(|span| span.start_time);
    }
    branch(&children, SpanId::INVALID, "");
}

fn branch(children: &HashMap<SpanId, Vec<&SpanData>>, parent: SpanId, indent: &str) {
    for span in children.get(&parent).into_iter().flatten() {
        let took = span
            .end_time
            .duration_since(span.start_time)
            .unwrap_or_default();
        let failed = matches!(span.status, Status::Error { .. });
        let (mark, millis) = (if failed { '✗' } else { '✓' }, took.as_secs_f64() * 1e3);
        put!("{indent}{mark} {}  {millis:.1} ms", span.name);
        for attribute in &span.attributes {
            let name = attribute.key.as_str();
            put!("{indent}    {name} = {}", line::line(&attribute.value));
        }
        for link in span.links.iter() {
            let id = link.span_context.span_id();
            let all = children.values().flatten();
            let cause = all.filter(|span| span.span_context.span_id() == id);
            for cause in cause {
                put!("{indent}    ↩ follows from {}", cause.name);
            }
        }
        for event in span.events.iter() {
            let told = event.attributes.iter();
            let told = told.filter(|attribute| attribute.key.as_str() != "level");
            let told = told.map(|it| format!("{} = {}", it.key, it.value));
            let told = line::line(told.collect::<Vec<_>>().join(", "));
            put!("{indent}    • {} ({told})", event.name);
        }
        let indent = format!("{indent}    ");
        branch(children, span.span_context.span_id(), &indent);
    }
}
