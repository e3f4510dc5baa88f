//! The state that all parts of a simulation share: history, clock, numbers and counts.

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::{Hash as _, Hasher as _};
use std::io::{self, Write};
use std::mem::take;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use http::HeaderValue;
use suite_checker::{Event, History, Micros};
use tokio::sync::{Notify, Semaphore};
use tokio::time::Instant;
use tracing::level_filters::LevelFilter;
use tracing::subscriber::DefaultGuard;
use tracing::{Dispatch, dispatcher};

use super::broken::Sdk;
use super::{Simulation, Totals};

/// The shared state of one simulation, which runs on one thread, so its locks are never contended.
pub(super) struct Stage {
    began: Instant,
    history: Mutex<History>,
    totals: Mutex<Totals>,
    numbers: [AtomicU64; Number::ALL],
    calm: AtomicBool,
    /// The recorded lines, if this simulation records any.
    lines: Mutex<HashSet<String>>,
    pub(super) simulation: Simulation,
    /// The number of calls that a broken SDK allows.
    pub(super) turns: Semaphore,
    /// The tokens that a broken SDK keeps using, by suite and host.
    pub(super) first_tokens: Mutex<HashMap<String, HeaderValue>>,
    /// The number of remaining steps. Each event and each poll of a call is a step.
    left: AtomicU64,
    /// Notified when no step is left.
    pub(super) stuck: Notify,
}

/// The kinds of items with numbers.
#[derive(Clone, Copy)]
pub(super) enum Number {
    Request,
    Suite,
    Call,
    Listing,
    Command,
    Token,
    Caller,
}

impl Number {
    const ALL: usize = 7;
}

impl Stage {
    pub(super) fn new(simulation: Simulation) -> Arc<Self> {
        Arc::new(Self {
            began: Instant::now(),
            history: Mutex::default(),
            totals: Mutex::default(),
            numbers: Default::default(),
            calm: AtomicBool::new(false),
            lines: Mutex::default(),
            simulation,
            turns: Semaphore::new(if simulation.sdk == Sdk::TenAtATime {
                10
            } else {
                1
            }),
            first_tokens: Mutex::default(),
            left: simulation.steps().into(),
            stuck: Notify::new(),
        })
    }

    pub(super) fn now(&self) -> Micros {
        micros(self.began.elapsed())
    }

    /// Uses a step. Returns false if no step is left.
    pub(super) fn step(&self) -> bool {
        let left = self.left.load(Ordering::Relaxed);
        self.left.store(left.saturating_sub(1), Ordering::Relaxed);
        if left == 0 {
            self.stuck.notify_one();
        }
        left > 0
    }

    pub(super) fn record(&self, event: Event) {
        self.step();
        locked(&self.history).record(self.now(), event);
    }

    /// Returns whether no step is left. If so, no call or request starts any more.
    pub(super) fn is_stuck(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
    }

    /// Returns the next number of its kind, starting with 1.
    pub(super) fn next(&self, number: Number) -> u64 {
        self.numbers[number as usize].fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(super) fn next_suite(&self) -> u32 {
        u32::try_from(self.next(Number::Suite)).unwrap_or(u32::MAX)
    }

    pub(super) fn requests(&self) -> u64 {
        self.numbers[Number::Request as usize].load(Ordering::Relaxed)
    }

    pub(super) fn count(&self, name: &'static str) {
        *locked(&self.totals).entry(name).or_default() += 1;
    }

    /// Returns whether there are no more faults and no new work starts.
    pub(super) fn is_calm(&self) -> bool {
        self.calm.load(Ordering::Relaxed)
    }

    pub(super) fn calm(&self) {
        self.record(Event::Calm);
        self.calm.store(true, Ordering::Relaxed);
    }

    /// Records each line once, if this simulation records lines.
    pub(super) fn log(&self, text: &dyn fmt::Display) {
        if !self.simulation.logged {
            return;
        }
        for line in text.to_string().lines().map(str::trim_end) {
            let line = line.to_owned();
            if locked(&self.lines).insert(line.clone()) {
                self.record(Event::Logged { line });
            }
        }
    }

    /// Records a secret that no line may contain.
    pub(super) fn confide(&self, text: &str) {
        if self.simulation.logged {
            let text = text.to_owned();
            self.record(Event::Secret { text });
        }
    }

    pub(super) fn end(&self) -> (History, Totals) {
        (
            take(&mut locked(&self.history)),
            take(&mut locked(&self.totals)),
        )
    }
}

pub(super) fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn micros(time: Duration) -> Micros {
    u64::try_from(time.as_micros()).unwrap_or(Micros::MAX)
}

/// Returns a digest of bytes that is never 0.
pub(super) fn digest(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish().max(1)
}

/// Records all log lines of this thread, at every level, until the guard is dropped.
pub(super) fn keep_lines(stage: &Arc<Stage>) -> DefaultGuard {
    // With one subscriber, the interest in an event is decided once for all threads. A second prevents this.
    static SECOND: OnceLock<Dispatch> = OnceLock::new();
    SECOND.get_or_init(|| dispatch(io::sink));
    let stage = Arc::clone(stage);
    dispatcher::set_default(&dispatch(move || Lines(Arc::clone(&stage))))
}

fn dispatch<W: Write>(writer: impl Fn() -> W + Send + Sync + 'static) -> Dispatch {
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::TRACE)
        .with_ansi(false)
        .without_time()
        .with_writer(writer);
    Dispatch::new(subscriber.finish())
}

/// Receives one complete log event per write.
struct Lines(Arc<Stage>);

impl Write for Lines {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.0.log(&String::from_utf8_lossy(text));
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
