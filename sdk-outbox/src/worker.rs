//! The worker: claims commands, sends them, and records the results.

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

/// The longest that a setting may be.
const DAY: Duration = Duration::from_secs(24 * 3600);

/// How often the status is read for [`Worker::on_status`].
const STATUS_INTERVAL: Duration = Duration::from_secs(30);

/// The time for recording results after the time for sending is over.
const SETTLING: Duration = Duration::from_secs(3);

type OnStatus = dyn Fn(&Status) + Send + Sync;

/// Sends the commands of an [`Outbox`].
///
/// On PostgreSQL, any number of processes can each run a worker. On SQLite, run one per file.
///
/// Each sender, that is, each application of an installation, has its own in-flight slots and its own pause: after a failure
/// that may pass, the worker claims nothing for this sender for a second, and longer after each further failure, a minute at
/// most. Then it tries one command. So an installation that is down or slow delays no other.
///
/// The worker reports through `tracing`: commands that it parks, senders that it pauses, and failures of the database are
/// warnings of the target `sdk_outbox`. No event contains a part of a body or a key.
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
    /// A worker without senders.
    pub fn new(outbox: Outbox<S>) -> Self {
        Self {
            outbox,
            senders: Vec::new(),
            per_installation: 4,
            // Often enough that nobody waits for it, and rarely enough for a database that does other work.
            poll: Duration::from_millis(200),
            // Three quarters of it are for the call, which is its usual deadline.
            lease: Duration::from_secs(40),
            // Kubernetes kills a process after 30.
            shutdown_time: Duration::from_secs(25),
            rule: StoredRule::default(),
            check: None,
            on_status: None,
        }
    }

    /// Adds a client, or replaces that of the same application and installation. It sends the commands of both, by the
    /// [label](sdk_core::SuiteBuilder::label) of its suite. The worker leaves all other commands to other processes.
    pub fn sender(mut self, client: impl PreparedSender) -> Self {
        self.senders.push(Arc::new(client));
        self
    }

    /// Sets how many commands of each sender are in flight at the same time, at least one; 4 by default.
    pub fn per_installation(mut self, commands: usize) -> Self {
        self.per_installation = commands.clamp(1, Semaphore::MAX_PERMITS);
        self
    }

    /// Sets the polling interval, at most a day; 200 ms by default. [`Outbox::wake`] ends it early.
    pub fn poll(mut self, time: Duration) -> Self {
        self.poll = time.clamp(Duration::from_millis(1), DAY);
        self
    }

    /// Sets how long a command belongs to the worker that claimed it, a second to a day; 40 seconds by default. The deadline of
    /// each call is three quarters of it, whatever the client's own deadline is. If the worker dies, another one takes over
    /// after this time.
    pub fn lease(mut self, time: Duration) -> Self {
        self.lease = time.clamp(Duration::from_secs(1), DAY);
        self
    }

    /// Sets how long [`run`](Self::run) waits for calls in flight at its end; 25 seconds by default. Recording their results may take
    /// 3 seconds more, and Kubernetes gives a process 30. A call that takes longer is dropped: its effect is unknown, and the rule
    /// decides what follows.
    pub fn shutdown_time(mut self, time: Duration) -> Self {
        self.shutdown_time = time;
        self
    }

    /// Sets the rule for resending and parking.
    pub fn rule(mut self, rule: StoredRule) -> Self {
        self.rule = rule;
        self
    }

    /// Sets a check that runs right before each attempt to send. If it returns an error, the command is parked with the reason
    /// `check_failed`, and the error is its note. The same happens if it panics, or takes longer than three quarters of the lease.
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

    /// Sets a function that receives the status of the outbox every 30 seconds while the worker runs, such as for gauges.
    pub fn on_status(mut self, receive: impl Fn(&Status) + Send + Sync + 'static) -> Self {
        self.on_status = Some(Arc::new(receive));
        self
    }

    /// Sends commands until `shutdown` completes: a cancellation token, Ctrl-C, or the end of the service. Then it claims
    /// nothing more, waits for the calls in flight, and records their results.
    ///
    /// It survives the loss of its database, and continues when the database is back. If this future is dropped, commands in
    /// flight stay leased; after their lease, the rule decides what follows.
    ///
    /// # Errors
    /// If the database rejects a statement permanently, such as for a read-only file or a missing privilege.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> Result<(), Error> {
        let (stop, stopped) = watch::channel(false);
        let mut running = Running::new(self, stopped);
        // Remembers when it completed, and is not polled again.
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
                    // Not dropped in the middle: what it claims would stay leased.
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

/// A worker that runs.
struct Running<S> {
    worker: Worker<S>,
    slots: Vec<Slot>,
    /// Each ends with the slot in which another command of its lane may be ready now.
    sends: JoinSet<Option<usize>>,
    stopped: watch::Receiver<bool>,
    /// When the store is maintained again, and every sender may find something again.
    tick: Instant,
    /// How often the database failed in a row.
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

    /// Waits until there may be something to do.
    async fn wait(&mut self) {
        tokio::select! {
            () = sleep_until(self.tick) => {}
            // Not while the database is left alone.
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
            // If there are more, others get their turn in between.
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

    /// Reads the status in a task of its own: it takes time, and the caller's function may panic.
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

    /// Gives back what was claimed too late to be sent.
    async fn release(&self, claims: &[Claim]) {
        let store = &self.worker.outbox.store;
        for claim in claims {
            if let Err(error) = store.settle(claim, &Settlement::released(claim)).await {
                tracing::warn!(target: "sdk_outbox", id = claim.command.id, %error, "can't release the command; its lease expires later");
            }
        }
    }

    /// Leaves the database alone for a while.
    fn database_failed(&mut self, error: &Error) {
        tracing::warn!(target: "sdk_outbox", %error, "the outbox's database failed");
        self.failures = self.failures.saturating_add(1);
        let backoff = Backoff::new(self.worker.poll, MAX_PAUSE);
        self.tick = Instant::now() + backoff.half_jitter(self.failures, fastrand::f64());
        for slot in &mut self.slots {
            slot.is_drained = true;
        }
    }

    /// Waits for what is in flight, drops what takes too long, and records both.
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
