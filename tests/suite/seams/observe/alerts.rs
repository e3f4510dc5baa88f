//! The alert rules for Prometheus: each expression reads series that a service exports.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use opentelemetry_sdk::metrics::SdkMeterProvider;
use prometheus::{Registry, TextEncoder};
use regex::Regex;
use sdk_core::{RetryPolicy, SchemaPolicy};
use sdk_opentelemetry::Metrics;
use sdk_reference_server::Operation::{ExchangeToken, GetToday, ListPeople, SubmitEventCommand};
use sdk_reference_server::ReferenceServer;
use serde_yaml_ng::Value;

use super::outbox::Watched;
use crate::fixtures::reaching;
use crate::samples::kick_off;
use crate::support::Clients as _;

/// A registry that exports the metrics of a provider for Prometheus.
pub(super) fn exporting() -> (Registry, SdkMeterProvider) {
    let registry = Registry::new();
    let exporter = opentelemetry_prometheus::exporter()
        .with_registry(registry.clone())
        .without_target_info()
        .scope_info_enabled(false)
        .build()
        .unwrap();
    let provider = SdkMeterProvider::builder().with_reader(exporter).build();
    (registry, provider)
}

/// A file of rules in the folder of a crate.
fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Checks that each selector of each rule matches an exported series, and that the series has the labels of `by (..)`.
/// Returns the names of the alerts.
fn check(name: &str, exported: &str) -> Vec<String> {
    let text = std::fs::read_to_string(file(name)).unwrap();
    let parsed: Value = serde_yaml_ng::from_str(&text).unwrap();
    let groups = parsed["groups"].as_sequence().unwrap().iter();
    let mut alerts = Vec::new();
    for rule in groups.flat_map(|group| group["rules"].as_sequence().unwrap()) {
        for text in [
            &rule["alert"],
            &rule["labels"]["severity"],
            &rule["annotations"]["summary"],
            &rule["annotations"]["description"],
        ] {
            assert!(text.as_str().is_some_and(|it| !it.is_empty()), "{rule:?}");
        }
        let alert = rule["alert"].as_str().unwrap();
        let (selectors, labels) = selectors(rule["expr"].as_str().unwrap());
        assert!(!selectors.is_empty(), "{alert}");
        for (metric, matchers) in selectors {
            let by = labels.iter().filter(|label| *label != "job");
            let by = by.map(|label| format!("{label}=\""));
            let needed: Vec<_> = matchers.into_iter().chain(by).collect();
            let fits = |line: &str| {
                let rest = line.strip_prefix(&*metric);
                let is_series = rest.is_some_and(|it| it.starts_with(['{', ' ']));
                is_series && needed.iter().all(|it| line.contains(it))
            };
            let problem = "no exported series matches. The test must cause the event";
            assert!(
                exported.lines().any(fits),
                "{alert}: {metric} {needed:?}: {problem}\n{exported}"
            );
        }
        alerts.push(alert.to_owned());
    }
    alerts
}

/// Returns the selectors of an expression, with the beginning of the labels that they require, and the labels of `by (..)`.
fn selectors(expression: &str) -> (Vec<(String, Vec<String>)>, Vec<String>) {
    let by = Regex::new(r"by \(([^)]*)\)").unwrap();
    let labels = by.captures_iter(expression);
    let labels = labels.flat_map(|it| it[1].split(", ").map(str::to_owned).collect::<Vec<_>>());
    let plain = by.replace_all(expression, "");
    let selector = Regex::new(r"(suite_\w+)(\{([^}]*)\})?").unwrap();
    let selectors = selector.captures_iter(&plain).map(|it| {
        let matchers = it.get(3).map_or("", |it| it.as_str()).split(", ");
        let matchers = matchers.filter(|it| !it.is_empty() && !it.contains("!~"));
        let matchers = matchers.map(|it| it.replace("!=\"\"", "=\""));
        (it[1].to_owned(), matchers.collect())
    });
    (selectors.collect(), labels.collect())
}

#[tokio::test]
async fn alert_rules_of_the_outbox_read_series_that_exist() {
    let watched = Watched::new().await;
    watched.fill();
    check("sdk-outbox/alerts.yml", &watched.record().await);
}

#[tokio::test(start_paused = true)]
async fn alert_rules_of_calls_read_series_that_exist() {
    let server = ReferenceServer::in_memory();
    let (registry, provider) = exporting();
    let builder = || reaching(&server).observer(Metrics::new(&provider));
    let suite = builder().max_in_flight(1).schema_policy(SchemaPolicy::Warn);
    let suite = suite.retry_budget(0).suite();
    let (crm, calendar) = (suite.crm(), suite.calendar());

    server.fault(SubmitEventCommand).times(1).lose_reply();
    kick_off(&calendar).await.unwrap_err();
    server.fault(GetToday).times(1).schema_suffix("v9");
    crm.today().get().await.unwrap();
    server.fault(GetToday).times(1).schema_suffix("v9");
    let strict = crm.today().get().schema_policy(SchemaPolicy::Refuse);
    strict.await.unwrap_err();
    server
        .fault(ListPeople)
        .times(1)
        .delay(Duration::from_secs(1));
    let both = tokio::join!(crm.people().list().send(), crm.people().list().send());
    both.0.and(both.1).unwrap();
    server.fault(ExchangeToken).times(1).status(400);
    let other = builder().retry(RetryPolicy::none()).crm();
    other.today().get().await.unwrap_err();

    let exported = TextEncoder::new().encode_to_string(&registry.gather());
    let exported = exported.unwrap();
    let mut of_reads = exported
        .lines()
        .filter(|it| it.contains("operation=\"getToday\""));
    assert!(
        !of_reads.any(|it| it.contains("suite_effect")),
        "{exported}"
    );
    let page = include_str!("../../../../sdk-core/docs/observability.md");
    for alert in check("sdk-opentelemetry/alerts.yml", &exported) {
        assert!(
            page.contains(&format!("| `{alert}` |")),
            "the guide lacks {alert}"
        );
    }
}

#[test]
fn prometheus_loads_and_tests_the_alert_rules_where_it_is_installed() {
    for (command, files) in [
        (
            "check",
            &["sdk-outbox/alerts.yml", "sdk-opentelemetry/alerts.yml"][..],
        ),
        ("test", &["sdk-opentelemetry/alerts.test.yml"]),
    ] {
        let files = files.iter().map(|name| file(name));
        match Command::new("promtool")
            .args([command, "rules"])
            .args(files)
            .output()
        {
            Ok(output) => assert!(output.status.success(), "{output:?}"),
            // The other tests parse the rules.
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::NotFound),
        }
    }
}
