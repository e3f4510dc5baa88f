//! What types print that hold something.

use std::sync::Arc;

use sdk_core::internal::{ClientCredentialsSource, TokenCache};
use sdk_core::{
    AccessToken, CallOptions, ClientAuthentication, Method, RawJson, Secret, TokenPolicy,
    TokenRequest,
};
use sdk_platform::types;
use serde_json::json;

use super::{KEY, assert_silent, credentials, print, print_error, with_canary_tokens};
use crate::fixtures::{add_person, get_person, person};
use crate::peer::{Peer, always, json, reply, script};
use crate::samples::kick_off;
use crate::support::{Clients, assert_says, builder_at, key};

#[tokio::test]
async fn fault_32_no_type_prints_what_it_holds() {
    let peer = Peer::start(with_canary_tokens(always(person())));
    let request = TokenRequest::new().with_audience("crm");
    let source = ClientCredentialsSource::new(
        reqwest::Client::new(),
        format!("{}/oauth/token?key=canary-query", peer.url())
            .parse()
            .unwrap(),
        credentials(ClientAuthentication::Basic),
        &TokenPolicy::default(),
    );
    let mut printed = print(&source);
    let cache = TokenCache::new(Arc::new(source), TokenPolicy::default());
    let entry = cache.entry(request);
    let bearer = entry.bearer().await.unwrap();
    printed += &(print(&bearer) + &print(&bearer.header()) + &print(&entry) + &print(&cache));
    printed += &(print(&credentials(ClientAuthentication::Basic))
        + &print(&AccessToken::new("canary-token")));
    printed += &(print(&Secret::from("canary")) + &print(&key(KEY)));

    let builder = builder_at(&peer.url()).credentials(credentials(ClientAuthentication::Basic));
    printed += &print(&builder);
    let suite = builder.build().unwrap();
    let crm = suite.crm();
    let calendar = suite.calendar();
    let person = get_person(&crm).await.unwrap();
    printed += &(print(&person) + &print(&suite) + &print(&crm) + &print(&suite.stats()));

    let options = CallOptions::default()
        .with_header("x-api-key", "canary-header")
        .with_query("key", "canary-query");
    printed += &(print(&options) + &print(&crm.with_defaults(options)));
    let list = crm.people().list().header("x-api-key", "canary-header");
    printed += &(print(&list) + &print(&list.clone().pages()) + &print(&list.items()));

    let command = kick_off(&calendar)
        .idempotency_key(key(KEY))
        .header("x-api-key", "canary-header");
    printed += &print(&command);
    printed += &print(&command.prepare().unwrap());
    printed += &print(&add_person(&crm));
    let raw = crm.raw_call((Method::Post, "/api/crm/v1/notes"));
    let raw = raw
        .header("x-api-key", "canary-header")
        .query("key", "canary-query");
    printed += &print(&raw.idempotency_key(key(KEY)));

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
    let platform = builder_at(&peer.url()).platform();
    let form = types::TokenForm::new()
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

    // What a form sends is not repeated, except for what is public.
    let says = |text: &str| json(400, &json!({ "message": text }));
    let echoes = ["canary-secret", "canary-code", "client-4711 is unknown"].map(says);
    let peer = Peer::start(script([]).tokens(echoes));
    let platform = builder_at(&peer.url()).platform();
    let mut form = form.client_id("client-4711");
    let code = RawJson::encode(&"canary-code").unwrap();
    form.extra.insert("code", code);
    for shown in ["redacted", "redacted", "client-4711 is unknown"] {
        let error = platform.oauth().token(&form).await.unwrap_err();
        assert_says(&error, &[shown]);
        printed += &print_error(&error);
    }

    assert_silent(&printed);
    assert!(
        peer.exchanges()[0]
            .text()
            .contains("client_secret=canary-secret")
    );
}
