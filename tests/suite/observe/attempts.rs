//! The attempts that an error lists.

use std::time::Duration;

use sdk_core::{Effect, ErrorKind, RetryPolicy};

use crate::faults::fixtures::{add_person, get_person, person};
use crate::peer::{Peer, close, json, reply, script};
use crate::support::{Clients, assert_says, builder_at, crm_at, quick_retry, until};
use crate::transport::service::Scripted;

#[tokio::test]
async fn an_error_lists_its_attempts_in_one_line_or_in_full() {
    let echo = "secret-of-attempts";
    let body = serde_json::json!({"requestId": format!("R-2 {echo}"), "message": "no"});
    let peer = Peer::start(script([close(), json(503, &body), reply(404)]));
    let credentials = sdk_core::ClientCredentials::new("client", echo);
    let crm = builder_at(&peer.url()).credentials(credentials).crm();

    let error = get_person(&crm).await.unwrap_err();

    let log = error.attempt_log();
    let told = log
        .iter()
        .map(|it| (it.number, it.kind, it.status, it.effect));
    let expected = [
        (1, ErrorKind::Transport, None, Effect::Unknown),
        (2, ErrorKind::Unavailable, Some(503), Effect::Unknown),
        (3, ErrorKind::NotFound, Some(404), Effect::Refused),
    ];
    assert_eq!(told.collect::<Vec<_>>(), expected);
    assert!(log.is_sorted_by_key(|attempt| attempt.began_after));
    let ids: Vec<_> = log.iter().map(|it| it.request_id.as_deref()).collect();
    assert!(ids[1].is_some_and(|id| !id.contains(echo)), "{ids:?}");
    assert_eq!((ids[0], ids[2]), (None, None));
    assert_eq!(error.attempts(), 3);
    let (shown, line) = (format!("{error:?}"), error.to_string());
    assert_says(
        &shown,
        &["number: 2", "status: Some(503)", "kind: Transport"],
    );
    assert!(!shown.contains(echo), "{shown}");
    assert_says(&line, &["after 3 attempts"]);
    assert!(line.lines().count() == 1 && !line.contains("503"), "{line}");
    assert_eq!(error.clone().attempt_log(), log);
}

#[tokio::test(start_paused = true)]
async fn the_waits_and_times_of_attempts_are_those_of_the_clock() {
    let down = Scripted::always(reply(503).header("retry-after", "5"));
    let retry = RetryPolicy::default().with_attempts(2);
    let error = get_person(&down.suite().retry(retry).crm()).await;
    let error = error.unwrap_err();

    let [first, second] = error.attempt_log() else {
        panic!("{error:?}")
    };
    assert_eq!((first.waited, first.began_after), Default::default());
    assert!(second.waited >= Duration::from_secs(5), "{second:?}");
    assert!(second.began_after >= second.waited, "{second:?}");
    assert!(second.duration < Duration::from_secs(1), "{second:?}");
}

#[tokio::test]
async fn a_long_log_keeps_its_last_attempts_and_an_unsent_call_has_none() {
    let retry = quick_retry().with_attempts(40);
    let crm = Scripted::always(reply(503)).suite().retry(retry).crm();

    let error = get_person(&crm).await.unwrap_err();

    assert_eq!(error.attempts(), 40);
    let numbers: Vec<_> = error.attempt_log().iter().map(|it| it.number).collect();
    assert_eq!(numbers, (9..=40).collect::<Vec<_>>());
    let unsent = crm.people().get("nobody").await.unwrap_err();
    assert_eq!(unsent.attempt_log(), []);
}

#[tokio::test]
async fn a_401_and_the_attempt_after_it_are_both_listed() {
    let peer = Peer::start(script([reply(401), reply(500)]).then_always(person()));
    let crm = crm_at(&peer);
    let error = add_person(&crm).await.unwrap_err();
    until(|| peer.exchanges().len() == 2).await;
    let log = error.attempt_log();
    let told: Vec<_> = log.iter().map(|it| (it.number, it.status)).collect();
    assert_eq!(told, [(1, Some(401)), (2, Some(500))]);
}
