//! Rows 13 and 14: connections that end early, cannot be made, or are not to be trusted.

use std::time::Duration;

use sdk_core::{App, Backoff, Effect, ErrorKind, RetryPolicy};

use crate::fixtures::{add_person, committed, created, get_person, person};
use crate::peer::{
    Last, Over, Peer, Reserved, Step, always, close, go_away, over_all, refuse, reset, script,
};
use crate::samples::event;
use crate::support::{
    Clients, assert_says, assert_tried, builder_at, builder_to, calendar_at, crm_at, until,
};

over_all! {
    fault_13_a_connection_that_ends_with_its_reply_costs_no_attempt
    fault_13_a_read_is_sent_again_when_its_kept_connection_was_closed
    fault_13_a_keyed_command_is_sent_again_with_its_key_and_body
    fault_14_a_refused_connection_was_never_sent_and_is_tried_again
}

/// A wait that is soon over.
const SHORT: Duration = Duration::from_millis(20);

async fn fault_13_a_connection_that_ends_with_its_reply_costs_no_attempt(over: Over) {
    let peer = over.start([committed().last(), committed()]);
    let crm = crm_at(&peer);

    for _ in 0..2 {
        assert_eq!(add_person(&crm).await.unwrap().attempts(), 1);
    }

    assert_eq!(peer.requests().len(), 2);
    assert_eq!(peer.connections(), 2);
}

async fn fault_13_a_read_is_sent_again_when_its_kept_connection_was_closed(over: Over) {
    let peer = over.start([person().close_on_reuse(), person()]);
    let crm = crm_at(&peer);
    get_person(&crm).await.unwrap();

    let again = get_person(&crm).await.unwrap();

    assert_eq!(again.attempts(), 2);
    let seen = peer.requests();
    assert_eq!(seen.len(), 3);
    assert_eq!(seen[1].connection, seen[0].connection);
    assert_ne!(seen[2].connection, seen[1].connection);
}

async fn fault_13_a_keyed_command_is_sent_again_with_its_key_and_body(over: Over) {
    for broken in [close(), reset()] {
        let peer = over.start([created().close_on_reuse(), broken, created()]);
        let calendar = calendar_at(&peer);
        let first = calendar.events().command(&event("First")).await;
        assert_eq!(first.unwrap().attempts(), 1);

        let receipt = calendar.events().command(&event("Second")).await.unwrap();

        assert_eq!(receipt.attempts(), 3);
        let seen = peer.requests();
        assert_eq!(seen.len(), 4);
        let key = receipt.idempotency_key().unwrap().as_str();
        for repeated in &seen[1..] {
            assert_eq!(repeated.key(), Some(key));
            assert_eq!(repeated.body, seen[1].body);
        }
        assert_ne!(seen[0].key(), Some(key));
    }
}

async fn fault_14_a_refused_connection_was_never_sent_and_is_tried_again(over: Over) {
    let tokens = over.start([]);
    let crm_port = Reserved::new();
    let suite = builder_to(&tokens).application_url(App::Crm, crm_port.url());
    let suite = suite.suite();
    let crm = suite.crm();

    let error = add_person(&crm).await.unwrap_err();
    assert_tried(&error, ErrorKind::Connect, Effect::NotSent, 3);
    assert!(error.is_retryable() && error.is_unavailable());
    assert_says(&error, &["refused"]);

    // The server comes back while a call is being repeated.
    let patient = RetryPolicy::default()
        .with_attempts(50)
        .with_backoff(Backoff::new(SHORT, SHORT));
    let command = add_person(&crm).retry(patient).send();
    let command = tokio::spawn(command);
    until(|| suite.stats().attempts >= 3 + 2).await;
    let peer = crm_port.open(over, [committed()]);
    let receipt = command.await.unwrap().unwrap();
    assert!(receipt.attempts() > 2);
    assert_eq!(peer.requests().len(), 1);
}

