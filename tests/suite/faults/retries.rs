//! Rows 19, 20 and 63: when to try again, and when to leave it.

use std::sync::Mutex;
use std::time::Duration;

use futures_util::future::ready;
use sdk_core::{App, Effect, ErrorKind, Method, RetryPolicy};
use sdk_crm::GetPerson;
use tokio::time::{Instant, timeout};

use crate::fixtures::{get_person, person};
use crate::peer::{Peer, always, reply, script};
use crate::seams::transport::service::Scripted;
use crate::support::{Clients, assert_failed, builder_at, crm_at, quick_retry};

#[tokio::test]
async fn fault_19_a_retry_after_beyond_the_deadline_ends_the_call_at_once() {
    for after in ["100000000000000", "99999999999999999999999999", "31"] {
        let peer = Peer::start(always(reply(503).header("retry-after", after)));

        let call = get_person(&crm_at(&peer)).send();
        let call = timeout(Duration::from_secs(5), call).await;
        let error = call.expect("it waits for nothing").unwrap_err();

        assert_eq!((error.status(), error.attempts()), (Some(503), 1));
        assert!(error.is_retryable());
        let asked = after.parse().unwrap_or(u64::MAX);
        assert_eq!(error.retry_after(), Some(Duration::from_secs(asked)));
        assert_eq!(peer.requests().len(), 1);
    }
}

#[tokio::test]
async fn fault_19_a_retry_after_that_makes_no_sense_is_ignored() {
    for after in ["-1", "soon", "", "1.5e3", "Wed, 21 Oct 2015 07:28:00 GMT"] {
        let busy = reply(429).header("retry-after", after);
        let peer = Peer::start(script([busy.clone(), busy]).then_always(person()));

        let person = get_person(&crm_at(&peer)).await.unwrap();

        assert_eq!(person.attempts(), 3, "{after}");
    }
}

#[tokio::test(start_paused = true)]
async fn fault_19_a_retry_after_within_the_deadline_is_waited_for() {
    let busy = Mutex::new(Some(reply(503).header("retry-after", "7")));
    let service = Scripted::new(move |_| {
        let step = busy.lock().unwrap().take().unwrap_or_else(person);
        ready(Ok(step.in_memory()))
    });
    let start = Instant::now();
    let person = get_person(&service.suite().crm()).await.unwrap();

    assert_eq!((person.attempts(), service.seen().len()), (2, 2));
    let waited = start.elapsed().as_millis();
    assert!((7_000..=7_100).contains(&waited), "{waited}");
}

#[tokio::test]
async fn a_renewed_token_takes_no_retry_away() {
    for steps in [
        [reply(401), reply(503), reply(503)],
        [reply(503), reply(401), reply(503)],
        [reply(503), reply(503), reply(401)],
    ] {
        let peer = Peer::start(script(steps).then_always(person()));
        assert_eq!(get_person(&crm_at(&peer)).await.unwrap().attempts(), 4);
    }
    // Nor does it give one.
    let down = [reply(401), reply(503), reply(503), reply(503)];
    let peer = Peer::start(script(down).then_always(person()));
    let error = get_person(&crm_at(&peer)).await.unwrap_err();
    assert_eq!((error.status(), error.attempts()), (Some(503), 4));
}

#[tokio::test]
async fn fault_20_in_a_long_outage_the_budget_keeps_attempts_per_call_near_one() {
    let with_budget = attempts_per_call(None).await;
    let without = attempts_per_call(Some(u32::MAX)).await;

    println!(
        "an outage of the CRM at 1,000 calls: {with_budget:.2} attempts per call with the retry budget, {without:.2} without it"
    );
    assert!(with_budget <= 1.1, "{with_budget}");
    assert!((without - 3.0).abs() < f64::EPSILON, "{without}");
}

/// What 1,000 calls cost a CRM that answers all of them with 503.
async fn attempts_per_call(budget: Option<u32>) -> f64 {
    const CALLS: u32 = 1_000;
    let peer = Peer::start(always(reply(503)));
    let mut builder = builder_at(&peer.url()).retry(quick_retry());
    if let Some(capacity) = budget {
        builder = builder.retry_budget(capacity);
    }
    let suite = builder.build().unwrap();
    let crm = suite.crm();
    for _ in 0..CALLS {
        let error = get_person(&crm).await.unwrap_err();
        assert_failed(&error, ErrorKind::Unavailable, Effect::Unknown);
    }
    assert_eq!(suite.stats().attempts, peer.requests().len() as u64);
    f64::from(u32::try_from(peer.requests().len()).unwrap()) / f64::from(CALLS)
}

#[tokio::test]
async fn fault_20_the_budget_refills_with_successes() {
    let outage = [reply(503), reply(503), reply(503)];
    let after = [person(), person(), person(), person(), person(), reply(503)];
    let peer = Peer::start(script(outage.into_iter().chain(after)).then_always(person()));
    // Room for two repeats.
    let crm = builder_at(&peer.url()).retry_budget(10).crm();

    let error = get_person(&crm).await.unwrap_err();
    assert_eq!(error.attempts(), 3);
    for _ in 0..5 {
        get_person(&crm).await.unwrap();
    }

    assert_eq!(get_person(&crm).await.unwrap().attempts(), 2);
}

#[tokio::test]
async fn fault_20_a_retry_that_deadline_or_attempts_forbid_costs_no_budget() {
    let busy = reply(503).header("retry-after", "9");
    let limits: [fn(GetPerson) -> GetPerson; 2] = [
        |call| call.deadline(Duration::from_secs(8)),
        |call| call.retry(RetryPolicy::none()),
    ];
    for limit in limits {
        let steps = [busy.clone(), reply(503), person(), reply(503)];
        let peer = Peer::start(script(steps).then_always(person()));
        // It pays for one retry.
        let crm = builder_at(&peer.url()).retry_budget(5).crm();

        let denied = limit(get_person(&crm)).await.unwrap_err();

        assert_eq!(denied.attempts(), 1);
        assert_eq!(get_person(&crm).await.unwrap().attempts(), 2);
        assert_eq!(get_person(&crm).await.unwrap_err().attempts(), 1);
    }
}

#[tokio::test]
async fn fault_63_the_outage_of_one_application_costs_the_others_no_retry() {
    let down = Peer::start(always(reply(503)));
    let up = Peer::start(script([reply(503)]).then_always(person()));
    let builder = builder_at(&up.url()).application_url(App::Crm, down.url());
    let suite = builder.retry_budget(10).build().unwrap();
    // All clients of an application draw on one budget, whatever their scopes.
    let other = suite.with_scopes(App::Crm, ["crm:people:read"]).unwrap();

    for (suite, attempts) in [(&suite, 3), (&other, 1), (&suite, 1)] {
        let error = get_person(&suite.crm()).await.unwrap_err();
        assert_eq!(error.attempts(), attempts);
    }

    let call = suite.calendar().raw_call((Method::Get, "/agenda"));
    assert_eq!(call.await.unwrap().attempts(), 2);
}
