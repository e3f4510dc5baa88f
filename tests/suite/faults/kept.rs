//! Rows 55, 64, 72 and 78: what a stored command says of itself, beside its request.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sdk_core::{App, CallOptions, Effect, ErrorKind, ExactReplay, PreparedCommand};
use sdk_outbox::{ParkReason, StoredStep};
use serde_json::{Value, json};

use crate::commands::stored::EVENT_V1;
use crate::fixtures::{add_person, committed, created};
use crate::peer::{Peer, always, close, json, reply, script};
use crate::samples::kick_off;
use crate::support::{
    Clients, assert_failed, assert_says, builder_at, calendar_at, crm_at, key, next_step, suite_at,
};

/// As it comes back from a table.
fn stored(command: &PreparedCommand) -> PreparedCommand {
    let stored = crate::support::stored(command);
    stored.verify().unwrap();
    stored
}

#[tokio::test]
async fn fault_64_a_stored_command_that_nobody_would_recognise_is_sent_once() {
    // Neither a key nor an exact replay is shown for a counterparty.
    let first = Peer::start(script([close()]).then_always(json(201, &json!({}))));
    let accounting = suite_at(&first).accounting();
    let counterparties = accounting.counterparties();
    let call = || counterparties.create(json!({"name": "Ann Example"}));
    let now = SystemTime::now();

    let fresh = stored(&call().prepare().unwrap());
    assert!(!fresh.was_sent() && !fresh.is_replayable());
    assert_eq!(next_step(&fresh, None, now), StoredStep::Send);
    let parked = StoredStep::Park(ParkReason::NoReplay);
    assert_eq!(next_step(&fresh, Some(now), now), parked);

    // One that comes out of an error says by itself that it went out.
    let error = call().await.unwrap_err();
    assert_eq!(error.effect(), Effect::Unknown);
    let open = stored(error.command().unwrap());
    assert!(open.was_sent());
    assert_eq!(next_step(&open, None, now), parked);
    let StoredStep::Park(reason) = next_step(&open, None, now) else {
        unreachable!()
    };
    assert_says(&reason, &["check whether it happened"]);

    // So does one that was sent out of a table.
    let peer = Peer::start([close()]);
    let elsewhere = suite_at(&peer).accounting();
    let error = elsewhere.send_prepared(&fresh).await;
    let error = error.unwrap_err();
    assert_eq!(error.effect(), Effect::Unknown, "{error}");
    let open = stored(&error.into_command().unwrap());
    assert_eq!(next_step(&open, None, now), parked);
    assert!(open.was_sent());
    assert_eq!((open.body(), open.path()), (fresh.body(), fresh.path()));
    assert_eq!(peer.requests().len(), 1);
    // One that did not get out stays as it was.
    let nowhere = builder_at("http://127.0.0.1:9").accounting();
    let error = nowhere.send_prepared(&fresh).await.unwrap_err();
    assert_eq!(error.effect(), Effect::NotSent, "{error}");
    assert!(error.command() == Some(&fresh));

    // A key of the caller's is one by which it is recognised, and so is what the contract shows for the CRM.
    let keyed = call().idempotency_key(key("counterparty-4711"));
    let keyed = keyed.prepare().unwrap();
    let shown = add_person(&crm_at(&first)).prepare().unwrap();
    for command in [stored(&keyed), stored(&shown)] {
        assert!(command.is_replayable());
        assert_eq!(next_step(&command, Some(now), now), StoredStep::Send);
    }
    assert_eq!(first.requests().len(), 1);
}

#[tokio::test]
async fn fault_55_a_form_of_version_1_does_not_get_younger() {
    let peer = Peer::start(always(created()));
    let calendar = builder_at(&peer.url())
        .audience(App::Calendar, "https://calendar.example")
        .calendar();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    for (member, value) in [
        ("preparedAt", json!(u64::try_from(now.as_millis()).unwrap())),
        ("replayShown", json!(true)),
        ("sent", json!(true)),
        ("withoutToken", json!(true)),
        ("replayExact", json!(true)),
    ] {
        let mut form: Value = serde_json::from_str(EVENT_V1).unwrap();
        form[member] = value;
        let command: PreparedCommand = serde_json::from_value(form).unwrap();
        let error = calendar.send_prepared(&command).await.unwrap_err();
        assert_failed(&error, ErrorKind::PreparedCommand, Effect::NotSent);
    }
    assert!(peer.requests().is_empty());
    let old: PreparedCommand = serde_json::from_str(EVENT_V1).unwrap();
    assert!(old.was_sent(), "it does not say so");
    calendar.send_prepared(&old).await.unwrap();
}

