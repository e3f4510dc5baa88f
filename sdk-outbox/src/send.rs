//! One claim, from the check before it is sent to the record of its result.

use std::sync::Arc;
use std::time::Duration;

use sdk_core::{
    Effect, Error as CallError, ErrorKind, PreparedCommand, PreparedSender, RawJson, Receipt,
};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::entry::StoredReceipt;
use crate::rule::{ParkReason, StoredRule, StoredStep};
use crate::state::{StoredOutcome, StoredState};
use crate::steps::reached;
use crate::store::{Claim, Settlement, Store};
use crate::worker::{Check, Health};

/// A claim, and what it takes to send it.
pub(crate) struct Sending<S> {
    pub(crate) store: S,
    pub(crate) sender: Arc<dyn PreparedSender>,
    pub(crate) health: Health,
    pub(crate) rule: StoredRule,
    pub(crate) check: Option<Arc<Check>>,
    pub(crate) poll: Duration,
    /// Whether the time of the worker is over.
    pub(crate) stopped: watch::Receiver<bool>,
    pub(crate) claim: Claim,
}

/// What became of a call.
enum Sent {
    Received(Receipt<RawJson>),
    Failed(CallError),
    /// The worker ended first.
    Dropped,
}

impl<S: Store> Sending<S> {
    pub(crate) async fn run(mut self) {
        reached("claimed");
        let settlement = self.send().await;
        reached("answered, not recorded");
        self.settle(settlement).await;
        reached("recorded");
    }

    async fn send(&mut self) -> Settlement {
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
        if let Some(check) = &self.check
            && let Err(error) = check(self.claim.command.clone(), command.clone()).await
        {
            return self.parked("check_failed", error);
        }
        // Asked again, because the check took time, and so may have a suspended machine.
        let limit = self.claim.lease.left_for_sending();
        if limit.is_zero() || *self.stopped.borrow() {
            return Settlement::Released;
        }
        reached("before it is sent");
        let sent_at = self.claim.now();
        let call = self.sender.send_prepared(&command).deadline(limit).send();
        let sent = tokio::select! {
            sent = call => sent.map_or_else(Sent::Failed, Sent::Received),
            _ = self.stopped.wait_for(|stopped| *stopped) => Sent::Dropped,
        };
        self.outcome(&command, &state, sent, sent_at)
    }

    /// What follows from a call.
    fn outcome(
        &self,
        command: &PreparedCommand,
        before: &StoredState,
        sent: Sent,
        sent_at: std::time::SystemTime,
    ) -> Settlement {
        let (outcome, note) = match sent {
            Sent::Received(receipt) => {
                self.health.responded();
                return Settlement::Done(StoredReceipt {
                    http_status: receipt.http_status(),
                    replayed: receipt.is_replay(),
                    body: String::from_utf8_lossy(receipt.bytes()).into_owned(),
                });
            }
            Sent::Failed(error) => (StoredOutcome::from(&error), error.to_string()),
            Sent::Dropped => {
                let outcome = StoredOutcome::Failed {
                    effect: Effect::Unknown,
                    kind: ErrorKind::Timeout,
                    retry_after: None,
                };
                (
                    outcome,
                    "the worker ended before the response arrived".to_owned(),
                )
            }
        };
        let attempts = self.claim.command.attempts + 1;
        let state = before.clone().with_attempts(attempts).with_outcome(outcome);
        let first_sent = state.first_sent_after(sent_at);
        match self.rule.next(&state, self.claim.now()) {
            StoredStep::Park(why) => {
                match why {
                    ParkReason::Refused { .. } => self.health.responded(),
                    _ => drop(self.health.failed()),
                }
                let (reason, note) = (why.as_str(), format!("{why}: {note}"));
                tracing::warn!(target: "sdk_outbox", id = self.claim.command.id, reason, operation = command.operation(), "parked");
                Settlement::Parked {
                    reason,
                    first_sent,
                    note,
                }
            }
            StoredStep::SendAt(at) => {
                let pause = self.health.failed();
                tracing::warn!(target: "sdk_outbox", id = self.claim.command.id, ?pause, error = note, "sent again later");
                Settlement::Later {
                    at,
                    first_sent,
                    note,
                }
            }
            StoredStep::Send | StoredStep::Done => unreachable!("it failed"),
        }
    }

    /// A command that this worker did not send.
    fn parked(&self, reason: &'static str, note: String) -> Settlement {
        tracing::warn!(target: "sdk_outbox", id = self.claim.command.id, reason, "parked");
        let first_sent = self.claim.command.first_sent;
        Settlement::Parked {
            reason,
            first_sent,
            note,
        }
    }

    /// Records the result, however long the database is away: the token says whether it is too late.
    async fn settle(&mut self, mut settlement: Settlement) {
        let id = self.claim.command.id;
        loop {
            let error = match self.store.settle(&self.claim, &settlement).await {
                Ok(true) => return,
                Ok(false) => {
                    tracing::warn!(target: "sdk_outbox", id, "its lease had ended when its result was recorded");
                    return;
                }
                Err(error) => error,
            };
            tracing::warn!(target: "sdk_outbox", id, %error, "its result was not recorded");
            if error.is_passing() {
                if *self.stopped.borrow() {
                    return;
                }
                tokio::select! {
                    () = sleep(self.poll) => {}
                    _ = self.stopped.wait_for(|stopped| *stopped) => {}
                }
                continue;
            }
            if matches!(
                settlement,
                Settlement::Parked {
                    reason: "not_settled",
                    ..
                }
            ) {
                return;
            }
            // Such as an error of the caller's own SQL: what is known goes to an operator.
            settlement = Settlement::Parked {
                reason: "not_settled",
                first_sent: Some(self.claim.at),
                note: format!("{error}; {}", told(&settlement)),
            };
        }
    }
}

/// What a result says about the command, for an operator.
fn told(settlement: &Settlement) -> String {
    match settlement {
        Settlement::Done(receipt) => format!("it was applied, with status {}", receipt.http_status),
        Settlement::Later { note, .. } | Settlement::Parked { note, .. } => note.clone(),
        Settlement::Released => "it was not sent".to_owned(),
    }
}
