//! How do I see a call with its retries in my traces, and how does the suite continue the trace?
//!
//! Dependencies: sdk-crm, opentelemetry (feature `trace`), `opentelemetry_sdk` (features `testing` and `trace`),
//! tracing, tracing-opentelemetry, tracing-subscriber (feature `registry`) and tokio (features `macros` and
//! `rt-multi-thread`). This demo starts sdk-reference-server and prints the spans. A real service would export them.

use std::collections::HashMap;

use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::{SpanId, TracerProvider as _};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use sdk_crm::observe::{ExtraHeaders, ObservedAttempt};
use sdk_crm::{Client, Observer, Suite};
use sdk_reference_server::{Operation, ReferenceServer};
use tracing::{Level, Span};
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::prelude::*;

/// Adds the `traceparent` header to each attempt, so that the suite's own spans join the trace.
struct PassOn(TraceContextPropagator);

impl Observer for PassOn {
    fn attempt_started(&self, _attempt: &ObservedAttempt<'_>, headers: &mut ExtraHeaders<'_>) {
        let mut carrier = HashMap::new();
        let context = Span::current().context();
        self.0.inject_context(&context, &mut carrier);
        for (name, value) in carrier.iter().filter(|(_, value)| !value.is_empty()) {
            headers.add(name, value);
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder()
        .with_simple_exporter(exporter.clone())
        .build();
    let layer = tracing_opentelemetry::layer()
        .with_tracer(provider.tracer("observe"))
        .with_location(false)
        .with_target(false)
        .with_threads(false)
        .with_tracked_inactivity(false)
        .with_filter(Targets::new().with_target("sdk_core", Level::DEBUG));
    tracing_subscriber::registry().with(layer).init();

    let server = ReferenceServer::start().await;
    let suite = Suite::builder()
        .variables(server.environment())
        .observer(PassOn(TraceContextPropagator::new()))
        .build()?;
    let crm = Client::new(&suite)?;
    // The CRM restarts. Two attempts fail, and the third succeeds.
    server.fault(Operation::ListPeople).times(2).status(503);
    crm.people().list().await?;
    let first = &server.requests_for(Operation::ListPeople)[0];
    println!("traceparent: {:?}", first.header("traceparent"));

    let mut spans = exporter.get_finished_spans()?;
    spans.sort_by_key(|span| span.start_time);
    print(&spans, SpanId::INVALID, "");
    Ok(())
}

/// Prints each span with its children below it.
fn print(spans: &[SpanData], parent: SpanId, indent: &str) {
    for span in spans.iter().filter(|it| it.parent_span_id == parent) {
        println!("{indent}{}", span.name);
        let attributes = span.attributes.iter();
        let attributes = attributes.map(|it| format!("{} = {}", it.key, it.value));
        let events = span.events.iter().map(|it| it.name.to_string());
        for line in attributes.chain(events) {
            println!("{indent}  · {line}");
        }
        print(spans, span.span_context.span_id(), &format!("{indent}    "));
    }
}
