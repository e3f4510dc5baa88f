//! What errors, events and panics show, even when a server repeats what it was sent.

use std::time::Duration;

use sdk_core::ClientAuthentication;
use serde_json::json;

use super::{KEY, assert_silent, credentials, print, print_error, with_canary_tokens};
use crate::fixtures::get_person;
use crate::peer::{Over, Step, always, close, json, over_all, reply, reset, script, stall};
use crate::samples::{event, kick_off};
use crate::support::{Clients, Events, builder_to, key};

over_all! {
    fault_32_no_error_event_or_panic_shows_what_was_sent
    fault_32_a_failing_exchange_shows_no_secret
}

async fn fault_32_no_error_event_or_panic_shows_what_was_sent(over: Over) {
    let (events, _guard) = Events::here();
    // Servers that repeat what they were sent, in every place that gets into an error.
    let echo = "canary-token canary-key-of-row-32";
    let body = json!({"code": echo, "message": echo, "requestId": echo});
    let steps: [Step; 8] = [
        json(401, &body).header("x-request-id", echo),
        json(403, &body),
        json(409, &body),
        json(503, &body),
        json(200, &json!(echo)),
        reply(200).body(format!("<html>authorization: Bearer {echo}</html>")),
        reset(),
        stall(),
    ];
    let mut printed = String::new();
    for step in steps {
        let peer = over.start(with_canary_tokens(always(step)));
        let calendar = builder_to(&peer)
            .credentials(credentials(ClientAuthentication::RequestBody))
            .timeout(Duration::from_millis(50))
            .calendar();
        let command = kick_off(&calendar).idempotency_key(key(KEY));
        let panicked = tokio::spawn(async { command.await.unwrap() }).await;
        let panicked = panicked.unwrap_err().into_panic();
        printed += panicked.downcast_ref::<String>().unwrap();

        let event = event("Kick-off");
        let command = calendar.events().command(&event);
        let command = command.idempotency_key(key(KEY));
        let error = command.await.unwrap_err();
        printed += &print_error(&error);
        printed += &print(&error.command());
        assert_eq!(peer.requests()[0].key(), Some(KEY));
        assert_eq!(peer.requests()[0].bearer(), Some("canary-token"));
    }

    assert_silent(&printed);
    assert_silent(&events.text());
    for reported in [
        "suite.call",
        "suite.attempt",
        "the call is retried",
        "token renewed",
        "connecting to 127.0.0.1",
    ] {
        assert!(events.text().contains(reported), "{reported}");
    }
}

async fn fault_32_a_failing_exchange_shows_no_secret(over: Over) {
    let (events, _guard) = Events::here();
    let echo = json!({"error": "canary-secret", "error_description": "not canary-secret"});
    for step in [
        json(401, &echo),
        json(503, &echo),
        reply(200).body("canary-token"),
        close(),
    ] {
        let peer = over.start(script([]).tokens_always(step));
        let crm = builder_to(&peer)
            .credentials(credentials(ClientAuthentication::RequestBody))
            .crm();

        let error = get_person(&crm).await.unwrap_err();

        assert_silent(&print_error(&error));
        assert!(peer.exchanges()[0].text().contains("canary-secret"));
    }
    assert_silent(&events.text());
    assert!(events.text().contains("token renewal failed"));
}
