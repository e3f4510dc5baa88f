//! What everybody in a world shares: the record of what happened, the clock, the numbers and the counts.

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
use super::{Totals, World};

/// The stage of one world. It runs on one thread, so nobody ever waits for its locks.
pub(super) struct Stage {
    began: Instant,
    history: Mutex<History>,
    totals: Mutex<Totals>,
    numbers: [AtomicU64; Number::ALL],
    calm: AtomicBool,
    /// The lines so far, if this world keeps any.
    lines: Mutex<HashSet<String>>,
    pub(super) world: World,
    /// The calls that a broken SDK lets through.
    pub(super) turns: Semaphore,
    /// The tokens that a broken SDK keeps, by suite and host.
    pub(super) first_tokens: Mutex<HashMap<String, HeaderValue>>,
    /// The steps that are left: each record is one, and each time that a call is polled.
    left: AtomicU64,
    /// Notified when none is left.
    pub(super) stuck: Notify,
}

/// What is numbered.
#[derive(Clone, Copy)]
pub(super) enum Number {
    Request,
    Suite,
    Call,
    Walk,
    Command,
    Token,
    Caller,
}

impl Number {
    const ALL: usize = 7;
}

impl Stage {
    pub(super) fn new(world: World) -> Arc<Self> {
        Arc::new(Self {
            began: Instant::now(),
            history: Mutex::default(),
            totals: Mutex::default(),
            numbers: Default::default(),
            calm: AtomicBool::new(false),
            lines: Mutex::default(),
            world,
            turns: Semaphore::new(if world.sdk == Sdk::TenAtATime { 10 } else { 1 }),
            first_tokens: Mutex::default(),
            left: world.steps().into(),
            stuck: Notify::new(),
        })
    }

    /// Time since the world began.
    pub(super) fn now(&self) -> Micros {
        micros(self.began.elapsed())
    }

    /// Takes a step. False if none is left.
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

    /// Whether no step is left: nothing more is called or sent.
    pub(super) fn is_stuck(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
    }

    /// The next number of its kind, from 1.
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

    /// Whether nothing goes wrong any more, and nobody begins anything new.
    pub(super) fn is_calm(&self) -> bool {
        self.calm.load(Ordering::Relaxed)
    }

    pub(super) fn calm(&self) {
        self.record(Event::Calm);
        self.calm.store(true, Ordering::Relaxed);
    }

    /// Keeps each line once, if this world keeps any.
    pub(super) fn log(&self, text: &dyn fmt::Display) {
        if !self.world.logged {
            return;
        }
        for line in text.to_string().lines().map(str::trim_end) {
            let line = line.to_owned();
            if locked(&self.lines).insert(line.clone()) {
                self.record(Event::Logged { line });
            }
        }
    }

    /// Keeps a secret that no line may show.
    pub(super) fn confide(&self, text: &str) {
        if self.world.logged {
            let text = text.to_owned();
            self.record(Event::Secret { text });
        }
    }

    /// Everything that happened, once.
    pub(super) fn end(&self) -> (History, Totals) {
        (
            take(&mut locked(&self.history)),
            take(&mut locked(&self.totals)),
        )
    }
}

/// The content of a lock that nobody holds for long.
pub(super) fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn micros(time: Duration) -> Micros {
    u64::try_from(time.as_micros()).unwrap_or(Micros::MAX)
}

/// A digest of bytes, never 0.
pub(super) fn digest(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish().max(1)
}

/// Keeps all that this thread logs, at every level, until the guard is dropped.
pub(super) fn keep_lines(stage: &Arc<Stage>) -> DefaultGuard {
    // While there is only one subscriber, one thread decides for all whether an event is wanted.
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

/// Takes one event at a time, whole.
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
