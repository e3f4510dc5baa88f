//! 503: a dependency is down. What may be repeated is repeated, as soon as the server asks for.

use std::time::{Duration, Instant};

use sdk_core::{Effect, ErrorKind, ExactReplay, RetryPolicy};
use sdk_reference_server::Operation;
use serde_json::json;

use super::world::World;
use crate::samples::{draft, promotion};
use crate::support::{Events, HoldClock};

#[tokio::test]
async fn a_read_is_repeated_until_the_service_is_back() {
    let world = World::start().await;
    world
        .server
        .fault(Operation::ListPeople)
        .times(2)
        .status(503);

    let page = world.crm.people().list().await.unwrap();

    assert_eq!((page.http_status(), page.attempts()), (200, 3));
    assert_eq!(world.server.attempts(Operation::ListPeople), 3);
    assert_eq!(world.server.exchanges(), 1);
}

#[tokio::test]
async fn a_keyed_command_is_repeated_with_its_key_and_body_and_committed_once() {
    let world = World::start().await;
    world
        .server
        .fault(Operation::CreateInvoiceDraft)
        .times(2)
        .status(503);
    let draft = draft(&world.server.sample_counterparty(), 1);

    let receipt = world
        .accounting
        .invoice_drafts()
        .create(&draft)
        .await
        .unwrap();

    assert_eq!(
        (receipt.http_status(), receipt.attempts(), receipt.replayed),
        (201, 3, false)
    );
    let key = receipt.idempotency_key().unwrap().as_str();
    let seen = world.server.requests_for(Operation::CreateInvoiceDraft);
    assert_eq!(seen.len(), 3);
    for request in &seen {
        assert_eq!(request.idempotency_key(), Some(key));
        assert_eq!(request.body(), seen[0].body());
    }
    assert_eq!(world.server.commits(Operation::CreateInvoiceDraft), 1);
}

#[tokio::test]
async fn a_command_that_was_committed_before_the_503_is_replayed() {
    let world = World::start().await;
    let fault = world.server.fault(Operation::SubmitEventCommand).times(1);
    fault.reply_after_commit_with(503);

    let receipt = world.kick_off().await.unwrap();

    assert_eq!(
        (receipt.http_status(), receipt.attempts(), receipt.replayed),
        (200, 2, true)
    );
    assert_eq!(world.server.commits(Operation::SubmitEventCommand), 1);
}

#[tokio::test]
async fn a_command_without_a_key_is_not_repeated_unless_the_caller_allows_it() {
    let world = World::start().await;
    let command = || promotion(&world.server.sample_person(), "Controller");
    let fault = world.server.fault(Operation::SubmitCommand).times(2);
    fault.reply_after_commit_with(503);

    let error = world.crm.commands().submit(command()).await.unwrap_err();

    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert_eq!((error.attempts(), error.effect()), (1, Effect::Unknown));
    assert!(
        error.to_string().contains("its effect is unknown"),
        "{error}"
    );
    assert_eq!(world.server.commits(Operation::SubmitCommand), 1);

    let exact = world
        .crm
        .commands()
        .submit(command())
        .exact_replay(ExactReplay::Allowed);
    let receipt = exact.await.unwrap();

    // An exact replay: the durable result, with a 200.
    assert_eq!((receipt.http_status(), receipt.attempts()), (200, 2));
    assert_eq!(world.server.commits(Operation::SubmitCommand), 1);
}

#[tokio::test]
async fn a_call_that_may_be_made_once_is_made_once() {
    let world = World::start().await;
    world
        .server
        .fault(Operation::ListPeople)
        .times(1)
        .status(503);

    let once = world.crm.people().list().retry(RetryPolicy::none());
    let error = once.await.unwrap_err();

    assert_eq!((error.attempts(), error.retryable()), (1, true));
}

/// Only the Platform documents who may try again: its envelope says so.
#[tokio::test]
async fn the_platform_says_whether_to_try_again() {
    let world = World::start().await;
    for (retryable, attempts) in [(false, 1), (true, 3)] {
        let envelope = json!({"error": {
            "code": "maintenance",
            "message": "down for the day",
            "requestId": "req-of-the-envelope",
            "retryable": retryable,
        }});
        let fault = world.server.fault(Operation::ListApps).status(503);
        let fault = fault.body(envelope.to_string(), "application/json");

        let error = world.platform.apps().list().await.unwrap_err();

        assert_eq!((error.retryable(), error.attempts()), (retryable, attempts));
        assert_eq!(error.code(), Some("maintenance"));
        assert_eq!(error.message(), "down for the day");
        assert_eq!(error.request_id(), Some("req-of-the-envelope"));
        fault.remove();
    }
}

/// The contract shows neither 429 nor 408; what stands between may send them (A42).
#[tokio::test]
async fn too_many_requests_and_a_slow_one_are_treated_as_a_503() {
    let world = World::start().await;
    for (status, kind) in [(429, ErrorKind::RateLimited), (408, ErrorKind::Unavailable)] {
        let fault = world.server.fault(Operation::GetToday).status(status);

        let error = world.crm.today().get().await.unwrap_err();

        assert_eq!((error.status(), error.kind()), (Some(status), kind));
        assert_eq!((error.attempts(), error.retryable()), (3, true));
        // A 4xx has no effect, whatever its reason.
        assert_eq!(error.effect(), Effect::Refused);
        fault.remove();
    }
}

#[tokio::test]
async fn a_retry_after_beyond_the_deadline_is_the_callers_to_wait_for() {
    let world = World::start().await;
    let fault = world.server.fault(Operation::ListPeople).status(503);
    fault.retry_after("3600");

    let error = world.crm.people().list().await.unwrap_err();

    assert_eq!(error.retry_after(), Some(Duration::from_secs(3600)));
    assert_eq!((error.attempts(), error.retryable()), (1, true));
    assert_eq!(world.server.attempts(Operation::ListPeople), 1);
}

#[tokio::test(start_paused = true)]
async fn a_retry_after_within_the_deadline_is_waited_for() {
    let world = World::start().await;
    let (_held, (events, _collecting)) = (HoldClock::new(), Events::here());
    let fault = world
        .server
        .fault(Operation::ListPeople)
        .times(1)
        .status(503);
    fault.retry_after("7");

    let call = tokio::spawn(world.crm.people().list().send());
    let start = Instant::now();
    while events.lines("DEBUG", &["the call is repeated"]).is_empty() {
        assert!(
            start.elapsed() < Duration::from_secs(5),
            "{}",
            events.text()
        );
        tokio::task::yield_now().await;
    }
    tokio::time::advance(Duration::from_millis(6_999)).await;
    assert!(!call.is_finished());
    assert_eq!(world.server.attempts(Operation::ListPeople), 1);
    tokio::time::advance(Duration::from_millis(2)).await;

    let page = call.await.unwrap().unwrap();
    assert_eq!(page.attempts(), 2);
    assert_eq!(world.server.attempts(Operation::ListPeople), 2);
}
