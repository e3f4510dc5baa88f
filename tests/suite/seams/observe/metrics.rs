//! The metrics of `sdk-opentelemetry`, as an exporter receives them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::pin::pin;

use futures_util::poll;
use opentelemetry::KeyValue;
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, HistogramDataPoint, MetricData};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, PeriodicReader, SdkMeterProvider};
use sdk_core::{App, SchemaPolicy};
use sdk_opentelemetry::Metrics;

use crate::fixtures::{add_person, committed, created, get_person, person};
use crate::peer::{Peer, always, reply, script, stall, token};
use crate::samples::kick_off;
use crate::support::{Clients, builder_at, drop_when};

/// An instrument: its kind, unit and buckets, and the value of each series by attributes.
type Exported = (String, BTreeMap<String, i64>);

struct Reader {
    provider: SdkMeterProvider,
    exporter: InMemoryMetricExporter,
}

impl Reader {
    fn new() -> Self {
        let exporter = InMemoryMetricExporter::default();
        let reader = PeriodicReader::builder(exporter.clone()).build();
        let provider = SdkMeterProvider::builder().with_reader(reader).build();
        Self { provider, exporter }
    }

    fn metrics(&self) -> Metrics {
        Metrics::new(&self.provider)
    }

    fn read(&self) -> BTreeMap<String, Exported> {
        self.exporter.reset();
        self.provider.force_flush().unwrap();
        let all = self.exporter.get_finished_metrics().unwrap().pop().unwrap();
        let mut exported = BTreeMap::new();
        for scope in all.scope_metrics() {
            let own = (scope.scope().name(), scope.scope().version());
            assert_eq!(own, ("sdk-opentelemetry", Some("0.1.0")));
            let schema = "https://opentelemetry.io/schemas/1.44.0";
            assert_eq!(scope.scope().schema_url(), Some(schema));
            for metric in scope.metrics() {
                let (kind, bounds, series) = read(metric.data());
                let unit = metric.unit();
                let shown = format!("| {kind} | `{unit}` |{}", buckets(&bounds));
                exported.insert(metric.name().to_owned(), (shown, series));
            }
        }
        exported
    }

    fn series(&self, name: &str) -> BTreeMap<String, i64> {
        self.read().remove(name).unwrap().1
    }
}

/// Returns the kind of an instrument, its bucket bounds and its series.
fn read(data: &AggregatedMetrics) -> (&'static str, Vec<f64>, BTreeMap<String, i64>) {
    let whole = |count: u64| i64::try_from(count).unwrap();
    match data {
        AggregatedMetrics::F64(MetricData::Histogram(histogram)) => {
            let points = histogram.data_points();
            let bounds = histogram.data_points().take(1);
            let bounds = bounds.flat_map(HistogramDataPoint::bounds).collect();
            let series = points.map(|it| (text(it.attributes()), whole(it.count())));
            ("histogram", bounds, series.collect())
        }
        AggregatedMetrics::U64(MetricData::Sum(sum)) if sum.is_monotonic() => {
            let points = sum.data_points();
            let series = points.map(|it| (text(it.attributes()), whole(it.value())));
            ("counter", Vec::new(), series.collect())
        }
        AggregatedMetrics::I64(MetricData::Sum(sum)) if !sum.is_monotonic() => {
            let points = sum.data_points();
            let series = points.map(|it| (text(it.attributes()), it.value()));
            ("up-down counter", Vec::new(), series.collect())
        }
        other => panic!("{other:?}"),
    }
}

/// Formats attributes sorted by name. All ports look the same.
pub(super) fn text<'a>(attributes: impl Iterator<Item = &'a KeyValue>) -> String {
    let pairs = attributes.map(|pair| match pair.key.as_str() {
        "server.port" => "server.port=0".to_owned(),
        key => format!("{key}={}", pair.value),
    });
    let pairs: BTreeSet<_> = pairs.collect();
    pairs.into_iter().collect::<Vec<_>>().join(" ")
}

/// Returns a name for these bucket bounds.
fn buckets(bounds: &[f64]) -> String {
    const REQUEST: [f64; 14] = [
        0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0,
    ];
    match bounds {
        [] => String::new(),
        [rest @ .., 30.0, 60.0] if rest == REQUEST => " CALL".to_owned(),
        _ if bounds == REQUEST => " REQUEST".to_owned(),
        other => format!("{other:?}"),
    }
}

/// The export of a suite in which every counted event happens: instruments, with their series below them.
const EXPORTED: &str = "
http.client.request.duration | histogram | `s` | REQUEST
  error.type=429 http.request.method=GET http.response.status_code=429 PEER: 1
  error.type=503 http.request.method=GET http.response.status_code=503 PEER: 4
  error.type=503 http.request.method=POST http.response.status_code=503 PEER: 1
  http.request.method=GET http.response.status_code=200 PEER: 1
  http.request.method=POST: 1
  http.request.method=POST http.response.status_code=200 PEER: 4
  http.request.method=POST http.response.status_code=201 PEER: 1
suite.client.call.active | up-down counter | `{call}` |
ACTIVE
suite.client.call.duration | histogram | `s` | CALL
  error.type=503 suite.application=crm suite.operation=getPerson suite.outcome=error: 1
  error.type=invalid_input suite.application=crm suite.operation=getPerson suite.outcome=error: 1
  suite.application=calendar suite.operation=submitEventCommand suite.outcome=ok: 2
  suite.application=crm suite.effect=unknown suite.operation=submitCommand suite.outcome=cancelled: 1
  suite.application=crm suite.operation=getPerson suite.outcome=ok: 1
  suite.application=crm suite.operation=submitCommand suite.outcome=ok: 1
