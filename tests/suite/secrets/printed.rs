//! Rows 32, 50, 76 and 77: types with confidential values, local mistakes with them, and confidential bodies.

use std::sync::Arc;

use sdk_core::internal::{ClientCredentialsSource, TokenCache};
use sdk_core::transport::HttpClient;
use sdk_core::{
    AccessToken, ClientAuthentication, Effect, Error, ErrorKind, Method, RawJson, Secret,
    TokenPolicy, TokenRequest,
};
use sdk_platform::operations::EXCHANGE_TOKEN;
use sdk_platform::types::TokenForm;
use serde_json::json;

use super::forms::{HEADER, KEY, QUERY, SECRET, TOKEN, assert_nothing_leaks};
use super::{
    confidential, credentials, endpoint_of, peer_of, print, print_error, suite_of, with_both,
};
use crate::fixtures::{Given, add_person, get_person, person};
use crate::peer::{Peer, json as reply_of, reply, script};
use crate::support::{Clients, Events, assert_says, assert_unsent, key};

#[tokio::test]
async fn fault_32_no_type_prints_its_confidential_values() {
    let peer = peer_of(person());
    let basic = || credentials(ClientAuthentication::Basic);
    let url = format!("{}/oauth/token?key={HEADER}", peer.url());
    let (client, policy) = (reqwest::Client::new(), TokenPolicy::default());
    let source = ClientCredentialsSource::new(client, url.parse().unwrap(), basic(), &policy);
    let mut printed = print(&source);
    let cache = TokenCache::new(Arc::new(source), policy);
    let entry = cache.entry(TokenRequest::new().with_audience("crm"));
    let bearer = entry.bearer().await.unwrap();
    printed += &(print(&bearer) + &print(&bearer.header()) + &print(&entry) + &print(&cache));
    printed += &(print(&basic()) + &print(&AccessToken::new(TOKEN)));
    printed += &(print(&Secret::from(SECRET)) + &print(&key(KEY)));
    let headers = [(reqwest::header::AUTHORIZATION, TOKEN.parse().unwrap())];
    let client = reqwest::Client::builder().default_headers(headers.into_iter().collect());
    printed += &print(&HttpClient::from(client));

    let builder = suite_of(&peer);
    printed += &print(&builder);
    let suite = builder.build().unwrap();
    let crm = suite.crm();
    let person = get_person(&crm).await.unwrap();
    printed += &(print(&person) + &print(&suite) + &print(&crm) + &print(&suite.stats()));
    printed += &(print(&with_both()) + &print(&crm.with_defaults(with_both())));
    assert_nothing_leaks(&printed, "Debug");
}

#[tokio::test]
async fn fault_50_calls_drafts_and_commands_print_no_body_and_no_secret() {
    let peer = peer_of(reply(204));
    let suite = suite_of(&peer).build().unwrap();
    let (crm, calendar) = (suite.crm(), suite.calendar());
    let post = |path: &str| {
        let call = calendar.raw_call((Method::Post, path));
        let call = call.body(json!({"note": SECRET, "key": KEY}));
        call.header("x-tenant", HEADER).query("tenant", QUERY)
    };
    let raw = post("/calendar/v1/notes/{id}").path("id", SECRET.replace('/', ""));
    let mut printed = print(&raw) + &print(&raw.idempotency_key(key(KEY)));
    let command = post("/calendar/v1/notes").idempotency_key(key(KEY));
    let command = command.prepare().unwrap();
    printed += &(print(&command) + &print(&calendar.send_prepared(&command)));
    let command = confidential(&calendar);
    printed += &(print(&command) + &print(&command.prepare().unwrap()) + &print(&add_person(&crm)));
    let list = crm.people().list().header("x-tenant", HEADER);
    let list = list.query("tenant", QUERY);
    printed += &(print(&list) + &print(&list.clone().pages()) + &print(&list.items()));
    assert_nothing_leaks(&printed, "Debug");
}

/// Checks that a call fails before anything is sent, and returns the printed error.
fn unsent(error: &Error, words: &[&str]) -> String {
    assert_unsent(error, ErrorKind::InvalidInput, words);
    print_error(error)
}

