#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "outbox")]
#[cfg_attr(docsrs, doc(cfg(feature = "outbox")))]
mod outbox;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use opentelemetry::metrics::{Counter, Histogram, Meter, MeterProvider};
use opentelemetry::{InstrumentationScope, KeyValue, Value};
use sdk_core::observe::{AttemptEnded, CallEnded, ObservedCall, Renewal, Retry, RetryDenied, Wait};
use sdk_core::{App, Effect, Observer};

#[cfg(feature = "outbox")]
pub use self::outbox::OutboxGauges;

/// The buckets that the semantic conventions recommend for requests, in seconds.
const REQUEST: [f64; 14] = [
    0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0,
];

/// The buckets for calls, in seconds. They reach beyond the default deadline of a call.
const CALL: [f64; 16] = [
    0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 30.0, 60.0,
];

/// The version of the semantic conventions.
const SCHEMA: &str = "https://opentelemetry.io/schemas/1.44.0";

/// An observer that records metrics. Clones share the instruments.
#[derive(Clone)]
pub struct Metrics {
    instruments: Arc<Instruments>,
    url_template: bool,
    server_address: bool,
    installation: bool,
}

/// Declares the instruments. Each has a constructor function, a name, buckets or a unit, and a description.
macro_rules! instruments {
    ($($field:ident: $type:ty = $make:ident($($about:expr),*);)*) => {
        struct Instruments {
            $($field: $type,)*
        }

        impl Instruments {
            fn of(meter: &Meter) -> Self {
                Self { $($field: $make(meter, $($about),*),)* }
            }
        }
    };
}

instruments! {
    attempts: Seconds = histogram("http.client.request.duration", &REQUEST, "Duration of HTTP client requests.");
    calls: Seconds = histogram("suite.client.call.duration", &CALL, "Duration of calls, with all their attempts and waits.");
    waits: Seconds = histogram("suite.client.call.wait.duration", &CALL, "Duration of waits for tokens, retries and limits.");
    active: Active = active();
    retries: Count = counter("suite.client.retries", "{retry}", "Attempts that followed a failed attempt.");
    denied: Count = counter("suite.client.retries.denied", "{retry}",
        "Retries that the budget, the deadline or the attempt limit prevented.");
    renewals: Seconds = histogram("suite.client.token.renewal.duration", &REQUEST,
        "Duration of token renewals, with all their exchanges.");
    replayed: Count = counter("suite.client.commands.replayed", "{command}",
        "Commands whose result the server replayed.");
    mismatches: Count = counter("suite.client.schema.mismatches", "{response}",
        "Responses that differ from their schema, but were accepted.");
}

type Text = &'static str;
type Seconds = Histogram<f64>;
type Count = Counter<u64>;

fn histogram(meter: &Meter, name: Text, bounds: &[f64], about: Text) -> Seconds {
    let histogram = meter.f64_histogram(name).with_unit("s");
    let histogram = histogram.with_boundaries(bounds.to_vec());
    histogram.with_description(about).build()
}

fn counter(meter: &Meter, name: Text, unit: Text, about: Text) -> Count {
    let counter = meter.u64_counter(name).with_unit(unit);
    counter.with_description(about).build()
}

impl Metrics {
    /// Creates the instruments on a meter of this provider.
    #[must_use]
    pub fn new(provider: &(impl MeterProvider + ?Sized)) -> Self {
        Self {
            instruments: Arc::new(Instruments::of(&meter(provider))),
            url_template: false,
            server_address: false,
            installation: false,
        }
    }

    /// Adds `url.template` to `http.client.request.duration`, which gives each called route its own series.
    #[must_use]
    pub fn with_url_template(mut self) -> Self {
        self.url_template = true;
        self
    }

    /// Adds `server.address` and `server.port` to `http.client.request.duration`, which gives each called host its own
    /// series.
    ///
    /// The semantic conventions require both attributes. The default omits them, because each installation has its own
    /// hosts. With 500 installations, there would be 500 times as many series.
    #[must_use]
    pub fn with_server_address(mut self) -> Self {
        self.server_address = true;
        self
    }

    /// Adds `suite.installation` to every instrument except `suite.client.call.active`, which gives each installation
    /// with a label its own series.
    #[must_use]
    pub fn with_installation(mut self) -> Self {
        self.installation = true;
        self
    }

    /// Returns the opt-in attributes of any event, that is, its installation. Without them, this allocates nothing.
    fn of(&self, installation: Option<&str>) -> Vec<KeyValue> {
        let mut chosen = Vec::new();
        if self.installation {
            let installation = installation.map(str::to_owned);
            chosen.extend(maybe("suite.installation", installation));
        }
        chosen
    }

    fn active(&self, app: App, change: i64) {
        let own = self.instruments.active.iter().find(|(it, _)| *it == app);
        if let Some((_, count)) = own {
            count.fetch_add(change, Ordering::Relaxed);
        }
    }
}

/// The number of calls in flight by application. This counts them, because an observable instrument reports totals.
type Active = Arc<[(App, AtomicI64)]>;

/// Creates the instrument that reads the number of calls in flight.
fn active(meter: &Meter) -> Active {
    let active: Active = App::all().map(|app| (app, AtomicI64::new(0))).collect();
    let read = Arc::clone(&active);
    // The meter owns the callback, so the instrument can be dropped.
    let _instrument = meter
        .i64_observable_up_down_counter("suite.client.call.active")
        .with_unit("{call}")
        .with_description("Calls in flight.")
        .with_callback(move |observer| {
            for (app, count) in &*read {
                let application = KeyValue::new("suite.application", app.name());
                observer.observe(count.load(Ordering::Relaxed), &[application]);
            }
        })
        .build();
    active
}

