//! Sends one claimed command, from the caller's check to the recorded result.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use sdk_core::{Effect, ErrorKind, PreparedCommand, PreparedSender};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::entry::{StoredCommand, StoredReceipt};
use crate::error::Error;
use crate::rule::{ParkReason, StoredRule, StoredStep};
use crate::slot::Health;
use crate::state::{StoredOutcome, StoredState};
use crate::steps::{self, reached};
use crate::store::{Claim, Settlement, Store};

/// The caller's check, which runs right before a command is sent.
pub(crate) type Check = dyn Fn(StoredCommand, PreparedCommand) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send>>
    + Send
    + Sync;

/// A claim, and the parts of the worker that send it.
pub(crate) struct Sending<S> {
    pub(crate) store: S,
    pub(crate) sender: Arc<dyn PreparedSender>,
    pub(crate) health: Health,
    pub(crate) rule: StoredRule,
    pub(crate) check: Option<Arc<Check>>,
    pub(crate) poll: Duration,
    /// Whether the worker's time for sending is over.
    pub(crate) stopped: watch::Receiver<bool>,
    pub(crate) claim: Claim,
}

impl<S: Store> Sending<S> {
    pub(crate) async fn run(mut self) {
        reached(if self.claim.lease_expired {
            "expired lease claimed"
        } else {
            "claimed"
        });
        let settlement = self.send().await;
        let [before, after] = steps::of(&self.claim, &settlement);
        reached(before);
        let is_recorded = self.settle(settlement).await;
        reached(if is_recorded { after } else { "not recorded" });
    }

    async fn send(&self) -> Settlement {
        let mut stopped = self.stopped.clone();
        let command = match self.claim.command.prepared() {
            Ok(command) => command,
            Err(error) => return self.parked("unreadable", error),
        };
        let state = self.claim.state(&command);
        match self.rule.next(&state, self.claim.at) {
            StoredStep::Park(reason) => return self.parked(reason.as_str(), reason.to_string()),
            StoredStep::Send => {}
            StoredStep::SendAt(_) | StoredStep::Done => unreachable!("it has no outcome yet"),
        }
        if let Some(check) = self.check.clone() {
            tokio::select! {
                checked = self.checked(check, &command) => if let Err(error) = checked {
                    return self.parked("check_failed", error);
                },
                _ = stopped.wait_for(|stopped| *stopped) => return Settlement::released(&self.claim),
            }
        }
        // The lease is checked here, because the caller's check and a suspended machine take time.
        let limit = self.claim.lease.left_for_sending();
        if limit.is_zero() || *stopped.borrow() {
            return Settlement::released(&self.claim);
        }
        reached("before it is sent");
        let call = self.sender.send_prepared(&command).deadline(limit).send();
        let sent = tokio::select! {
            sent = call => sent.map_err(|error| (StoredOutcome::from(&error), error.to_string())),
            _ = stopped.wait_for(|stopped| *stopped) => Err(dropped()),
        };
        match sent {
            Err((outcome, note)) => {
                let attempts = self.claim.command.attempts + 1;
                let state = state.with_attempts(attempts).with_outcome(outcome);
                self.failed(&state, note)
            }
            Ok(receipt) => {
                self.health.responded();
                let receipt = StoredReceipt {
                    http_status: receipt.http_status(),
                    replayed: receipt.is_replay(),
                    body: String::from_utf8_lossy(receipt.bytes()).into_owned(),
                };
                Settlement::done(&self.claim, receipt)
            }
        }
    }

    /// Runs the caller's check for as long as the command can still be sent. It runs in a task, because it may panic.
    async fn checked(&self, check: Arc<Check>, command: &PreparedCommand) -> Result<(), String> {
        let (stored, command) = (self.claim.command.clone(), command.clone());
        let mut task = JoinSet::new();
        task.spawn(async move { check(stored, command).await });
        match timeout(self.claim.lease.left_for_sending(), task.join_next()).await {
            Ok(Some(Ok(checked))) => checked,
            Ok(_) => Err("the check panicked".to_owned()),
            Err(_) => Err("the check took longer than the lease allows".to_owned()),
        }
    }

