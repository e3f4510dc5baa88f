//! Sends what the database holds.

use std::time::SystemTime;

use sdk_calendar::Client;
use sdk_calendar::types::CalendarCommandResult;
use sdk_outbox::{StoredRule, StoredStep};

use tokio::time::sleep;

use crate::Failure;
use crate::steps::Steps;
use crate::stop::Stop;
use crate::store::Store;

/// Sends every command when it is due, and returns when none is left, or false when it is to stop before. A command that is
/// under way gets its receipt first.
///
/// It may be killed anywhere: what it had sent and not recorded is sent again, exactly, and the service answers with
/// the result that it has. An error leaves the rest for later; a service calls this again.
pub(crate) async fn drain(
    store: &Store,
    calendar: &Client,
    steps: &Steps,
    stop: &mut Stop,
) -> Result<bool, Failure> {
    let rule = StoredRule::default();
    while let Some(pending) = store.next()? {
        let wait = pending.due.duration_since(SystemTime::now());
        tokio::select! {
            biased;
            () = stop.heard() => return Ok(false),
            () = sleep(wait.unwrap_or_default()) => {}
        }
        let command = match serde_json::from_str(&pending.command) {
            Ok(command) => command,
            Err(error) => {
                store.park(pending.number, &error)?;
                continue;
            }
        };
        let (now, state) = (SystemTime::now(), pending.state(&command));
        if let StoredStep::Park(reason) = rule.next(&state, now) {
            store.park(pending.number, &reason)?;
            continue;
        }
        steps.take("before it is recorded as sent");
        store.sending(pending.number, now)?;
        steps.take("before it is sent");
        let sent = calendar
            .send_prepared(&command)
            .typed::<CalendarCommandResult>()
            .await;
        steps.take("replied to, not recorded");
        let state = state
            .with_attempts(pending.attempts + 1)
            .with_outcome(&sent);
        match (rule.next(&state, SystemTime::now()), sent) {
            (StoredStep::Park(reason), Err(error)) => {
                store.park(pending.number, &format!("{reason}: {error}"))?;
            }
            (StoredStep::SendAt(at), sent) => {
                store.postpone(pending.number, at, state.first_sent_after(now))?;
                sent?;
            }
            (_, sent) => store.record(pending.number, &sent?)?,
        }
        steps.take("recorded");
    }
    Ok(true)
}
