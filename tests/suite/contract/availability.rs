//! 503: a dependency is down. What follows for every operation is in `every`, and when to try again in `faults`.

use sdk_core::{Effect, ErrorKind, RetryPolicy};
use sdk_reference_server::Operation;
use serde_json::json;

use super::world::World;

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

    assert_eq!((error.attempts(), error.is_retryable()), (1, true));
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

        assert_eq!(
            (error.is_retryable(), error.attempts()),
            (retryable, attempts)
        );
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
        assert_eq!((error.attempts(), error.is_retryable()), (3, true));
        // A 4xx has no effect, whatever its reason.
        assert_eq!(error.effect(), Effect::Refused);
        fault.remove();
    }
}
