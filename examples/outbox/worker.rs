//! Sends what the database holds.

use std::time::SystemTime;

use sdk_calendar::Client;
use sdk_calendar::types::CalendarCommandResult;
use sdk_core::{Effect, Error, StoredRule, StoredStep};

use crate::Failure;
use crate::steps::Steps;
use crate::stop::Stop;
use crate::store::Store;

/// Sends every command that has no receipt, the oldest first, and returns when none is left, or false when it is to stop
/// before. A command that is under way gets its receipt first.
///
/// It may be killed anywhere: what it had sent and not recorded is sent again, exactly, and the service answers with
/// the result that it has. An error leaves the rest for later; a service calls this again after a while.
pub(crate) async fn drain(
    store: &Store,
    calendar: &Client,
    steps: &Steps,
    stop: &Stop,
) -> Result<bool, Failure> {
    let mut after = 0;
    while let Some(pending) = store.next(after)? {
        after = pending.number;
        if stop.is_heard() {
            return Ok(false);
        }
        // One that is too old for its key to be remembered may have happened, and waits for a person.
        let now = SystemTime::now();
        let next = StoredRule::default().next(&pending.command, pending.first_sent, now);
        if let StoredStep::Park(reason) = next {
            store.set_aside(pending.number, &reason)?;
            continue;
        }
        steps.take("before it is recorded as sent");
        store.sending(pending.number, now)?;
        steps.take("before it is sent");
        let sent = calendar
            .send_prepared(&pending.command)
            .typed::<CalendarCommandResult>()
            .await;
        match sent {
            Ok(receipt) => {
                steps.take("replied to, not recorded");
                store.record(pending.number, &receipt)?;
                steps.take("recorded");
            }
            Err(error) if is_final(&error) => store.set_aside(pending.number, &error)?,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(true)
}

/// Whether it is this command that will never do, and not the moment or the credential.
fn is_final(error: &Error) -> bool {
    let credential = error.is_unauthenticated() || error.is_forbidden();
    // Also if an earlier attempt may have had an effect: sending it again is refused again.
    let refused = matches!(error.status(), Some(400..500)) && error.effect() != Effect::NotSent;
    error.is_prepared_command() || refused && !error.is_retryable() && !credential
}
