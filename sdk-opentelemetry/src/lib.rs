#![doc = include_str!("../README.md")]

mod attributes;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use opentelemetry::metrics::{Counter, Histogram, Meter, MeterProvider, UpDownCounter};
use opentelemetry::{InstrumentationScope, StringValue, Value};
use sdk_core::observe::{AttemptEnded, CallEnded, ObservedCall, Renewal, Retry, RetryDenied, Wait};
use sdk_core::{App, Effect, Observer};

use crate::attributes::Attributes;

/// The buckets that the conventions advise for requests, in seconds, and two more for the usual deadline of a call and beyond.
const CALL: &[f64] = &[
    0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 30.0, 60.0,
];
const REQUEST: &[f64] = CALL.split_at(14).0;

/// The conventions whose names are used.
const SCHEMA: &str = "https://opentelemetry.io/schemas/1.44.0";

/// An observer that keeps metrics. Its clones share them.
#[derive(Clone)]
pub struct Metrics {
    instruments: Arc<Instruments>,
    url_template: bool,
    installation: bool,
}

/// Declares the instruments, each with what makes it and its name, its buckets or unit, and its description.
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
    attempts: Seconds = histogram("http.client.request.duration", REQUEST, "Duration of HTTP client requests.");
    calls: Seconds = histogram("suite.client.call.duration", CALL, "Duration of calls, with all their attempts and waits.");
    waits: Seconds = histogram("suite.client.call.wait.duration", CALL, "Duration of waits for tokens, retries and limits.");
    active: Level = up_down_counter("suite.client.call.active", "{call}", "Calls under way.");
    retries: Count = counter("suite.client.retries", "{retry}", "Attempts that followed a failed one.");
    denied: Count = counter("suite.client.retries.denied", "{retry}",
        "Retries that budget, deadline or attempts did not allow.");
    renewals: Seconds = histogram("suite.client.token.renewal.duration", REQUEST,
        "Duration of token renewals, with all their exchanges.");
    replayed: Count = counter("suite.client.commands.replayed", "{command}",
        "Commands that were answered with a stored result.");
    mismatches: Count = counter("suite.client.schema.mismatches", "{reply}",
        "Replies that differ from their schema, which was tolerated.");
}

type Text = &'static str;
type Seconds = Histogram<f64>;
type Count = Counter<u64>;
type Level = UpDownCounter<i64>;

fn histogram(meter: &Meter, name: Text, bounds: &[f64], about: Text) -> Seconds {
    let histogram = meter.f64_histogram(name).with_unit("s");
    let histogram = histogram.with_boundaries(bounds.to_vec());
    histogram.with_description(about).build()
}

fn counter(meter: &Meter, name: Text, unit: Text, about: Text) -> Count {
    let counter = meter.u64_counter(name).with_unit(unit);
    counter.with_description(about).build()
}

fn up_down_counter(meter: &Meter, name: Text, unit: Text, about: Text) -> Level {
    let counter = meter.i64_up_down_counter(name).with_unit(unit);
    counter.with_description(about).build()
}

impl Metrics {
    /// Metrics on the meters of this provider.
    #[must_use]
    pub fn new(provider: &(impl MeterProvider + ?Sized)) -> Self {
        let scope = InstrumentationScope::builder(env!("CARGO_PKG_NAME"))
            .with_version(env!("CARGO_PKG_VERSION"))
            .with_schema_url(SCHEMA)
            .build();
        Self {
            instruments: Arc::new(Instruments::of(&provider.meter_with_scope(scope))),
            url_template: false,
            installation: false,
        }
    }

    /// Adds `url.template` to `http.client.request.duration`: a series for each route that is called.
    #[must_use]
    pub fn with_url_template(mut self) -> Self {
        self.url_template = true;
        self
    }

    /// Adds `suite.installation` to every instrument: a series for each installation that has a label.
    #[must_use]
    pub fn with_installation(mut self) -> Self {
        self.installation = true;
        self
    }

