//! Sends what the database holds, together with any number of others.

use std::time::Duration;

use sdk_calendar::Client;
use sdk_outbox::{StoredRule, StoredState, StoredStep};
use tokio::time::{Instant, sleep};

use crate::out::note;
use crate::stop::Stop;
use crate::store::{Address, Claim, Cursor, Settled, Store};
use crate::{Failure, told};

/// How long a worker waits where there is nothing to do, or no database.
const POLL: Duration = Duration::from_millis(200);

/// Works until it is to stop. It may be killed anywhere, stand still for any time, and lose the database.
pub(crate) async fn run(
    address: &Address,
    calendar: &Client,
    lease: Duration,
    stop: &mut Stop,
) -> Result<(), Failure> {
    let mut store = Store::connect(address).await?;
    let (mut cursor, mut house) = (Cursor::START, None);
    while !stop.is_heard() {
        let worked = async {
            if house.is_none_or(|kept: Instant| kept.elapsed() > Duration::from_secs(1)) {
                store.keep_house().await?;
                (cursor, house) = (Cursor::START, Some(Instant::now()));
            }
            store.claim(&mut cursor, lease).await
        };
        match worked.await {
            Ok(Some(claim)) => {
                let settled = send(calendar, &claim, lease).await;
                settle(address, &mut store, &claim, settled, stop).await;
            }
            Ok(None) => {
                house = None;
                tokio::select! { () = stop.heard() => {}, () = sleep(POLL) => {} }
            }
            Err(error) => {
                note!("The database: {}", told(&error));
                reconnect(address, &mut store, stop).await;
            }
        }
    }
    Ok(())
}

/// Sends a command if the rule says so, and asks it what is next.
async fn send(calendar: &Client, claim: &Claim, lease: Duration) -> Settled {
    let stored = claim.command.as_deref().unwrap_or_default();
    let command = match serde_json::from_str(stored) {
        Ok(command) => command,
        Err(error) => return Settled::Parked("unreadable", error.to_string()),
    };
    let (rule, state) = (StoredRule::default(), claim.state(&command));
    let later =
        |at, state: &StoredState, note| Settled::Later(at, state.first_sent_after(claim.at), note);
    // The reply, and the row that says so, come within the lease, unless this process stands still.
    let limit = claim.left().saturating_sub(lease / 4);
    match rule.next(&state, claim.at) {
        StoredStep::Park(reason) => return Settled::Parked(reason.as_str(), reason.to_string()),
        StoredStep::Send if !limit.is_zero() => {}
        _ => return later(claim.at, &state, "no time was left to send it".to_owned()),
    }
    match calendar.send_prepared(&command).deadline(limit).await {
        Ok(receipt) => {
            let result = String::from_utf8_lossy(receipt.bytes()).into_owned();
            Settled::Done(receipt.http_status(), receipt.is_replay(), result)
        }
        Err(error) => {
            let state = state.with_attempts(claim.attempts + 1).with_outcome(&error);
            let now = claim.at + lease.saturating_sub(claim.left());
            match rule.next(&state, now) {
                StoredStep::Park(why) => Settled::Parked(why.as_str(), format!("{why}: {error}")),
                StoredStep::SendAt(at) => later(at, &state, error.to_string()),
                StoredStep::Send | StoredStep::Done => unreachable!("it failed"),
            }
        }
    }
}

/// Writes down what became of a command, however long the database is away: the token says whether it is too late. What the
/// database refuses for another reason is left to a person, with what is known.
async fn settle(
    address: &Address,
    store: &mut Store,
    claim: &Claim,
    settled: Settled,
    stop: &mut Stop,
) {
    let mut settled = settled;
    loop {
        let error = match store.settle(claim, &settled).await {
            Ok(true) => return,
            Ok(false) => {
                return note!("Command {}: settled before, or its lease ran out", claim.id);
            }
            Err(error) => error,
        };
        note!("The database: {}", told(&error));
        if is_passing(&error) {
            if !reconnect(address, store, stop).await {
                return note!("Command {}: not written down: {settled:?}", claim.id);
            }
        } else if let Settled::Parked("not_settled", _) = settled {
            return;
        } else {
            settled = Settled::Parked("not_settled", format!("{}: {settled:?}", told(&error)));
        }
    }
}

/// Whether the database may do later what it did not do now: it is away, or somebody was in the way.
fn is_passing(error: &Failure) -> bool {
    let code = error.downcast_ref().and_then(tokio_postgres::Error::code);
    code.is_none_or(|code| ["08", "25", "40", "53", "55", "57"].contains(&&code.code()[..2]))
}

/// False if it is to stop before.
async fn reconnect(address: &Address, store: &mut Store, stop: &mut Stop) -> bool {
    loop {
        tokio::select! { () = stop.heard() => return false, () = sleep(POLL) => {} }
        match Store::connect(address).await {
            Ok(fresh) => {
                *store = fresh;
                return true;
            }
            Err(error) => note!("The database: {}", told(&error)),
        }
    }
}
