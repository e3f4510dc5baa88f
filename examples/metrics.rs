//! The metrics of the tour, as Prometheus scrapes them.
//!
//! `sdk-opentelemetry` observes the suite and keeps metrics on the meter provider of the program. Here a Prometheus exporter
//! reads that provider; a service would serve the text, or send the metrics elsewhere.
//!
//! ```text
//! cargo run --example metrics
//! ```

#[path = "tour/print.rs"]
mod print;
#[path = "tour/stops.rs"]
mod stops;
#[path = "support/mod.rs"]
mod support;

use std::process::ExitCode;

use opentelemetry_sdk::metrics::SdkMeterProvider;
use out::put;
use prometheus::{Registry, TextEncoder};
use sdk_core::Suite;
use sdk_opentelemetry::Metrics;
use sdk_reference_server::{Operation, ReferenceServer};
use support::{line, out};

type Failure = Box<dyn std::error::Error>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, Failure> {
    let registry = Registry::new();
    let exporter = opentelemetry_prometheus::exporter()
        .with_registry(registry.clone())
        // There is one target and one scope.
        .without_target_info()
        .scope_info_enabled(false)
        .build()?;
    let provider = SdkMeterProvider::builder().with_reader(exporter).build();

    let server = ReferenceServer::start().await;
    let suite = Suite::builder()
        .variables(server.environment())
        .observer(Metrics::new(&provider))
        .build()?;
    // One call is attempted twice.
    server.fault(Operation::ListPeople).times(1).status(503);
    stops::all(&suite).await?;

    print::heading("Metrics");
    for line in TextEncoder::new()
        .encode_to_string(&registry.gather())?
        .lines()
    {
        put!("{line}");
    }
    Ok(out::end(ExitCode::SUCCESS))
}