#[tokio::test]
async fn fault_72_a_replay_goes_without_a_token_if_the_command_did() {
    let peer = Peer::start(always(committed()));
    let crm = crm_at(&peer);
    let call = add_person(&crm).without_token();
    let command = stored(&call.prepare().unwrap());

    crm.send_prepared(&command).await.unwrap();

    assert_eq!(peer.requests()[0].bearer(), None);
    assert!(peer.exchanges().is_empty());
}

#[tokio::test]
async fn fault_72_repeats_are_allowed_by_the_call_before_the_client_and_the_suite() {
    type Said = Option<ExactReplay>;
    const YES: Said = Some(ExactReplay::Allowed);
    const NO: Said = Some(ExactReplay::Forbidden);
    // What a broken reply leads to: one attempt, or two.
    let attempts = async |suite: Said, client: Said, call: Said, raw: bool| {
        let peer = Peer::start([close(), committed()]);
        let mut builder = builder_at(&peer.url());
        if let Some(replay) = suite {
            builder = builder.exact_replay(replay);
        }
        let mut defaults = CallOptions::default();
        if let Some(replay) = client {
            defaults = defaults.with_exact_replay(replay);
        }
        let crm = builder.crm().with_defaults(defaults);
        let mut submit = add_person(&crm);
        if let Some(replay) = call {
            submit = submit.exact_replay(replay);
        }
        let ended = if raw {
            let command = stored(&submit.prepare().unwrap());
            crm.send_prepared(&command).await.map(drop)
        } else {
            submit.await.map(drop)
        };
        if let Err(error) = &ended {
            assert_eq!(error.effect(), Effect::Unknown);
        }
        peer.requests().len()
    };
    for is_stored in [false, true] {
        for (suite, client, call, expected) in [
            (None, None, None, 1),
            (YES, None, None, 2),
            (YES, NO, None, 1),
            (NO, YES, None, 2),
            (YES, YES, NO, 1),
            (NO, NO, YES, 2),
        ] {
            let seen = attempts(suite, client, call, is_stored).await;
            assert_eq!(seen, expected, "{suite:?} {client:?} {call:?} {is_stored}");
        }
    }
}

#[tokio::test]
async fn fault_78_what_was_prepared_is_not_changed_on_the_way_out() {
    let peer = Peer::start(always(created()));
    let calendar = calendar_at(&peer);
    let call = kick_off(&calendar);
    let command = call.header("x-tenant", "north").prepare().unwrap();

    for name in ["x-tenant", "X-Tenant"] {
        let call = calendar.send_prepared(&command).header(name, "south");
        let error = call.await.unwrap_err();
        assert_failed(&error, ErrorKind::InvalidInput, Effect::NotSent);
        assert_says(&error, &[name]);
    }
    assert!(peer.requests().is_empty());
    let call = calendar.send_prepared(&command).header("x-trace", "1");
    call.await.unwrap();
    let seen = &peer.requests()[0];
    assert_eq!(seen.header("x-tenant"), Some("north"));
    assert_eq!(seen.header("x-trace"), Some("1"));
}

#[tokio::test]
async fn fault_64_the_age_of_a_command_that_was_sent_runs_from_its_first_sending() {
    let peer = Peer::start([reply(500)]);
    let before = SystemTime::now();
    let calendar = calendar_at(&peer);
    let call = kick_off(&calendar).retry(sdk_core::RetryPolicy::none());
    let error = call.await.unwrap_err();
    let command = stored(error.command().unwrap());

    let day = Duration::from_secs(24 * 3_600);
    let prepared = command.prepared_at().unwrap();
    assert!(prepared + Duration::from_secs(1) > before && command.was_sent());
    assert_eq!(next_step(&command, None, prepared + day), StoredStep::Send);
    let late = next_step(&command, None, prepared + day + Duration::from_secs(61));
    let old = matches!(late, StoredStep::Park(ParkReason::TooOld { .. }));
    assert!(old, "{late:?}");
}