suite.client.call.wait.duration | histogram | `s` | CALL
  suite.application=calendar suite.wait.reason=token: 1
  suite.application=crm suite.wait.reason=backoff: 3
  suite.application=crm suite.wait.reason=rate: 1
  suite.application=crm suite.wait.reason=token: 1
suite.client.commands.replayed | counter | `{command}` |
  suite.operation=submitCommand: 1
  suite.operation=submitEventCommand: 1
suite.client.retries | counter | `{retry}` |
  suite.operation=getPerson suite.retry.reason=429: 1
  suite.operation=getPerson suite.retry.reason=503: 3
suite.client.retries.denied | counter | `{retry}` |
  suite.application=crm suite.retry.denied_by=attempts: 1
suite.client.schema.mismatches | counter | `{response}` |
  suite.operation=submitEventCommand: 1
suite.client.token.renewal.duration | histogram | `s` | REQUEST
  suite.application=calendar: 1
  suite.application=crm: 1
";

#[tokio::test]
async fn each_instrument_has_its_name_unit_kind_buckets_and_attributes() {
    let other = br#"{"schemaVersion":"v9","operation":"event.create","outcome":"succeeded","publicReference":"EVT-1","recordVersion":1,"replayed":true}"#;
    let steps = [
        // Two failures and a success, followed by three failures, which is the maximum.
        reply(503),
        reply(429).header("retry-after", "0"),
        person(),
        reply(503),
        reply(503),
        reply(503),
        // A command, its replay with another schema version, a replay that only the status shows, and a dropped call.
        created(),
        created().with_status(200).body(*other),
        committed().with_status(200),
        stall(),
    ];
    let tokens = [reply(503), token("t-1"), token("t-2")];
    let (reader, peer) = (Reader::new(), Peer::start(script(steps).tokens(tokens)));
    let builder = builder_at(&peer.url()).schema_policy(SchemaPolicy::Warn);
    let suite = builder.observer(reader.metrics()).suite();
    let (crm, calendar) = (suite.crm(), suite.calendar());

    get_person(&crm).await.unwrap();
    get_person(&crm).await.unwrap_err();
    crm.people().get("nobody").await.unwrap_err();
    kick_off(&calendar).await.unwrap();
    kick_off(&calendar).await.unwrap();
    add_person(&crm).await.unwrap();
    drop_when(peer.saw(10), add_person(&crm).send()).await;

    let readme = include_str!("../../../../sdk-opentelemetry/README.md");
    let mut seen = String::from("\n");
    for (name, (shown, series)) in reader.read() {
        let row = format!("| `{name}` {}", shown.rsplit_once('|').unwrap().0);
        assert!(readme.contains(&row), "{row}");
        writeln!(seen, "{name} {shown}").unwrap();
        for (attributes, count) in series {
            writeln!(seen, "  {attributes}: {count}").unwrap();
        }
    }
    // Each application has its own count.
    let active: BTreeSet<_> = App::all()
        .map(|app| format!("  suite.application={app}: 0"))
        .collect();
    let active = active.into_iter().collect::<Vec<_>>().join("\n");
    let expected = EXPORTED.replace("PEER", "network.protocol.version=1.1");
    assert_eq!(seen, expected.replace("ACTIVE", &active));
}

#[tokio::test]
async fn three_thousand_installations_are_one_series_by_default() {
    let peer = Peer::start(always(person()));
    let shared = builder_at(&peer.url()).suite();
    for (chosen, installations, series, each) in [(false, 3_000, 1, 3_000), (true, 30, 30, 1)] {
        let reader = Reader::new();
        let mut metrics = reader.metrics();
        if chosen {
            metrics = metrics.with_installation();
        }
        for number in 0..installations {
            // These calls are rejected locally. Their series are the same as for calls that are sent.
            let builder = builder_at(&peer.url()).observer(metrics.clone());
            let builder = builder.label(format!("installation {number}"));
            let suite = builder.transport_of(&shared).suite();
            suite.crm().people().get("nobody").await.unwrap_err();
        }
        let got = reader.series("suite.client.call.duration");
        assert_eq!(got.len(), series);
        assert!(got.values().all(|count| *count == each), "{got:?}");
        let named = got.keys().all(|it| it.contains("suite.installation="));
        assert_eq!(named, chosen, "{got:?}");
    }
}

#[tokio::test]
async fn route_and_server_are_optional_attributes_and_a_call_is_active_until_it_ends() {
    let (reader, peer) = (Reader::new(), Peer::start(always(person())));
    let metrics = reader.metrics().with_url_template().with_server_address();
    let crm = builder_at(&peer.url()).observer(metrics).crm();

    let mut call = pin!(get_person(&crm).send());
    assert!(poll!(&mut call).is_pending());
    let active = reader.series("suite.client.call.active");
    assert_eq!(active.values().sum::<i64>(), 1, "{active:?}");
    call.await.unwrap();

    let series = reader.series("http.client.request.duration");
    let server = "server.address=127.0.0.1 server.port=0 ";
    assert!(series.keys().all(|it| it.contains(server)), "{series:?}");
    let template = |it: &String| it.rsplit_once("url.template=").unwrap().1.to_owned();
    let templates: Vec<_> = series.keys().map(template).collect();
    assert_eq!(
        templates,
        ["/api/crm/v1/people/{reference}", "/oauth/token"]
    );
}
