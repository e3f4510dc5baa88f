//! Rows 13 and 14: connections that end early, cannot be made, or are not to be trusted.

use std::time::Duration;

use sdk_core::{Backoff, Effect, ErrorKind, RetryPolicy};
use sdk_crm::Client;

use super::fixtures::{PERSON, committed, created, new_event, new_person, person};
use crate::peer::{Peer, Reserved, always, close, reset};
use crate::support::{builder_at, calendar_at, crm_at, until};

#[tokio::test]
async fn fault_13_a_read_is_sent_again_when_its_kept_connection_was_closed() {
    let peer = Peer::start([person().close_on_reuse(), person()]);
    let crm = crm_at(&peer);
    crm.people().get(PERSON).await.unwrap();

    let again = crm.people().get(PERSON).await.unwrap();

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
        let first = calendar.events().command(&new_event("First")).await;
        assert_eq!(first.unwrap().attempts(), 1);

        let receipt = calendar
            .events()
            .command(&new_event("Second"))
            .await
            .unwrap();

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
async fn fault_13_a_command_without_a_key_is_not_sent_again() {
    for broken in [close(), reset()] {
        let peer = Peer::start([broken, committed()]);
        let crm = crm_at(&peer);

        let error = crm.commands().submit(new_person()).await.unwrap_err();

        assert_eq!(error.kind(), ErrorKind::Transport, "{error}");
        assert_eq!((error.attempts(), error.effect()), (1, Effect::Unknown));
        assert!(
            error.to_string().contains("its effect is unknown"),
            "{error}"
        );
        assert_eq!(peer.requests().len(), 1);

        // The caller knows better, and sends it again exactly.
        crm.send_prepared(error.command().unwrap()).await.unwrap();
        let seen = peer.requests();
        assert_eq!(seen[0].body, seen[1].body);
        assert_eq!(seen[0].target, seen[1].target);
    }
}

#[tokio::test]
async fn fault_14_a_refused_connection_was_never_sent_and_is_tried_again() {
    let tokens = Peer::start([]);
    let crm_port = Reserved::new();
    let suite = builder_at(&tokens.url())
        .application_url("crm", crm_port.url())
        .build()
        .unwrap();
    let crm = Client::new(&suite).unwrap();

    let error = crm.commands().submit(new_person()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Connect);
    assert_eq!((error.attempts(), error.effect()), (3, Effect::NotSent));
    assert!(error.retryable() && error.is_unavailable());
    assert!(error.to_string().contains("refused"), "{error}");

    // The server comes back while a call is being repeated.
    let short = Duration::from_millis(20);
    let patient = RetryPolicy::default()
        .with_attempts(50)
        .with_backoff(Backoff::new(short, short));
    let command = crm.commands().submit(new_person()).retry(patient).send();
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
    let suite = builder_at(&tokens.url())
        .application_url("crm", peer.url().replace("http:", "https:"))
        .build()
        .unwrap();

    let error = Client::new(&suite)
        .unwrap()
        .people()
        .get(PERSON)
        .await
        .unwrap_err();

    assert_eq!(error.kind(), ErrorKind::Connect);
    assert_eq!((error.attempts(), error.effect()), (1, Effect::NotSent));
    assert!(!error.retryable());
    assert!(
        error.to_string().contains("TLS handshake failed"),
        "{error}"
    );
    assert_eq!(peer.connections(), 1);
    assert_eq!(peer.requests().len(), 0);
}
