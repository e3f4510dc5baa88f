//! Rows 19, 20, 54 and 63: the conditions for a retry and the delay before it.

use std::collections::HashSet;
use std::time::Duration;

use futures_util::future::join_all;
use sdk_core::{App, Backoff, Error, RetryPolicy};
use sdk_crm::ListPeople;
use sdk_reference_server::Operation;
use tokio::time::Instant;

use crate::fixtures::{in_memory, person, read};
use crate::samples::kick_off;
use crate::support::{Clients, once, run_script};

const MINUTE: Duration = Duration::from_secs(60);

/// Returns the delay after a 429 with this `Retry-After`, in a call of at most 30 s.
async fn wait_after(retry_after: &str) -> Result<Duration, Error> {
    let (server, builder) = in_memory();
    once(&server, Operation::ListPeople)
        .status(429)
        .header("date", "Sun, 06 Nov 1994 08:49:37 GMT")
        .retry_after(retry_after);
    let start = Instant::now();
    let call = builder.crm().people().list();
    let people = call.deadline(MINUTE / 2).await?;
    assert_eq!(people.attempts(), 2, "{retry_after}");
    Ok(start.elapsed())
}

#[tokio::test(start_paused = true)]
async fn fault_19_retry_after_is_respected_within_the_deadline_and_ignored_if_malformed() {
    for (after, asked) in [
        ("100000000000000", 100_000_000_000_000),
        ("99999999999999999999999999", u64::MAX),
        ("31", 31),
        ("7", 7),
        // Row 54: dates in the three HTTP formats.
        ("Sun, 06 Nov 1994 08:49:57 GMT", 20),
        ("Sunday, 06-Nov-94 08:49:57 GMT", 20),
        ("Sun Nov  6 08:49:57 1994", 20),
        ("-1", 0),
        ("soon", 0),
        ("", 0),
        ("1.5e3", 0),
        ("Wed, 21 Oct 1992 07:28:00 GMT", 0),
    ] {
        let (start, asked) = (Instant::now(), Duration::from_secs(asked));
        match wait_after(after).await {
            Ok(waited) => assert_eq!(waited, asked, "{after}"),
            Err(error) => {
                assert!(asked > MINUTE / 2 && error.is_retryable(), "{error}");
                assert_eq!((error.status(), error.attempts()), (Some(429), 1));
                assert_eq!(error.retry_after(), Some(asked));
                assert_eq!(start.elapsed(), Duration::ZERO);
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn fault_54_retries_after_a_shared_retry_after_are_spread_and_never_early() {
    const CALLS: u64 = 50;
    const ASKED: Duration = Duration::from_secs(5);
    const JITTER: Duration = Duration::from_millis(200);
    let (server, builder) = in_memory();
    let busy = server.fault(Operation::ListPeople).times(CALLS);
    busy.status(503).retry_after("5");
    let policy = RetryPolicy::default().with_backoff(Backoff::new(JITTER, JITTER));
    let crm = builder.retry(policy).retry_budget(u32::MAX).crm();
    let start = Instant::now();

    let waits = join_all((0..CALLS).map(async |_| {
        let call = crm.people().list().deadline(ASKED * 2);
        assert_eq!(call.await.unwrap().attempts(), 2);
        start.elapsed()
    }));

    let waits = HashSet::<_>::from_iter(waits.await);
    let range = ASKED..=ASKED + JITTER + Duration::from_millis(1);
    assert!(waits.iter().all(|wait| range.contains(wait)), "{waits:?}");
    assert!(waits.len() > 20, "{waits:?}");
}

#[tokio::test]
async fn a_renewed_token_neither_costs_a_retry_nor_adds_one() {
    for statuses in [
        [401, 503, 503, 200],
        [503, 401, 503, 200],
        [503, 503, 401, 200],
        [401, 503, 503, 503],
    ] {
        let script = statuses.map(|status| person().with_status(status));
        let run = run_script(script, read).await;
        let outcome = (run.attempts(), run.result.is_ok());
        assert_eq!(outcome, (4, statuses[3] == 200), "{statuses:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn fault_20_the_budget_keeps_attempts_per_call_near_one_in_a_long_outage() {
    const CALLS: u64 = 1_000;
    let outage = async |budget: u32| {
        let (server, builder) = in_memory();
        server.fault(Operation::ListPeople).status(503);
        let suite = builder.retry_budget(budget).suite();
        let crm = suite.crm();
        for _ in 0..CALLS {
            crm.people().list().await.unwrap_err();
        }
        let attempts = server.attempts(Operation::ListPeople);
        assert_eq!(suite.stats().attempts, attempts);
        attempts
    };
    let with_budget = outage(500).await;
    assert!(with_budget <= CALLS + CALLS / 10, "{with_budget}");
    assert_eq!(outage(u32::MAX).await, 3 * CALLS);
}

#[tokio::test(start_paused = true)]
async fn fault_20_the_budget_refills_with_successes_and_pays_for_retries_only() {
    let (server, builder) = in_memory();
    // The budget pays for two retries.
    let crm = builder.retry_budget(10).crm();
    let call = async |failures, limit: fn(ListPeople) -> ListPeople| {
        let down = server.fault(Operation::ListPeople).times(failures);
        down.status(503).retry_after("1");
        let outcome = limit(crm.people().list()).await;
        server.clear_faults();
        outcome.map_or_else(|error| error.attempts(), |people| people.attempts())
    };
    assert_eq!(call(3, |call| call).await, 3);
    assert_eq!(call(1, |call| call).await, 1);
    for _ in 0..5 {
        crm.people().list().await.unwrap();
    }
    // Calls that cannot retry use none of the restored budget.
    assert_eq!(call(1, |call| call.deadline(MINUTE / 60)).await, 1);
    assert_eq!(call(1, |call| call.retry(RetryPolicy::none())).await, 1);
    assert_eq!(call(1, |call| call).await, 2);
    assert_eq!(call(1, |call| call).await, 1);
}

#[tokio::test(start_paused = true)]
async fn fault_63_an_outage_of_one_application_leaves_the_budgets_of_others() {
    let (server, builder) = in_memory();
    server.fault(Operation::ListPeople).status(503);
    once(&server, Operation::SubmitEventCommand).status(503);
    let suite = builder.retry_budget(10).suite();
    // All clients of an application share one budget, whatever their scopes.
    let other = suite.with_scopes(App::Crm, ["crm:people:read"]).unwrap();

    for (suite, attempts) in [(&suite, 3), (&other, 1), (&suite, 1)] {
        let error = suite.crm().people().list().await.unwrap_err();
        assert_eq!(error.attempts(), attempts);
    }

    let event = kick_off(&suite.calendar()).await.unwrap();
    assert_eq!(event.attempts(), 2);
}