/// What a peer does over HTTP/2 with a command that it says it did nothing with, for each client.
fn not_processed() -> impl Iterator<Item = (Over, Step)> {
    let steps = || [refuse(), go_away(Last::Before)];
    let with = move |over| steps().map(|step| (over, step));
    Over::HTTP2.into_iter().flat_map(with)
}

#[tokio::test]
async fn fault_13_an_http2_server_that_did_not_process_a_command_gets_it_again() {
    for (over, step) in not_processed() {
        let steps = script([committed(), step.clone(), committed()]);
        let peer = over.start(steps.tokens([step]));
        let crm = crm_at(&peer);
        add_person(&crm).await.unwrap();
        assert_eq!(peer.exchanges().len(), 2);

        let receipt = add_person(&crm).await.unwrap();

        assert_eq!((receipt.attempts(), peer.requests().len()), (2, 3));
    }
}

#[tokio::test]
async fn fault_13_an_http2_server_that_goes_away_ends_what_it_has_begun() {
    for over in Over::HTTP2 {
        let peer = over.start([committed().held(), go_away(Last::Before), committed()]);
        let crm = crm_at(&peer);
        let begun = tokio::spawn(add_person(&crm).send());
        peer.saw(1).await;

        // Both are on one connection, which takes the first and not the second.
        let late = add_person(&crm).await.unwrap();
        peer.release(1);
        let begun = begun.await.unwrap().unwrap();

        assert_eq!((begun.attempts(), late.attempts()), (1, 2));
        let seen = peer.requests().into_iter().map(|seen| seen.connection);
        assert_eq!(seen.collect::<Vec<_>>(), [1, 1, 2]);
    }
}

#[tokio::test]
async fn fault_13_an_http2_server_that_processes_nothing_sees_no_more_attempts_than_are_told() {
    for (over, step) in not_processed() {
        let peer = over.start(always(step));
        let crm = crm_at(&peer);
        let command = add_person(&crm).await.unwrap_err();
        assert_tried(&command, ErrorKind::Transport, Effect::NotSent, 3);
        assert!(command.is_retryable() && command.is_unavailable());
        let read = get_person(&crm).await.unwrap_err();
        assert_eq!((read.attempts(), peer.requests().len()), (3, 6));
    }
}

#[tokio::test]
async fn fault_13_an_http2_server_that_may_have_processed_a_command_leaves_its_effect_open() {
    for over in Over::HTTP2 {
        for step in [reset(), close(), go_away(Last::This)] {
            let peer = over.start([committed(), step, committed()]);
            let crm = crm_at(&peer);
            add_person(&crm).await.unwrap();

            let error = add_person(&crm).await.unwrap_err();

            assert_tried(&error, ErrorKind::Transport, Effect::Unknown, 1);
            assert_eq!(peer.requests().len(), 2);
        }
        // What is known of a later attempt says nothing about the first.
        let peer = over.start([reset(), refuse(), refuse()]);
        let error = calendar_at(&peer).events().command(&event("First")).await;
        assert_tried(
            &error.unwrap_err(),
            ErrorKind::Transport,
            Effect::Unknown,
            3,
        );
    }
}

#[tokio::test]
async fn fault_14_a_tls_failure_is_not_tried_again() {
    let tokens = Peer::start([]);
    let peer = Peer::start(always(person()));
    let url = peer.url().replace("http:", "https:");
    let suite = builder_at(&tokens.url()).application_url(App::Crm, url);

    let error = get_person(&suite.crm()).await.unwrap_err();

    assert_tried(&error, ErrorKind::Connect, Effect::NotSent, 1);
    assert!(!error.is_retryable());
    assert_says(&error, &["TLS handshake failed"]);
    assert_eq!(peer.connections(), 1);
    assert_eq!(peer.requests().len(), 0);

    // Nor is that of a token endpoint.
    let peer = Peer::start(always(person()));
    let url = peer.url().replace("http:", "https:");
    let error = get_person(&builder_at(&url).crm()).await.unwrap_err();
    assert_tried(&error, ErrorKind::TokenUnavailable, Effect::NotSent, 0);
    assert!(!error.is_retryable(), "{error}");
    assert_eq!(peer.connections(), 1);
}
