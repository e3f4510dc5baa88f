//! The alert rules for Prometheus: each expression reads series that a service exports.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use opentelemetry_sdk::metrics::SdkMeterProvider;
use prometheus::{Registry, TextEncoder};
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
fn check(name: &str, rules: usize, exported: &str) {
    let text = std::fs::read_to_string(file(name)).unwrap();
    let parsed: Value = serde_yaml_ng::from_str(&text).unwrap();
    let parsed = parsed["groups"][0]["rules"].as_sequence().unwrap();
    assert_eq!(parsed.len(), rules);
    for rule in parsed {
        for text in [
            &rule["alert"],
            &rule["labels"]["severity"],
            &rule["annotations"]["summary"],
            &rule["annotations"]["description"],
        ] {
            assert!(text.as_str().is_some_and(|it| !it.is_empty()), "{rule:?}");
        }
        let (selectors, labels) = selectors(rule["expr"].as_str().unwrap());
        assert!(!selectors.is_empty(), "{rule:?}");
        for (metric, matchers) in selectors {
            let fits = |line: &str| {
                let rest = line.strip_prefix(&metric);
                let is_series = rest.is_some_and(|it| it.starts_with(['{', ' ']));
                let by = labels.iter().filter(|label| **label != "job");
                let by = by.map(|label| format!("{label}=\""));
                is_series
                    && matchers
                        .iter()
                        .cloned()
                        .chain(by)
                        .all(|it| line.contains(&it))
            };
            assert!(
                exported.lines().any(fits),
                "{metric} {matchers:?} in\n{exported}"
            );
        }
    }
}

/// The selectors of an expression, with the beginning of the labels that they require, and the labels of its `by (..)`.
fn selectors(expression: &str) -> (BTreeMap<String, Vec<String>>, Vec<&str>) {
    let (mut plain, mut labels) = (String::new(), Vec::new());
    let mut parts = expression.split("by (");
    plain.push_str(parts.next().unwrap());
    for part in parts {
        let (list, rest) = part.split_once(')').unwrap();
        labels.extend(list.split(", "));
        plain.push_str(rest);
    }
    let mut found = BTreeMap::new();
    for piece in plain.split('}') {
        let (before, inside) = piece.split_once('{').unwrap_or((piece, ""));
        let words = before.split(|it: char| !it.is_ascii_alphanumeric() && it != '_');
        let metrics = words.filter(|word| word.starts_with("suite_"));
        let metrics: Vec<_> = metrics.map(str::to_owned).collect();
        let matchers = inside.split(", ").filter(|it| !it.is_empty());
        let matchers = matchers.map(|it| it.replace("!=\"\"", "=\"")).collect();
        for metric in &metrics {
            found.insert(metric.clone(), Vec::new());
        }
        if let Some(last) = metrics.last() {
            found.insert(last.clone(), matchers);
        }
    }
    (found, labels)
}

#[tokio::test]
async fn alert_rules_of_the_outbox_read_series_that_exist() {
    let watched = Watched::new().await;
    watched.fill();
    check("sdk-outbox/alerts.yml", 4, &watched.record().await);
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
    check("sdk-opentelemetry/alerts.yml", 6, &exported.unwrap());
}

#[test]
fn prometheus_loads_the_alert_rules_where_it_is_installed() {
    let mut promtool = Command::new("promtool");
    promtool.args(["check", "rules"]);
    promtool.args(["sdk-outbox/alerts.yml", "sdk-opentelemetry/alerts.yml"].map(file));
    match promtool.output() {
        Ok(output) => assert!(output.status.success(), "{output:?}"),
        // The other tests parse the rules.
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::NotFound),
    }
}
