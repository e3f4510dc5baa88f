//! The worker, which claims commands, sends them, and records the results.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use sdk_core::{Backoff, PreparedCommand, PreparedSender};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use crate::entry::{Status, StoredCommand};
use crate::error::Error;
use crate::outbox::Outbox;
use crate::rule::StoredRule;
use crate::send::{Check, Sending};
use crate::slot::{MAX_PAUSE, Slot};
use crate::store::{Claim, Settlement, Store, Wanted};

/// The upper limit of time settings.
const DAY: Duration = Duration::from_secs(24 * 3600);

/// The interval at which the worker reads the status for [`Worker::on_status`].
const STATUS_INTERVAL: Duration = Duration::from_secs(30);

/// The time for recording results after the shutdown time.
const SETTLING: Duration = Duration::from_secs(3);

type OnStatus = dyn Fn(&Status) + Send + Sync;

/// Sends the commands of an [`Outbox`].
///
/// On PostgreSQL, any number of processes can each run a worker. On SQLite, run one worker per file.
///
/// A sender is a client for one application of one installation. Each sender has its own in-flight slots and its own
/// pause. After a temporary failure, the worker claims no commands for this sender for a second, then tries one
/// command. After each further failure, the pause grows, up to a minute. An application that is down or slow therefore
/// delays no other sender.
///
/// The worker logs parked commands, paused senders and database failures through `tracing`, as warnings with the target
/// `sdk_outbox`. No event contains a part of a body or a key.
#[must_use = "a worker does nothing until it runs"]
pub struct Worker<S> {
    outbox: Outbox<S>,
    senders: Vec<Arc<dyn PreparedSender>>,
    per_installation: usize,
    poll: Duration,
    lease: Duration,
    shutdown_time: Duration,
    rule: StoredRule,
    check: Option<Arc<Check>>,
    on_status: Option<Arc<OnStatus>>,
}

impl<S: Store> Worker<S> {
    /// Creates a worker without senders.
    pub fn new(outbox: Outbox<S>) -> Self {
        Self {
            outbox,
            senders: Vec::new(),
            per_installation: 4,
            // Few users notice a delay of 200 ms, and five polls per second are a small load for a shared database.
            poll: Duration::from_millis(200),
            // A call gets three quarters of the lease: 30 seconds, the default deadline of a call.
            lease: Duration::from_secs(40),
            // Kubernetes kills a process after 30 seconds by default.
            shutdown_time: Duration::from_secs(25),
            rule: StoredRule::default(),
            check: None,
            on_status: None,
        }
    }

    /// Adds a client as a sender. It replaces an earlier client for the same application and installation.
    ///
    /// The client sends commands for its application whose installation is the [label](sdk_core::SuiteBuilder::label)
    /// of the client's suite. The worker claims no other commands, so that other processes can send them.
    pub fn sender(mut self, client: impl PreparedSender) -> Self {
        self.senders.push(Arc::new(client));
        self
    }

    /// Sets the number of commands that each sender has in flight at the same time. The minimum is 1, and the default
    /// is 4.
    pub fn per_installation(mut self, commands: usize) -> Self {
        self.per_installation = commands.clamp(1, Semaphore::MAX_PERMITS);
        self
    }

    /// Sets the polling interval. The default is 200 ms, and the maximum is a day. [`Outbox::wake`] ends the interval
    /// early.
    pub fn poll(mut self, time: Duration) -> Self {
        self.poll = time.clamp(Duration::from_millis(1), DAY);
        self
    }

    /// Sets how long a command belongs to the worker that claimed it, from a second to a day. The default is 40
    /// seconds.
    ///
    /// The deadline of each call is three quarters of the lease, and replaces the client's own deadline. If the worker
    /// dies, another worker takes over after this time.
    pub fn lease(mut self, time: Duration) -> Self {
        self.lease = time.clamp(Duration::from_secs(1), DAY);
        self
    }

    /// Sets how long [`run`](Self::run) waits for calls in flight at its end. The default is 25 seconds.
    ///
    /// After this time, the worker drops the remaining calls. Their effect is unknown, and the rule decides the next
    /// step. Recording the results may take 3 more seconds. Keep the sum below the grace period of your orchestrator,
    /// which is 30 seconds by default in Kubernetes.
    pub fn shutdown_time(mut self, time: Duration) -> Self {
        self.shutdown_time = time;
        self
    }

