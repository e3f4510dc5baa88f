//! Row 64: stored commands that wait for a person.

use std::time::{Duration, SystemTime};

use sdk_core::{Effect, PreparedCommand, RetryPolicy};
use sdk_outbox::{ParkReason, StoredRule, StoredState, StoredStep};
use serde_json::json;

use super::stored::EVENT_V1;
use crate::fixtures::{add_person, created};
use crate::peer::{Peer, Reserved, close, json as reply_of, reply, script};
use crate::samples::kick_off;
use crate::support::{
    Clients, assert_says, builder_at, calendar_at, crm_at, key, next_step, stored, suite_at,
};

#[tokio::test]
async fn fault_64_a_stored_command_older_than_the_trust_in_its_key_waits_for_a_person() {
    let peer = Peer::start([reply(500), created()]);
    let calendar = calendar_at(&peer);
    let (hour, before) = (Duration::from_secs(3_600), SystemTime::now());
    let fresh = kick_off(&calendar);
    let error = fresh.clone().retry(RetryPolicy::none()).await.unwrap_err();
    // The age counts from the preparation, sent or not, unless the store knows when the command was first sent.
    for command in [&fresh.prepare().unwrap(), error.command().unwrap()] {
        let command = stored(command);
        let prepared = command.prepared_at().unwrap();
        assert!(prepared + Duration::from_secs(1) > before);
        let rule = StoredRule::default().with_max_age(25 * hour);
        let next = |sent: Option<_>| {
            let state = StoredState::of(&command).with_first_sent(sent);
            rule.next(&state, prepared + 26 * hour)
        };
        let StoredStep::Park(reason) = next(None) else {
            panic!("the command is too old to send");
        };
        let words = [
            "26 h 0 min old",
            "for only 25 h",
            "check whether it was applied",
        ];
        assert_says(&reason, &words);
        assert_eq!(next(Some(prepared + 2 * hour)), StoredStep::Send);
    }
    // The stored form of version 1 doesn't contain the time of preparation.
    let old: PreparedCommand = serde_json::from_str(EVENT_V1).unwrap();
    let unknown = StoredStep::Park(ParkReason::UnknownAge);
    assert_eq!(next_step(&old, None, before), unknown);
    assert_eq!(next_step(&old, Some(before), before), StoredStep::Send);
    // A person can still send the command, because `send_prepared` doesn't apply the rule.
    calendar
        .send_prepared(error.command().unwrap())
        .await
        .unwrap();
}

#[tokio::test]
async fn fault_64_a_stored_command_without_replay_protection_is_sent_once() {
    // The contract documents neither a key nor an exact replay for a counterparty.
    let peer = Peer::start(script([close(), close()]).then_always(reply_of(201, &json!({}))));
    let accounting = suite_at(&peer).accounting();
    let counterparties = accounting.counterparties();
    let call = || counterparties.create(json!({"name": "Ann Example"}));
    let now = SystemTime::now();
    let parked = StoredStep::Park(ParkReason::NoReplay);

    let fresh = stored(&call().prepare().unwrap());
    assert!(!fresh.was_sent() && !fresh.is_replayable());
    assert_eq!(next_step(&fresh, None, now), StoredStep::Send);
    assert_eq!(next_step(&fresh, Some(now), now), parked);

    // The command in an error records that it was sent, even if it was sent from a table.
    for error in [
        call().await.unwrap_err(),
        accounting.send_prepared(&fresh).await.unwrap_err(),
    ] {
        assert_eq!(error.effect(), Effect::Unknown, "{error}");
        let open = stored(&error.into_command().unwrap());
        open.verify().unwrap();
        assert!(open.was_sent());
        assert_eq!(next_step(&open, None, now), parked);
        assert_eq!((open.body(), open.path()), (fresh.body(), fresh.path()));
    }
    assert_says(&ParkReason::NoReplay, &["check whether it was applied"]);
    assert_eq!(peer.requests().len(), 2);
    // A command that was not sent stays unchanged.
    let closed = Reserved::new();
    let nowhere = builder_at(&closed.url()).accounting();
    let error = nowhere.send_prepared(&fresh).await.unwrap_err();
    assert_eq!(error.effect(), Effect::NotSent, "{error}");
    assert!(error.command() == Some(&fresh));

    // A service recognizes a command by the caller's key. The CRM contract recognizes equal commands without a key.
    let keyed = call().idempotency_key(key("counterparty-4711"));
    let keyed = keyed.prepare().unwrap();
    let shown = add_person(&crm_at(&peer)).prepare().unwrap();
    for command in [stored(&keyed), stored(&shown)] {
        assert!(command.is_replayable());
        assert_eq!(next_step(&command, Some(now), now), StoredStep::Send);
    }
}
