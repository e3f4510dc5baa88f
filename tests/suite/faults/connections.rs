//! Rows 13 and 14: connections that end early, cannot be made, or are not to be trusted.

use std::time::Duration;

use sdk_core::{App, Backoff, Effect, ErrorKind, RetryPolicy};

use super::fixtures::{add_person, committed, created, get_person, person};
use crate::peer::{Peer, Reserved, always, close, reset};
use crate::samples::event;
use crate::support::{Clients, assert_says, assert_tried, builder_at, calendar_at, crm_at, until};

/// A wait that is soon over.
const SHORT: Duration = Duration::from_millis(20);

#[tokio::test]
async fn fault_13_a_read_is_sent_again_when_its_kept_connection_was_closed() {
    let peer = Peer::start([person().close_on_reuse(), person()]);
    let crm = crm_at(&peer);
    get_person(&crm).await.unwrap();

    let again = get_person(&crm).await.unwrap();

    assert_eq!(again.attempts(), 2);
    let seen = peer.requests();
    assert_eq!(seen.len(), 3);
    assert_eq!(seen[1].connection, seen[0].connection);
    assert_ne!(seen[2].connection, seen[1].connection);
}

#[tokio::test]
async fn fault_13_a_keyed_command_is_sent_again_with_its_key_and_body() {
    for broken in [close(), reset()] {
        let peer = Peer::start([created().close_on_reuse(), broken, created()]);
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

#[tokio::test]
async fn fault_14_a_refused_connection_was_never_sent_and_is_tried_again() {
    let tokens = Peer::start([]);
    let crm_port = Reserved::new();
    let suite = builder_at(&tokens.url()).application_url(App::Crm, crm_port.url());
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
    let peer = crm_port.open([committed()]);
    let receipt = command.await.unwrap().unwrap();
    assert!(receipt.attempts() > 2);
    assert_eq!(peer.requests().len(), 1);
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
}