    /// Sets the rule that decides about resending and parking.
    pub fn rule(mut self, rule: StoredRule) -> Self {
        self.rule = rule;
        self
    }

    /// Sets a check that runs right before each attempt.
    ///
    /// If the check returns an error, the worker parks the command with the reason `check_failed` and the error as its
    /// note. The same happens if the check panics, or takes longer than three quarters of the lease.
    ///
    /// ```
    /// # fn example(worker: sdk_outbox::Worker<impl sdk_outbox::Store>) {
    /// let worker = worker.before_send(|stored, command| async move {
    ///     if command.body().len() > 100_000 {
    ///         return Err(format!("{:?} is too long", stored.reference));
    ///     }
    ///     Ok(())
    /// });
    /// # }
    /// ```
    pub fn before_send<F>(
        mut self,
        check: impl Fn(StoredCommand, PreparedCommand) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        self.check = Some(Arc::new(move |stored, command| {
            Box::pin(check(stored, command))
        }));
        self
    }

    /// Sets a function that receives the status of the outbox every 30 seconds while the worker runs, for example for
    /// gauges.
    pub fn on_status(mut self, receive: impl Fn(&Status) + Send + Sync + 'static) -> Self {
        self.on_status = Some(Arc::new(receive));
        self
    }

    /// Sends commands until the future `shutdown` completes, for example Ctrl-C or a cancellation token.
    ///
    /// After that, the worker claims no more commands, waits for the calls in flight, and records their results.
    ///
    /// If the database is unavailable, the worker continues as soon as it is back. If you drop this future, commands in
    /// flight stay leased until their leases expire. Then the rule decides the next step.
    ///
    /// # Errors
    /// If the database rejects a statement permanently, for example because of a read-only file or a missing privilege.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> Result<(), Error> {
        let (stop, stopped) = watch::channel(false);
        let mut running = Running::new(self, stopped);
        // Returns the time of completion, and must not be polled again.
        let shutdown = async {
            shutdown.await;
            Instant::now()
        };
        let mut shutdown = pin!(shutdown);
        let (ended, since) = loop {
            tokio::select! {
                biased;
                since = &mut shutdown => break (Ok(()), since),
                () = running.wait() => {}
            }
            let (claimed, over) = {
                let mut claiming = pin!(running.claim());
                tokio::select! {
                    biased;
                    claimed = &mut claiming => (claimed, None),
                    // The claim is not dropped, because the claimed commands would stay leased.
                    since = &mut shutdown => {
                        let claimed = timeout(SETTLING, claiming).await;
                        (claimed.unwrap_or_else(|_| Ok(Vec::new())), Some(since))
                    }
                }
            };
            match claimed {
                Ok(claims) if over.is_some() => {
                    drop(timeout(SETTLING, running.release(&claims)).await);
                }
                Ok(claims) => running.start(claims),
                Err(error) if error.is_transient() => running.database_failed(&error),
                Err(error) => break (Err(error), over.unwrap_or_else(Instant::now)),
            }
            if let Some(since) = over {
                break (Ok(()), since);
            }
        };
        running.end(&stop, since).await;
        ended
    }
}

impl<S> fmt::Debug for Worker<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker")
            .field("senders", &self.senders.len())
            .field("per_installation", &self.per_installation)
            .field("poll", &self.poll)
            .field("lease", &self.lease)
            .field("shutdown_time", &self.shutdown_time)
            .field("rule", &self.rule)
            .finish_non_exhaustive()
    }
}

struct Running<S> {
    worker: Worker<S>,
    slots: Vec<Slot>,
    /// Tasks that send commands. Each returns the slot in which the next command of its lane may be ready now.
    sends: JoinSet<Option<usize>>,
    stopped: watch::Receiver<bool>,
    /// The time of the next maintenance, after which every sender may find commands again.
    tick: Instant,
    failures: u32,
    next_status: Instant,
}

impl<S: Store> Running<S> {
    fn new(worker: Worker<S>, stopped: watch::Receiver<bool>) -> Self {
        let mut slots: Vec<Slot> = Vec::new();
        for sender in &worker.senders {
            let slot = Slot::new(Arc::clone(sender), worker.per_installation);
            slots.retain(|other| !other.takes(slot.application, &slot.installation));
            slots.push(slot);
        }
        Self {
            worker,
            slots,
            sends: JoinSet::new(),
            stopped,
            tick: Instant::now(),
            failures: 0,
            next_status: Instant::now(),
        }
    }