    fn failed(&self, state: &StoredState, note: String) -> Settlement {
        let id = self.claim.command.id;
        // The claim recorded this time. The current time is later, because the worker may have waited for the claim.
        let first_sent = state.first_sent_after(self.claim.at);
        let asked = match state.outcome {
            Some(StoredOutcome::Failed { retry_after, .. }) => retry_after.unwrap_or_default(),
            _ => Duration::ZERO,
        };
        match self.rule.next(state, self.claim.now()) {
            StoredStep::Park(why) => {
                match why {
                    // Nothing was sent, so it's still unknown whether the application is healthy.
                    ParkReason::Refused {
                        kind: ErrorKind::InvalidInput | ErrorKind::PreparedCommand,
                        ..
                    } => {}
                    ParkReason::Refused { .. } => self.health.responded(),
                    _ => drop(self.health.failed(asked)),
                }
                tracing::warn!(target: "sdk_outbox", id, reason = why.as_str(), "parked");
                let note = format!("{why}: {note}");
                Settlement::parked(&self.claim, why.as_str(), first_sent, note)
            }
            StoredStep::SendAt(at) => {
                let pause = self.health.failed(asked);
                tracing::warn!(target: "sdk_outbox", id, ?pause, error = note, "will be resent later");
                Settlement::later(&self.claim, at, first_sent, note)
            }
            StoredStep::Send | StoredStep::Done => unreachable!("it failed"),
        }
    }

    fn parked(&self, reason: &'static str, note: String) -> Settlement {
        tracing::warn!(target: "sdk_outbox", id = self.claim.command.id, reason, "parked");
        let first_sent = self.claim.command.first_sent;
        Settlement::parked(&self.claim, reason, first_sent, note)
    }

    /// Records the result, and returns whether it is recorded. Retries until the database accepts the result, or until
    /// the claim ID shows that the lease expired.
    async fn settle(&mut self, mut settlement: Settlement) -> bool {
        let id = self.claim.command.id;
        loop {
            let error = match self.try_settle(&settlement).await {
                Ok(true) => return true,
                Ok(false) => {
                    tracing::warn!(target: "sdk_outbox", id, "the lease expired before the result was recorded");
                    return false;
                }
                Err(error) => error,
            };
            tracing::warn!(target: "sdk_outbox", id, %error, "can't record the result");
            if error.is_transient() {
                if *self.stopped.borrow() {
                    return false;
                }
                tokio::select! {
                    () = sleep(self.poll) => {}
                    _ = self.stopped.wait_for(|stopped| *stopped) => {}
                }
            } else if settlement.reason == Some(NOT_SETTLED) {
                return false;
            } else {
                // The database will never accept this result, for example because the caller's SQL fails. The
                // command is therefore parked with everything that is known about it.
                let receipt = settlement
                    .receipt
                    .map(|it| format!("it was applied, with status {}", it.http_status));
                let known = receipt.or(settlement.note).unwrap_or_default();
                let note = format!("{error}; {known}");
                settlement =
                    Settlement::parked(&self.claim, NOT_SETTLED, settlement.first_sent, note);
            }
        }
    }

    /// Runs in a task, because the caller's SQL may panic.
    async fn try_settle(&self, settlement: &Settlement) -> Result<bool, Error> {
        let (store, claim) = (self.store.clone(), self.claim.clone());
        let (settlement, mut task) = (settlement.clone(), JoinSet::new());
        task.spawn(async move { store.settle(&claim, &settlement).await });
        match task.join_next().await {
            Some(Ok(settled)) => settled,
            _ => Err(Error::database("the caller's SQL panicked", false)),
        }
    }
}

/// The reason of a command whose result the database rejects.
const NOT_SETTLED: &str = "not_settled";

fn dropped() -> (StoredOutcome, String) {
    let outcome = StoredOutcome::Failed {
        effect: Effect::Unknown,
        kind: ErrorKind::Timeout,
        retry_after: None,
    };
    let note = "the worker ended before the response arrived";
    (outcome, note.to_owned())
}
