//! Row 89: commands without a key that are idempotent in HTTP.

use std::time::SystemTime;

use sdk_core::codegen::Call;
use sdk_core::testing::ScriptedTransport;
use sdk_core::{
    Effect, Error, ErrorKind, ExactReplay, Operation, Receipt, RetryPolicy, SendPrepared, testing,
};
use sdk_outbox::{ParkReason, StoredStep};

use super::notes::{DELETE, PATCH, PUT, client, draft_of};
use crate::support::{assert_refused_with, assert_tried, next_step, stored};

/// Sends a command that uses all answers of a script.
async fn send(
    operation: &'static Operation,
    transport: &ScriptedTransport,
    replay: Option<ExactReplay>,
) -> Result<Receipt<()>, Error> {
    let mut call = Call::new(&client(transport), operation);
    if let Some(replay) = replay {
        call.change(|options| options.with_exact_replay(replay));
    }
    let draft = draft_of(&call, Some("{}"));
    let sent = call.command(Ok(draft)).await;
    assert_eq!(transport.answers_left(), 0);
    for request in transport.requests() {
        assert_eq!(request.method().as_str(), operation.method.as_str());
        assert!(!request.headers().contains_key("idempotency-key"));
    }
    sent
}

/// Returns the three ways in which the first attempt leaves the effect unknown.
fn in_doubt() -> [(ScriptedTransport, ErrorKind); 3] {
    let script = ScriptedTransport::new;
    [
        (script().lost(), ErrorKind::Transport),
        (script().status(503), ErrorKind::Unavailable),
        (script().stalled(), ErrorKind::Timeout),
    ]
}

#[tokio::test(start_paused = true)]
async fn fault_89_a_rejection_after_an_unclear_attempt_leaves_the_effect_unknown() {
    for operation in [&PUT, &DELETE] {
        for (transport, _) in in_doubt() {
            let receipt = send(operation, &transport.status(204), None).await.unwrap();
            let got = (receipt.attempts(), receipt.is_committed());
            assert_eq!(got, (2, Some(true)));
        }
        for status in [404, 409, 410, 412] {
            for (transport, _) in in_doubt() {
                let error = send(operation, &transport.status(status), None).await;
                let error = error.unwrap_err();
                assert_tried(&error, error.kind(), Effect::Unknown, 2);
                assert_eq!(error.status(), Some(status));
                assert!(error.to_string().contains("its effect is unknown"));
                // A test error behaves the same.
                let made = testing::error(error.kind()).operation(operation);
                let made = made.status(status).attempts(2).effect(Effect::Unknown);
                for error in [made.build(), error] {
                    assert!(error.into_command().unwrap().was_sent());
                }
            }
            // Without an unclear attempt, a rejection is final.
            let script = ScriptedTransport::new;
            for transport in [script(), script().not_sent(), script().status(429)] {
                let error = send(operation, &transport.status(status), None).await;
                let error = error.unwrap_err();
                assert_refused_with(&error, status);
                assert!(error.command().is_none());
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn fault_89_a_forbidden_or_not_idempotent_resend_is_not_made() {
    let forbidden = Some(ExactReplay::Forbidden);
    for (operation, replay) in [(&PUT, forbidden), (&DELETE, forbidden), (&PATCH, None)] {
        for (transport, kind) in in_doubt() {
            let error = send(operation, &transport, replay).await.unwrap_err();
            assert_tried(&error, kind, Effect::Unknown, 1);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn fault_89_a_stored_command_that_was_sent_waits_for_a_person_even_if_rejected() {
    let key = Some("the-key-of-note-4711");
    for (operation, key) in [(&PUT, None), (&DELETE, None), (&PATCH, None), (&PATCH, key)] {
        for status in [401, 403, 404, 409, 410, 412, 422, 429] {
            let transport = ScriptedTransport::new().lost().status(status);
            let transport = transport.status(status).not_sent().status(204);
            let api = client(&transport);
            let mut call = Call::new(&api, operation);
            call.change(|options| {
                let options = options.with_retry(RetryPolicy::none());
                match key {
                    Some(key) => options.with_idempotency_key(key),
                    None => options,
                }
            });
            let draft = draft_of(&call, Some("{}"));
            let error = call.command::<()>(Ok(draft)).await.unwrap_err();
            let sent = stored(&error.into_command().unwrap());
            let got = (sent.was_sent(), sent.is_replayable());
            assert_eq!(got, (true, key.is_some()));
            let next = next_step(&sent, None, SystemTime::now());
            let waits = next == StoredStep::Park(ParkReason::NoReplay);
            assert_eq!(waits, key.is_none(), "{next:?}");
            let again = || SendPrepared::new(&api, &sent).retry(RetryPolicy::none());

            // After a 401, the SDK fetches a new token.
            for _ in 0..if status == 401 { 1 } else { 2 } {
                let error = again().await.unwrap_err();
                let got = (error.effect(), error.status());
                assert_eq!(got, (Effect::Unknown, Some(status)));
                assert_eq!(error.into_command().as_ref(), Some(&sent));
            }
            let error = again().await.unwrap_err();
            assert_tried(&error, ErrorKind::Connect, Effect::Unknown, 1);
            let receipt = again().typed::<()>().await.unwrap();
            assert_eq!(receipt.is_committed(), Some(true));
        }
    }
}
