//! The attempts that an error lists.

use std::time::Duration;

use sdk_core::testing::ScriptedTransport;
use sdk_core::{Effect, ErrorKind};

use crate::fixtures::get_person;
use crate::peer::{Peer, close, json, reply, script};
use crate::support::{Clients, assert_says, builder_at, quick_retry};

#[tokio::test]
async fn an_error_lists_its_attempts_in_one_line_or_in_full() {
    let echo = "secret-of-attempts";
    let body = serde_json::json!({"requestId": format!("R-2 {echo}"), "message": "no"});
    let steps = [reply(401), close(), json(503, &body), reply(404)];
    let peer = Peer::start(script(steps));
    let credentials = sdk_core::ClientCredentials::new("client", echo);
    let crm = builder_at(&peer.url()).credentials(credentials).crm();

    let error = get_person(&crm).await.unwrap_err();

    let log = error.attempt_log();
    let told = log
        .iter()
        .map(|it| (it.number, it.kind, it.status, it.effect));
    let expected = [
        (1, ErrorKind::Unauthenticated, Some(401), Effect::Refused),
        (2, ErrorKind::Transport, None, Effect::Unknown),
        (3, ErrorKind::Unavailable, Some(503), Effect::Unknown),
        (4, ErrorKind::NotFound, Some(404), Effect::Refused),
    ];
    assert_eq!(told.collect::<Vec<_>>(), expected);
    assert!(log.is_sorted_by_key(|attempt| attempt.began_after));
    let ids: Vec<_> = log.iter().map(|it| it.request_id.as_deref()).collect();
    assert!(ids[2].is_some_and(|id| !id.contains(echo)), "{ids:?}");
    assert_eq!((ids[1], ids[3], error.attempts()), (None, None, 4));
    let (shown, line) = (format!("{error:?}"), error.to_string());
    let words = ["number: 3", "status: Some(503)", "kind: Transport"];
    assert_says(&shown, &words);
    assert!(!shown.contains(echo), "{shown}");
    assert_says(&line, &["after 4 attempts"]);
    assert!(line.lines().count() == 1 && !line.contains("503"), "{line}");
    assert_eq!(error.clone().attempt_log(), log);
}

#[tokio::test(start_paused = true)]
async fn a_long_log_keeps_the_waits_and_times_of_its_last_attempts() {
    let busy = || {
        let busy = http::Response::builder().status(503);
        busy.header("retry-after", "5").body("").unwrap()
    };
    let scripted = (0..40).fold(ScriptedTransport::new(), |it, _| it.answer(busy()));
    let builder = scripted.suite().retry(quick_retry().with_attempts(40));
    let crm = builder.deadline(Duration::MAX).retry_budget(u32::MAX).crm();

    let error = get_person(&crm).await.unwrap_err();

    assert_eq!(error.attempts(), 40);
    let log = error.attempt_log();
    let numbers: Vec<_> = log.iter().map(|it| it.number).collect();
    assert_eq!(numbers, (9..=40).collect::<Vec<_>>());
    let mut began = Duration::ZERO;
    for attempt in log {
        assert!(attempt.waited >= Duration::from_secs(5), "{attempt:?}");
        assert!(attempt.began_after >= began + attempt.waited, "{attempt:?}");
        assert!(attempt.duration < Duration::from_secs(1), "{attempt:?}");
        began = attempt.began_after;
    }
    let unsent = crm.people().get("nobody").await.unwrap_err();
    assert_eq!(unsent.attempt_log(), []);
}
