//! Gauges for stored commands.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::metrics::MeterProvider;
use sdk_outbox::{State, Status};
use tokio::time::Instant;

/// Four times the interval at which a worker reads the status.
const MAX_AGE: Duration = Duration::from_secs(120);

/// Gauges that export the status of an outbox. Clones share them.
///
/// Record each status that [`Worker::on_status`](sdk_outbox::Worker::on_status) receives:
///
/// ```
/// use opentelemetry::metrics::MeterProvider;
/// use sdk_opentelemetry::OutboxGauges;
/// use sdk_outbox::{Store, Worker};
///
/// fn watched<S: Store>(worker: Worker<S>, provider: &dyn MeterProvider) -> Worker<S> {
///     let gauges = OutboxGauges::new(provider);
///     worker.on_status(move |status| gauges.record(status))
/// }
/// ```
///
/// Two minutes after the last status, the gauges stop exporting values, because the worker has ended or can't reach its
/// database. If several processes share a database, each exports the whole status. Take the maximum, not the sum.
#[derive(Clone)]
pub struct OutboxGauges(Arc<Mutex<Last>>);

/// The last status.
struct Last {
    at: Option<Instant>,
    oldest: Duration,
    /// Counts by state and reason. Entries are never removed, so that their gauges return to 0.
    commands: BTreeMap<(&'static str, Option<String>), u64>,
}

impl OutboxGauges {
    /// Creates the gauges on a meter of this provider.
    ///
    /// Create only one `OutboxGauges` per provider. A second instance would overwrite the values of the first.
    #[must_use]
    pub fn new(provider: &(impl MeterProvider + ?Sized)) -> Self {
        let states = State::ALL.map(|state| ((state.as_str(), None), 0));
        let gauges = Self(Arc::new(Mutex::new(Last {
            at: None,
            oldest: Duration::ZERO,
            commands: states.into(),
        })));
        let meter = crate::meter(provider);
        let read = gauges.clone();
        // The meter owns the callbacks, so the instruments can be dropped.
        let _instrument = meter
            .u64_observable_gauge("suite.outbox.commands")
            .with_unit("{command}")
            .with_description("Stored commands by state.")
            .with_callback(move |observer| {
                let last = read.last();
                for ((state, reason), commands) in last.current().flat_map(|it| &it.commands) {
                    let mut attributes = vec![KeyValue::new("suite.outbox.state", *state)];
                    attributes.extend(crate::maybe("suite.outbox.park.reason", reason.clone()));
                    observer.observe(*commands, &attributes);
                }
            })
            .build();
        let read = gauges.clone();
        let _instrument = meter
            .f64_observable_gauge("suite.outbox.oldest.age")
            .with_unit("s")
            .with_description("Age of the oldest unsent command.")
            .with_callback(move |observer| {
                for last in read.last().current() {
                    observer.observe(last.oldest.as_secs_f64(), &[]);
                }
            })
            .build();
        gauges
    }

    /// Sets the gauges to this status.
    pub fn record(&self, status: &Status) {
        let mut last = self.last();
        last.at = Some(Instant::now());
        last.oldest = status.oldest.as_ref().map_or(Duration::ZERO, |it| it.age);
        last.commands
            .values_mut()
            .for_each(|commands| *commands = 0);
        for count in &status.counts {
            // A dropped command may still have the reason why it was parked.
            let reason = count
                .reason
                .clone()
                .filter(|_| count.state == State::Parked);
            let commands = last.commands.entry((count.state.as_str(), reason));
            *commands.or_default() += count.commands;
        }
    }

    fn last(&self) -> MutexGuard<'_, Last> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Last {
    /// Returns the status, unless it is outdated.
    fn current(&self) -> impl Iterator<Item = &Self> {
        let is_current = self.at.is_some_and(|at| at.elapsed() < MAX_AGE);
        is_current.then_some(self).into_iter()
    }
}

impl fmt::Debug for OutboxGauges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutboxGauges").finish_non_exhaustive()
    }
}
