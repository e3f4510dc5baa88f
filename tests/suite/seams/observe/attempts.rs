//! The attempts that an error lists, and what observers can print of them.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sdk_core::observe::{
    AttemptEnded, CallEnded, ExtraHeaders, ObservedAttempt, ObservedCall, Renewal, Retry,
    RetryDenied, Wait,
};
use sdk_core::{Effect, ErrorKind, Observer, RetryPolicy};

use crate::fixtures::{add_person, get_person, person};
use crate::peer::{Peer, close, json, reply, script};
use crate::seams::transport::service::Scripted;
use crate::support::{Clients, assert_says, builder_at, crm_at, quick_retry, until};

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

/// Prints each event by its `Debug`.
#[derive(Clone, Default)]
struct Prints(Arc<Mutex<Vec<String>>>);

impl Prints {
    fn print(&self, event: impl Debug) {
        self.0.lock().unwrap().push(format!("{event:?}"));
    }
}

impl Observer for Prints {
    fn call_started(&self, call: &ObservedCall<'_>) {
        self.print(call);
    }

    fn call_ended(&self, ended: &CallEnded<'_>) {
        self.print(ended);
    }

    fn attempt_started(&self, attempt: &ObservedAttempt<'_>, headers: &mut ExtraHeaders<'_>) {
        headers.add("x-of-observer", "canary-of-observer");
        self.print((attempt, headers));
    }

    fn attempt_ended(&self, ended: &AttemptEnded<'_>) {
        self.print(ended);
    }

    fn waited(&self, wait: &Wait<'_>) {
        self.print(wait);
    }

    fn retrying(&self, retry: &Retry<'_>) {
        self.print(retry);
    }

    fn retry_denied(&self, denied: &RetryDenied<'_>) {
        self.print(denied);
    }

    fn token_renewed(&self, renewal: &Renewal<'_>) {
        self.print(renewal);
    }
}

#[tokio::test]
async fn the_debug_output_of_events_has_names_of_headers_but_no_values() {
    let prints = Prints::default();
    let echo = || reply(503).header("x-request-id", "canary-of-header");
    let peer = Peer::start(script([echo(), echo()]));
    let builder = builder_at(&peer.url()).observer(prints.clone());
    let crm = builder.retry(quick_retry().with_attempts(2)).crm();

    let call = add_person(&crm).idempotency_key("canary-key-of-a-command");
    let call = call.header("x-own", "canary-of-header");
    call.query("own", "canary-of-query").await.unwrap_err();

    let printed = prints.0.lock().unwrap().join("\n");
    let events = [
        "ObservedCall",
        "ExtraHeaders",
        "AttemptEnded",
        "Wait",
        "Retry ",
        "RetryDenied",
        "Renewal",
        "CallEnded",
        "x-own",
        "x-of-observer",
    ];
    assert_says(&printed, &events);
    assert!(!printed.contains("canary"), "{printed}");
}