#[tokio::test]
async fn fault_76_an_error_about_a_possible_secret_contains_its_name_but_not_its_value() {
    let peer = peer_of(reply(204));
    let suite = suite_of(&peer).build().unwrap();
    let (platform, crm) = (suite.platform(), suite.crm());
    let form = TokenForm::new().member("client_secret", SECRET);
    let list = || crm.people().list();
    let header = format!("{HEADER}\u{7f}");
    let error = platform.oauth().token(&form).await.unwrap_err();
    let mut printed = unsent(&error, &["client_secret"]);
    for (call, name) in [
        (list().q("ann").query("q", QUERY), "`q`"),
        (list().header("x-tenant", &header), "x-tenant"),
        (list().header("authorization", TOKEN), "authorization"),
    ] {
        printed += &unsent(&call.await.unwrap_err(), &[name]);
    }
    for path in [
        format!("/api/crm/v1/notes?client_secret={HEADER}"),
        format!("/api/crm/v1/notes#{HEADER}"),
        format!("/api/crm/v1/{{note}}?client_secret={HEADER}"),
        format!("?client_secret={HEADER}"),
        format!("api/crm/v1/notes?client_secret={HEADER}"),
    ] {
        let call = |method| crm.raw_call((method, &*path)).path("note", "n-1");
        for call in [call(Method::Get), call(Method::Post)] {
            printed += &print(&call);
            printed += &unsent(&call.await.unwrap_err(), &["`path` must have no query"]);
        }
        let error = call(Method::Post).prepare().unwrap_err();
        printed += &unsent(&error, &["`path` must have no query"]);
        // Reads can't be prepared, whatever their path.
        let error = call(Method::Get).prepare().unwrap_err();
        assert_unsent(&error, ErrorKind::PreparedCommand, &[]);
        printed += &print_error(&error);
    }
    assert_nothing_leaks(&printed, "mistakes");
    assert!(peer.requests().is_empty() && peer.exchanges().is_empty());
}

#[tokio::test]
async fn fault_77_a_token_endpoint_at_another_path_is_recognized_by_its_setting() {
    let broken = reply(200).body(format!("{{\"access_token\":\"{TOKEN}"));
    let peer = Peer::start(script([broken]));
    let suite = suite_of(&peer).token_url(format!("{}/sign-in", peer.url()));
    let platform = suite.token_source(Given).platform();
    let error = platform.raw_call((Method::Post, "/sign-in")).await;
    assert_nothing_leaks(&print_error(&error.unwrap_err()), "sign-in");
    assert_eq!(peer.requests().len(), 1);
}

#[tokio::test]
async fn fault_77_a_call_of_the_token_endpoint_prints_no_token_and_no_body() {
    let (events, _guard) = Events::here();
    let token = json!({"access_token": TOKEN, "refresh_token": SECRET, "token_type": "Bearer"});
    let mut replies = vec![
        reply(200).body(format!("{{\"access_token\":\"{TOKEN}")),
        reply(200).body(format!("access_token={TOKEN}")),
    ];
    let odd = [
        token,
        json!([TOKEN]),
        json!({"access_token": {"value": TOKEN}}),
        json!(TOKEN),
    ];
    replies.extend(odd.iter().map(|body| reply_of(200, body)));
    let steps = replies.iter().flat_map(|step| vec![step.clone(); 4]);
    let peer = Peer::start(script([]).tokens(steps));
    let suite = suite_of(&peer).token_source(Given).build().unwrap();
    let (platform, crm) = (suite.platform(), suite.crm());
    let form = TokenForm::new().client_id("client").client_secret(SECRET);
    let mut printed = print(&form);
    for _ in &replies {
        let typed = platform.oauth().token(&form);
        printed += &print(&typed);
        match typed.await {
            Ok(token) => {
                assert_eq!(token.access_token, Some(Secret::from(TOKEN)));
                printed += &(print(&token) + &print(&token.into_inner()));
            }
            Err(error) => printed += &print_error(&error),
        }
        // The path alone marks the response as confidential, whichever client calls it.
        for call in [
            platform.raw_call(&EXCHANGE_TOKEN),
            platform.raw_call((Method::Post, "/oauth/token")),
            crm.raw_call((Method::Post, "/oauth/token")).without_token(),
        ] {
            let call = call.body(json!({"client_secret": SECRET}));
            printed += &print(&call);
            match call.await {
                Ok(receipt) => printed += &(receipt.to_string() + &print(&receipt)),
                Err(error) => {
                    assert!(!error.to_string().contains("begins with"), "{error}");
                    printed += &print_error(&error);
                }
            }
        }
    }
    assert_nothing_leaks(&(printed + &events.text()), "token endpoint");
    assert_eq!(peer.exchanges().len(), 4 * replies.len());
}

#[tokio::test]
async fn fault_77_only_public_fields_of_a_form_are_printed() {
    let mut form = TokenForm::new()
        .client_id("client-4711")
        .client_secret(SECRET);
    form.extra.insert("code", RawJson::encode(&HEADER).unwrap());
    for (phrase, shown) in [
        (SECRET, "[redacted"),
        (HEADER, "[redacted"),
        ("client-4711 is unknown", "client-4711 is unknown"),
    ] {
        let peer = endpoint_of(reply_of(400, &json!({"message": phrase})));
        let call = suite_of(&peer).platform();
        let error = call.oauth().token(&form).await.unwrap_err();
        assert_says(&error, &[shown]);
        assert_eq!(error.effect(), Effect::Refused);
        assert_nothing_leaks(&print_error(&error), phrase);
    }
}
