//! How do I export metrics of my calls to Prometheus?
//!
//! Dependencies: sdk-crm, sdk-opentelemetry, opentelemetry-prometheus, `opentelemetry_sdk` (feature `metrics`),
//! prometheus and tokio (features `macros` and `rt-multi-thread`). This demo starts sdk-reference-server. A real
//! service calls `Suite::builder().environment()` instead, and serves the output at `/metrics`.

use opentelemetry_sdk::metrics::SdkMeterProvider;
use prometheus::{Registry, TextEncoder};
use sdk_crm::{Client, Suite};
use sdk_opentelemetry::Metrics;
use sdk_reference_server::{Operation, ReferenceServer};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let registry = Registry::new();
    let exporter = opentelemetry_prometheus::exporter()
        .with_registry(registry.clone())
        .without_target_info()
        .scope_info_enabled(false)
        .build()?;
    let provider = SdkMeterProvider::builder().with_reader(exporter).build();

    let server = ReferenceServer::start().await;
    let suite = Suite::builder()
        .variables(server.environment())
        .observer(Metrics::new(&provider)) // this line adds the metrics
        .build()?;
    let crm = Client::new(&suite)?;

    crm.today().get().await?;
    // This call takes two attempts.
    server.fault(Operation::ListPeople).times(1).status(503);
    crm.people().list().await?;
    // This call fails.
    let missing = crm.people().get("PER-000000000000").await;
    assert!(missing.is_err_and(|error| error.is_not_found()));

    // Skip the histogram buckets to keep the output short.
    let text = TextEncoder::new().encode_to_string(&registry.gather())?;
    for line in text.lines().filter(|line| !line.contains("_bucket{")) {
        println!("{line}");
    }
    Ok(())
}
