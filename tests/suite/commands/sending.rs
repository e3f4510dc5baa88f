//! Row 72: a stored command is sent as prepared, with the deadline, the attempts and the policy of the new call.

use std::time::Duration;

use sdk_calendar::types::CalendarCommandResult;
use sdk_core::{CallOptions, Effect, ErrorKind, ExactReplay, RetryPolicy, SchemaPolicy};
use sdk_reference_server::Operation;

use super::Stage;
use crate::fixtures::{add_person, committed};
use crate::peer::{Peer, always, close};
use crate::samples::kick_off;
use crate::support::{
    Clients, assert_failed, assert_says, assert_unsent, builder_at, crm_at, key, once, stored,
};

#[tokio::test]
async fn fault_72_a_stored_command_is_sent_as_prepared_despite_new_client_defaults() {
    let peer = Peer::start(always(committed()));
    let crm = crm_at(&peer);
    let with = |tenant: &str, trace: &str| {
        let defaults = CallOptions::default().with_header("x-tenant", tenant);
        crm.with_defaults(defaults.with_query("trace", trace))
    };
    let (before, after) = (with("north", "a"), with("south", "b"));
    let command = add_person(&before)
        .header("x-tenant", "east")
        .query("step", "2");
    let command = stored(&command.prepare().unwrap());
    command.verify().unwrap();
    let both = [("x-tenant", "north"), ("x-tenant", "east")];
    assert_eq!(command.headers().collect::<Vec<_>>(), both);
    let path = "/api/crm/v1/commands?trace=a&step=2";
    assert_eq!(command.path(), path);

    for client in [&before, &after, &crm] {
        client.send_prepared(&command).await.unwrap();
    }

    let seen = peer.requests();
    for again in &seen {
        assert_eq!(
            (&again.headers, &again.body),
            (&seen[0].headers, &seen[0].body)
        );
        assert_eq!(again.target, path);
        let tenants = again.headers.iter().filter(|(name, _)| name == "x-tenant");
        let tenants: Vec<_> = tenants.map(|(_, tenant)| &**tenant).collect();
        assert_eq!(tenants, ["north", "east"]);
    }
    // A header can be added but not replaced.
    let sending = after.send_prepared(&command).header("x-more", "1");
    sending.await.unwrap();
    let seen = peer.requests();
    assert_eq!((seen.len(), seen[3].header("x-more")), (4, Some("1")));
    for name in ["x-tenant", "X-Tenant"] {
        let error = crm.send_prepared(&command).header(name, "south").await;
        assert_unsent(&error.unwrap_err(), ErrorKind::InvalidInput, &[name]);
    }
    assert_eq!(peer.requests().len(), 4);

    // A failed call's error returns exactly the command that was sent.
    let peer = Peer::start([close(), committed()]);
    let crm = crm_at(&peer);
    let defaults = CallOptions::default().with_header("x-tenant", "north");
    let error = add_person(&crm.with_defaults(defaults)).await.unwrap_err();
    crm.send_prepared(error.command().unwrap()).await.unwrap();
    let seen = peer.requests();
    assert_eq!(
        (&seen[0].headers, &seen[0].body),
        (&seen[1].headers, &seen[1].body)
    );
    assert_eq!(seen[1].header("x-tenant"), Some("north"));
}

#[tokio::test]
async fn fault_72_a_stored_command_is_sent_without_a_token_if_the_call_had_none() {
    let peer = Peer::start(always(committed()));
    let crm = crm_at(&peer);
    let command = add_person(&crm).without_token().prepare().unwrap();

    crm.send_prepared(&stored(&command)).await.unwrap();

    assert_eq!(peer.requests()[0].bearer(), None);
    assert!(peer.exchanges().is_empty());
}

#[tokio::test]
async fn fault_72_the_call_overrides_client_and_suite_on_resends() {
    type Setting = Option<ExactReplay>;
    const YES: Setting = Some(ExactReplay::Allowed);
    const NO: Setting = Some(ExactReplay::Forbidden);
    // A caller can give a key to a command for which the contract documents none.
    let (key, without) = (key("person-4711.create"), None);
    let with = Some(key.as_str());
    // Returns how often a command is sent if its first response is lost.
    let requests =
        async |suite: Setting, client: Setting, call: Setting, key: Option<&str>, is_stored| {
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
            if let Some(key) = key {
                submit = submit.idempotency_key(key);
            }
            let ended = if is_stored {
                let command = stored(&submit.prepare().unwrap());
                crm.send_prepared(&command).await.map(drop)
            } else {
                submit.await.map(drop)
            };
            if let Err(error) = &ended {
                assert_eq!(error.effect(), Effect::Unknown);
            }
            assert!(peer.requests().iter().all(|seen| seen.key() == key));
            peer.requests().len()
        };
    for is_stored in [false, true] {
        for (suite, client, call, key, expected) in [
            (None, None, None, without, 1),
            (YES, None, None, without, 2),
            (YES, NO, None, without, 1),
            (NO, YES, None, without, 2),
            (YES, YES, NO, without, 1),
            (NO, NO, YES, without, 2),
            (None, None, None, with, 2),
            (None, NO, None, with, 1),
            (None, None, NO, with, 1),
        ] {
            let seen = requests(suite, client, call, key, is_stored).await;
            assert_eq!(
                seen, expected,
                "{suite:?} {client:?} {call:?} {key:?} {is_stored}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_stored_command_is_sent_with_the_time_attempts_and_policy_of_the_new_call() {
    let Stage {
        server, calendar, ..
    } = Stage::start();
    let command = kick_off(&calendar).prepare().unwrap();
    let operation = Operation::SubmitEventCommand;

    once(&server, operation).lose_reply();
    let sending = calendar.send_prepared(&command).retry(RetryPolicy::none());
    let error = sending.await.unwrap_err();
    assert_eq!((error.attempts(), error.effect()), (1, Effect::Unknown));
    let open = error.command().unwrap();
    assert!(open.was_sent() && open.body() == command.body());
    assert_eq!(open.idempotency_key(), command.idempotency_key());

    let slow = server.fault(operation).delay(Duration::from_secs(3));
    let hurried = calendar
        .send_prepared(&command)
        .deadline(Duration::from_secs(2));
    let error = hurried.await.unwrap_err();
    assert!(error.is_timeout(), "{error}");
    assert_says(&error, &["2s"]);
    slow.remove();

    // An unknown schema is not accepted as the known schema, even for raw JSON.
    let fault = server.fault(operation).schema_suffix("v9");
    let error = calendar.send_prepared(&command).await.unwrap_err();
    assert_failed(&error, ErrorKind::SchemaVersion, Effect::Unknown);
    let typed = calendar
        .send_prepared(&command)
        .typed::<CalendarCommandResult>();
    let receipt = typed.schema_policy(SchemaPolicy::Warn).await.unwrap();
    assert_eq!(receipt.schema_version, "suite-calendar-command-result.v9");
    fault.remove();

    let raw = calendar.send_prepared(&command).await.unwrap();
    let decoded = raw.decode::<CalendarCommandResult>().unwrap();
    assert_eq!(decoded.public_reference, receipt.public_reference);
    assert_eq!(raw.idempotency_key(), command.idempotency_key());
    assert_eq!(server.commits(operation), 1);
}
