//! Row 32: no secret, token or key in anything that prints itself.

use std::fmt::Debug;
use std::time::Duration;

use sdk_core::runtime::reqwest;
use sdk_core::token::{ClientCredentialsSource, TokenCache};
use sdk_core::{
    AccessToken, CallOptions, ClientAuthentication, ClientCredentials, Error, Secret, TokenPolicy,
    TokenRequest,
};
use sdk_platform::types;
use serde_json::json;

use super::fixtures::{PERSON, new_event, new_person, person};
use crate::peer::{Peer, Script, Step, always, json, reply, script};
use crate::support::{Events, builder_at, key};

/// What every secret in these tests contains, however it is encoded.
const CANARY: &str = "canary";

/// Prints a value in every way there is.
fn print(value: &impl Debug) -> String {
    format!("{value:?}\n{value:#?}\n")
}

/// Prints an error and what lies behind it.
fn print_error(error: &Error) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    let causes: Vec<String> = causes
        .map(|cause| format!("{cause}\n{cause:?}\n"))
        .collect();
    format!("{error}\n{}{}", print(error), causes.concat())
}

fn assert_silent(printed: &str) {
    // As it is, and as HTTP Basic and Debug of bytes would show it.
    for trace in [CANARY, "Y2FuYXJ5", "99, 97, 110, 97, 114, 121"] {
        if let Some(at) = printed.find(trace) {
            let from = printed[..at].rfind('\n').unwrap_or(0);
            panic!("{}", &printed[from..(at + 80).min(printed.len())]);
        }
    }
}

fn credentials() -> ClientCredentials {
    ClientCredentials::new("client", "canary-secret")
        .authentication(ClientAuthentication::RequestBody)
        .form_field("assertion", "canary-field")
}

/// Answers token requests with canaries.
fn with_canary_tokens(script: Script) -> Script {
    script.tokens_always(json(
        200,
        &json!({"access_token": "canary-token", "expires_in": 300, "refresh_token": "canary-refresh"}),
    ))
}

#[tokio::test]
async fn fault_32_no_type_prints_what_it_holds() {
    let peer = Peer::start(with_canary_tokens(always(person())));
    let request = TokenRequest::new().with_audience("crm");
    let source = ClientCredentialsSource::new(
        reqwest::Client::new(),
        format!("{}/oauth/token", peer.url()).parse().unwrap(),
        credentials(),
        &TokenPolicy::default(),
    );
    let mut printed = print(&source);
    let cache = TokenCache::new(std::sync::Arc::new(source), TokenPolicy::default());
    let entry = cache.entry(request);
    let bearer = entry.bearer().await.unwrap();
    printed += &(print(&bearer) + &print(&bearer.header()) + &print(&entry) + &print(&cache));
    printed += &(print(&credentials()) + &print(&AccessToken::new("canary-token")));
    printed += &(print(&Secret::from("canary")) + &print(&key("canary-key-of-row-32")));

    let builder = builder_at(&peer.url()).credentials(credentials());
    printed += &print(&builder);
    let suite = builder.build().unwrap();
    let crm = sdk_crm::Client::new(&suite).unwrap();
    let calendar = sdk_calendar::Client::new(&suite).unwrap();
    let person = crm.people().get(PERSON).await.unwrap();
    printed += &(print(&person) + &print(&suite) + &print(&crm) + &print(&suite.stats()));

    let mut options = CallOptions::default();
    options.header("x-api-key", "canary-header");
    options.query("key", "canary-query");
    printed += &(print(&options) + &print(&crm.with_defaults(options)));
    let list = crm.people().list().header("x-api-key", "canary-header");
    printed += &(print(&list) + &print(&list.clone().pages()) + &print(&list.items()));

    let command = calendar
        .events()
        .command(&new_event("Kick-off"))
        .idempotency_key(key("canary-key-of-row-32"))
        .header("x-api-key", "canary-header");
    printed += &print(&command);
    printed += &print(&command.prepare().unwrap());
    printed += &print(&crm.commands().submit(new_person()));

    assert_silent(&printed);
}

#[tokio::test]
async fn fault_32_a_token_that_is_asked_for_by_hand_is_not_printed() {
    let replies = [
        json(
            200,
            &json!({"access_token": "canary-token", "refresh_token": "canary-refresh"}),
        ),
        json(200, &json!(["canary-token"])),
        reply(200).body(r#"{"access_token": "canary-token"#),
        reply(200).body("access_token=canary-token"),
    ];
    let peer = Peer::start(script([]).tokens(replies.clone()));
    let suite = builder_at(&peer.url()).build().unwrap();
    let platform = sdk_platform::Client::new(&suite).unwrap();
    let form = types::TokenRequest::new()
        .client_id("client")
        .client_secret("canary-secret");
    let mut printed = print(&form) + &print(&platform.oauth().token(&form));

    let token = platform.oauth().token(&form).await.unwrap();
    assert_eq!(token.access_token, Some(Secret::from("canary-token")));
    printed += &print(&token);
    printed += &print(&token.into_inner());
    for _ in 1..replies.len() {
        printed += &print_error(&platform.oauth().token(&form).await.unwrap_err());
    }

    assert_silent(&printed);
    assert!(
        peer.exchanges()[0]
            .text()
            .contains("client_secret=canary-secret")
    );
}

#[tokio::test]
async fn fault_32_no_error_event_or_panic_shows_what_was_sent() {
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
        crate::peer::reset(),
        crate::peer::stall(),
    ];
    let mut printed = String::new();
    for step in steps {
        let peer = Peer::start(with_canary_tokens(always(step)));
        let suite = builder_at(&peer.url())
            .credentials(credentials())
            .timeout(Duration::from_millis(50))
            .build()
            .unwrap();
        let calendar = sdk_calendar::Client::new(&suite).unwrap();
        let command = calendar
            .events()
            .command(&new_event("Kick-off"))
            .idempotency_key(key("canary-key-of-row-32"));
        let panicked = tokio::spawn(async { command.await.unwrap() }).await;
        let panicked = panicked.unwrap_err().into_panic();
        printed += panicked.downcast_ref::<String>().unwrap();

        let event = new_event("Kick-off");
        let command = calendar.events().command(&event);
        let command = command.idempotency_key(key("canary-key-of-row-32"));
        let error = command.await.unwrap_err();
        printed += &print_error(&error);
        printed += &print(&error.command());
        assert_eq!(peer.requests()[0].key(), Some("canary-key-of-row-32"));
        assert_eq!(peer.requests()[0].bearer(), Some("canary-token"));
    }

    assert_silent(&printed);
    assert_silent(&events.text());
    for reported in [
        "suite.call",
        "suite.attempt",
        "the call is repeated",
        "token renewed",
    ] {
        assert!(events.text().contains(reported), "{reported}");
    }
}

#[tokio::test]
async fn fault_32_a_failing_exchange_shows_no_secret() {
    let (events, _guard) = Events::here();
    let echo = json!({"error": "canary-secret", "error_description": "not canary-secret"});
    for step in [
        json(401, &echo),
        json(503, &echo),
        reply(200).body("canary-token"),
        crate::peer::close(),
    ] {
        let peer = Peer::start(script([]).tokens_always(step));
        let suite = builder_at(&peer.url())
            .credentials(credentials())
            .build()
            .unwrap();
        let crm = sdk_crm::Client::new(&suite).unwrap();

        let error = crm.people().get(PERSON).await.unwrap_err();

        assert_silent(&print_error(&error));
        assert!(peer.exchanges()[0].text().contains("canary-secret"));
    }
    assert_silent(&events.text());
    assert!(events.text().contains("token renewal failed"));
}