fn meter(provider: &(impl MeterProvider + ?Sized)) -> Meter {
    let scope = InstrumentationScope::builder(env!("CARGO_PKG_NAME"))
        .with_version(env!("CARGO_PKG_VERSION"))
        .with_schema_url(SCHEMA)
        .build();
    provider.meter_with_scope(scope)
}

fn maybe(key: &'static str, value: Option<impl Into<Value>>) -> Option<KeyValue> {
    value.map(|value| KeyValue::new(key, value))
}

/// Calls `record` with the optional and the fixed attributes of an event. Their order is always the same, so that
/// OpenTelemetry finds the series without sorting them.
#[inline]
fn with<const ALWAYS: usize>(
    mut others: Vec<KeyValue>,
    always: [KeyValue; ALWAYS],
    record: impl FnOnce(&[KeyValue]),
) {
    if others.is_empty() {
        return record(&always);
    }
    others.extend(always);
    record(&others);
}

impl Observer for Metrics {
    fn call_started(&self, call: &ObservedCall<'_>) {
        self.active(call.operation.application, 1);
    }

    fn call_ended(&self, ended: &CallEnded<'_>) {
        let (operation, installation) = (ended.call.operation, ended.call.installation);
        self.active(operation.application, -1);
        let instruments = &self.instruments;
        let mut others = self.of(installation);
        // A read changes nothing, so its effect is irrelevant.
        let effect = ended.effect.filter(|_| operation.safety.is_command());
        others.extend(maybe("suite.effect", effect.map(Effect::as_str)));
        others.extend(maybe("error.type", ended.error_type.map(str::to_owned)));
        let always = [
            KeyValue::new("suite.application", operation.application.name()),
            KeyValue::new("suite.operation", operation.id),
            KeyValue::new("suite.outcome", ended.outcome.as_str()),
        ];
        with(others, always, |all| {
            record(&instruments.calls, ended.duration(), all);
        });
        for (counter, is) in [
            (&instruments.replayed, ended.replayed()),
            (&instruments.mismatches, ended.schema_mismatch),
        ] {
            if is {
                let always = [KeyValue::new("suite.operation", operation.id)];
                with(self.of(installation), always, |all| counter.add(1, all));
            }
        }
    }

    fn attempt_ended(&self, ended: &AttemptEnded<'_>) {
        let attempt = &ended.attempt;
        let mut others = self.of(attempt.installation);
        others.extend(maybe("error.type", ended.error_type.map(str::to_owned)));
        if self.url_template {
            let exchange = || Value::from(attempt.template.to_owned());
            let call = attempt.call.map(|call| Value::from(call.operation.route));
            others.push(KeyValue::new("url.template", call.unwrap_or_else(exchange)));
        }
        if self.server_address {
            let address = Arc::clone(attempt.server_address);
            others.push(KeyValue::new("server.address", address));
            others.push(KeyValue::new("server.port", i64::from(attempt.server_port)));
        }
        let method = KeyValue::new("http.request.method", attempt.method.as_str());
        let count = |all: &[KeyValue]| record(&self.instruments.attempts, ended.duration(), all);
        let status = maybe("http.response.status_code", ended.status.map(i64::from));
        let version = maybe("network.protocol.version", ended.protocol_version);
        match (status, version) {
            (Some(status), Some(version)) => {
                with(others, [method, status, version], count);
            }
            (status, version) => {
                others.extend(status.into_iter().chain(version));
                with(others, [method], count);
            }
        }
    }

    fn waited(&self, wait: &Wait<'_>) {
        let always = [
            KeyValue::new("suite.application", wait.application.name()),
            KeyValue::new("suite.wait.reason", wait.reason.as_str()),
        ];
        with(self.of(wait.installation), always, |all| {
            record(&self.instruments.waits, wait.duration, all);
        });
    }

    fn retrying(&self, retry: &Retry<'_>) {
        let always = [
            KeyValue::new("suite.operation", retry.call.operation.id),
            KeyValue::new("suite.retry.reason", retry.error_type.to_owned()),
        ];
        with(self.of(retry.call.installation), always, |all| {
            self.instruments.retries.add(1, all);
        });
    }

    fn retry_denied(&self, denied: &RetryDenied<'_>) {
        let application = denied.call.operation.application;
        let always = [
            KeyValue::new("suite.application", application.name()),
            KeyValue::new("suite.retry.denied_by", denied.reason.as_str()),
        ];
        with(self.of(denied.call.installation), always, |all| {
            self.instruments.denied.add(1, all);
        });
    }

    fn token_renewed(&self, renewal: &Renewal<'_>) {
        let mut all = self.of(renewal.installation);
        all.extend(maybe(
            "suite.application",
            renewal.application.map(App::name),
        ));
        all.extend(maybe("error.type", renewal.error_type.map(str::to_owned)));
        record(&self.instruments.renewals, renewal.duration, &all);
    }
}

fn record(histogram: &Seconds, duration: Duration, attributes: &[KeyValue]) {
    histogram.record(duration.as_secs_f64(), attributes);
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics")
            .field("url_template", &self.url_template)
            .field("server_address", &self.server_address)
            .field("installation", &self.installation)
            .finish_non_exhaustive()
    }
}