    async fn wait(&mut self) {
        tokio::select! {
            () = sleep_until(self.tick) => {}
            // A wake doesn't end the pause after a database failure.
            () = self.worker.outbox.woken.notified(), if self.failures == 0 => self.tick = Instant::now(),
            Some(ended) = self.sends.join_next() => match ended {
                Ok(Some(slot)) => self.slots[slot].is_drained = false,
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(target: "sdk_outbox", %error, "a task panicked; if it was sending, its command stays leased until its lease expires");
                }
            },
        }
    }

    /// Claims as many commands as the senders have free slots.
    async fn claim(&mut self) -> Result<Vec<Claim>, Error> {
        let now = Instant::now();
        let store = &self.worker.outbox.store;
        if now >= self.tick {
            // If there are more new commands, the worker sends commands in between.
            let has_more = store.maintain().await?;
            self.failures = 0;
            self.tick = if has_more {
                now
            } else {
                now + self.worker.poll
            };
            for slot in &mut self.slots {
                slot.is_drained = false;
            }
        }
        if now >= self.next_status {
            self.next_status = now + STATUS_INTERVAL;
            self.report_status();
        }
        let store = &self.worker.outbox.store;
        let slots = self.slots.iter().enumerate();
        let wanted: Vec<Wanted> = slots.filter_map(|(at, slot)| slot.wanted(at)).collect();
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let claims = store.claim(&wanted, self.worker.lease).await?;
        let mut found = vec![0; self.slots.len()];
        for claim in &claims {
            found[claim.index] += 1;
        }
        for wanted in wanted {
            self.slots[wanted.index].is_drained = found[wanted.index] < wanted.free;
        }
        Ok(claims)
    }

    /// Reads the status in a separate task, because this takes time and the caller's function may panic.
    fn report_status(&mut self) {
        let Some(receive) = self.worker.on_status.clone() else {
            return;
        };
        let store = self.worker.outbox.store.clone();
        self.sends.spawn(async move {
            match store.status().await {
                Ok(status) => receive(&status),
                Err(error) => {
                    tracing::warn!(target: "sdk_outbox", %error, "can't read the status");
                }
            }
            None
        });
    }

    fn start(&mut self, claims: Vec<Claim>) {
        for claim in claims {
            let slot = &self.slots[claim.index];
            let permit = slot.permit();
            let continues = claim.command.lane.is_some().then_some(claim.index);
            let sending = Sending {
                store: self.worker.outbox.store.clone(),
                sender: Arc::clone(&slot.sender),
                health: slot.health.clone(),
                rule: self.worker.rule,
                check: self.worker.check.clone(),
                poll: self.worker.poll,
                stopped: self.stopped.clone(),
                claim,
            };
            self.sends.spawn(async move {
                sending.run().await;
                drop(permit);
                continues
            });
        }
    }

    /// Releases commands that were claimed after the shutdown began.
    async fn release(&self, claims: &[Claim]) {
        let store = &self.worker.outbox.store;
        for claim in claims {
            if let Err(error) = store.settle(claim, &Settlement::released(claim)).await {
                tracing::warn!(target: "sdk_outbox", id = claim.command.id, %error, "can't release the command; its lease expires later");
            }
        }
    }

    fn database_failed(&mut self, error: &Error) {
        tracing::warn!(target: "sdk_outbox", %error, "the outbox's database failed");
        self.failures = self.failures.saturating_add(1);
        let backoff = Backoff::new(self.worker.poll, MAX_PAUSE);
        self.tick = Instant::now() + backoff.half_jitter(self.failures, fastrand::f64());
        for slot in &mut self.slots {
            slot.is_drained = true;
        }
    }

    /// Waits for the calls in flight, drops the calls that take too long, and records all results.
    async fn end(&mut self, stop: &watch::Sender<bool>, since: Instant) {
        let all = async |sends: &mut JoinSet<_>| while sends.join_next().await.is_some() {};
        let left = self.worker.shutdown_time.saturating_sub(since.elapsed());
        if timeout(left, all(&mut self.sends)).await.is_err() {
            stop.send_replace(true);
            if timeout(SETTLING, all(&mut self.sends)).await.is_err() {
                tracing::warn!(target: "sdk_outbox", commands = self.sends.len(), "some results were not recorded; their leases expire later");
            }
        }
    }
}
