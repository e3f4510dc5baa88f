//! The gauges for stored commands, and the alert rules that use them.

use std::time::Duration;

use opentelemetry_sdk::metrics::SdkMeterProvider;
use prometheus::{Registry, TextEncoder};
use rusqlite::Connection;
use sdk_opentelemetry::OutboxGauges;
use sdk_outbox::sqlite::Outbox;
use tokio::time::advance;

use super::alerts::exporting;
use crate::programs::Folder;

/// An outbox with gauges that Prometheus reads.
pub(super) struct Watched {
    _folder: Folder,
    database: Connection,
    outbox: Outbox,
    registry: Registry,
    gauges: OutboxGauges,
    /// Dropping the provider would empty the registry.
    _provider: SdkMeterProvider,
}

impl Watched {
    pub(super) async fn new() -> Self {
        let folder = Folder::new("outbox-gauges");
        let path = folder.file("service.db");
        let outbox = Outbox::open(&path).await.unwrap();
        let (registry, provider) = exporting();
        Self {
            database: Connection::open(&path).unwrap(),
            gauges: OutboxGauges::new(&provider),
            _folder: folder,
            outbox,
            registry,
            _provider: provider,
        }
    }

    fn execute(&self, sql: &str) {
        self.database.execute_batch(sql).unwrap();
    }

    /// Stores one command in each state a minute ago, and a second parked command with another reason.
    pub(super) fn fill(&self) {
        let insert = "INSERT INTO sdk_outbox (application, command, state, reason, stored_at)
            SELECT 'crm', '', state, reason, (unixepoch() - 60) * 1000";
        let states = "(0, NULL), (1, NULL), (2, NULL), (3, NULL), (4, 'refused'), (4, 'too_old'), (5, NULL), (6, 'refused')";
        self.execute(&format!(
            "WITH new (state, reason) AS (VALUES {states}) {insert} FROM new"
        ));
    }

    /// Records the status and returns the exported lines.
    pub(super) async fn record(&self) -> String {
        self.gauges.record(&self.outbox.status().await.unwrap());
        self.exported()
    }

    fn exported(&self) -> String {
        let families = self.registry.gather();
        TextEncoder::new().encode_to_string(&families).unwrap()
    }
}

fn value(exported: &str, series: &str) -> f64 {
    let values = exported.lines().filter_map(|it| it.strip_prefix(series));
    let values: Vec<f64> = values.map(|it| it.trim().parse().unwrap()).collect();
    assert_eq!(values.len(), 1, "{series} in\n{exported}");
    values[0]
}

fn commands(exported: &str, labels: &str) -> f64 {
    value(exported, &format!("suite_outbox_commands{{{labels}}}"))
}

const REFUSED: &str = r#"suite_outbox_park_reason="refused",suite_outbox_state="parked""#;
const TOO_OLD: &str = r#"suite_outbox_park_reason="too_old",suite_outbox_state="parked""#;

#[tokio::test(start_paused = true)]
async fn the_gauges_of_an_outbox_follow_its_status_and_return_to_zero() {
    let watched = Watched::new().await;
    assert_eq!(watched.exported(), "");

    watched.fill();
    let exported = watched.record().await;
    for state in ["new", "ready", "waiting", "leased", "done", "dropped"] {
        let labels = format!(r#"suite_outbox_state="{state}""#);
        assert!((commands(&exported, &labels) - 1.0).abs() < 0.1);
    }
    for labels in [REFUSED, TOO_OLD] {
        assert!((commands(&exported, labels) - 1.0).abs() < 0.1);
    }
    let age = value(&exported, "suite_outbox_oldest_age_seconds");
    assert!((60.0..90.0).contains(&age), "{age}");

    watched.execute("DELETE FROM sdk_outbox WHERE reason IS NOT 'refused'");
    let exported = watched.record().await;
    let lines = |it: &str| it.lines().filter(|it| !it.starts_with('#')).count();
    assert_eq!(lines(&exported), 10, "{exported}");
    assert!(commands(&exported, TOO_OLD).abs() < 0.1);
    assert!((commands(&exported, REFUSED) - 1.0).abs() < 0.1);
    assert!(commands(&exported, r#"suite_outbox_state="new""#).abs() < 0.1);
    assert!(value(&exported, "suite_outbox_oldest_age_seconds").abs() < 0.1);

    // The worker has ended, or its database is unavailable.
    advance(Duration::from_secs(121)).await;
    assert_eq!(watched.exported(), "");
}

#[test]
fn readme_lists_the_gauges_of_an_outbox() {
    let readme = include_str!("../../../../sdk-opentelemetry/README.md");
    for row in [
        "| `suite.outbox.commands` | gauge | `{command}` | `suite.outbox.state`, `suite.outbox.park.reason` |",
        "| `suite.outbox.oldest.age` | gauge | `s` | |",
    ] {
        assert!(readme.contains(row), "{row}");
    }
}