    /// The attributes of an event, and first of all its installation, by choice.
    fn of(&self, installation: Option<&str>) -> Attributes {
        let label = installation.filter(|_| self.installation);
        Attributes::new().maybe("suite.installation", label.map(str::to_owned))
    }

    fn active(&self, call: &ObservedCall<'_>, change: i64) {
        let attributes = self.of(call.installation);
        let attributes = attributes.add("suite.application", call.operation.application.name());
        self.instruments.active.add(change, attributes.as_slice());
    }
}

fn record(histogram: &Seconds, duration: Duration, attributes: &Attributes) {
    histogram.record(duration.as_secs_f64(), attributes.as_slice());
}

impl Observer for Metrics {
    fn call_started(&self, call: &ObservedCall<'_>) {
        self.active(call, 1);
    }

    fn call_ended(&self, ended: &CallEnded<'_>) {
        self.active(&ended.call, -1);
        let operation = ended.call.operation;
        let attributes = self
            .of(ended.call.installation)
            .add("suite.application", operation.application.name())
            .add("suite.operation", operation.id)
            .add("suite.outcome", ended.outcome.as_str())
            .maybe("suite.effect", ended.effect.map(Effect::as_str))
            .maybe("error.type", ended.error_type.map(str::to_owned));
        record(&self.instruments.calls, ended.duration(), &attributes);
        let count = |counter: &Count| {
            let attributes = self.of(ended.call.installation);
            let attributes = attributes.add("suite.operation", operation.id);
            counter.add(1, attributes.as_slice());
        };
        if ended.replayed() {
            count(&self.instruments.replayed);
        }
        if ended.schema_mismatch {
            count(&self.instruments.mismatches);
        }
    }

    fn attempt_ended(&self, ended: &AttemptEnded<'_>) {
        let attempt = &ended.attempt;
        let template = self.url_template.then(|| match attempt.call {
            Some(call) => call.operation.route.into(),
            None => StringValue::from(attempt.template.to_owned()),
        });
        let attributes = self
            .of(attempt.installation)
            .add("http.request.method", attempt.method.as_str())
            .add("server.address", Arc::clone(attempt.server_address))
            .add("server.port", i64::from(attempt.server_port))
            .maybe("http.response.status_code", ended.status.map(i64::from))
            .maybe("network.protocol.version", ended.protocol_version)
            .maybe("error.type", ended.error_type.map(str::to_owned))
            .maybe("url.template", template.map(Value::String));
        record(&self.instruments.attempts, ended.duration, &attributes);
    }

    fn waited(&self, wait: &Wait<'_>) {
        let attributes = self
            .of(wait.installation)
            .add("suite.application", wait.application.name())
            .add("suite.wait.reason", wait.reason.as_str());
        record(&self.instruments.waits, wait.duration, &attributes);
    }

    fn retrying(&self, retry: &Retry<'_>) {
        let attributes = self
            .of(retry.call.installation)
            .add("suite.operation", retry.call.operation.id)
            .add("suite.retry.reason", retry.error_type.to_owned());
        self.instruments.retries.add(1, attributes.as_slice());
    }

    fn retry_denied(&self, denied: &RetryDenied<'_>) {
        let application = denied.call.operation.application;
        let attributes = self
            .of(denied.call.installation)
            .add("suite.application", application.name())
            .add("suite.retry.denied_by", denied.reason.as_str());
        self.instruments.denied.add(1, attributes.as_slice());
    }

    fn token_renewed(&self, renewal: &Renewal<'_>) {
        let application = renewal.application.map(App::name);
        let attributes = self
            .of(renewal.installation)
            .maybe("suite.application", application)
            .maybe("error.type", renewal.error_type.map(str::to_owned));
        record(&self.instruments.renewals, renewal.duration, &attributes);
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics")
            .field("url_template", &self.url_template)
            .field("installation", &self.installation)
            .finish_non_exhaustive()
    }
}
