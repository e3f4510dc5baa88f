//! Rows 50, 73, 76, 77 and 80: what is shown of texts that are short, odd or somebody's secret.

use sdk_core::{ClientAuthentication, ClientCredentials, Error, ErrorKind, Method};
use serde_json::json;

use super::hostile::{HEADER, KEY, QUERY, SECRET, TOKEN, assert_nothing_leaks, suite_of};
use super::{print, print_error};
use crate::fixtures::{Given, get_person};
use crate::peer::{Peer, always, json as reply_of, reply, script, token};
use crate::support::{Clients, Events, assert_says, crm_at, key};

#[tokio::test]
async fn fault_73_short_secrets_leak_nothing_and_garble_nothing() {
    let scope = json!({"access_token": "e", "scope": "crm:people:read", "expires_in": 300});
    let refused = |message| reply_of(403, &json!({"code": "no", "message": message}));
    let missing = always(refused("a scope is missing: ask a person"));
    let peer = Peer::start(missing.tokens_always(reply_of(200, &scope)));
    let crm = suite_of(&peer).credentials(ClientCredentials::new("client", "s"));
    let error = crm.crm().people().list().await.unwrap_err();
    assert_says(&error, &["no: a scope is missing: ask a person"]);
    assert_says(&error, &["requires the scope crm:people:read"]);
    assert_says(&error, &["was granted crm:people:read"]);

    // As a word of its own it is not shown, and neither is what else that text says.
    let peer = Peer::start(always(refused("token e is refused")).tokens_always(token("e")));
    let error = suite_of(&peer).crm().people().list().await.unwrap_err();
    assert!(!error.to_string().contains("token e is"), "{error}");
    assert_says(&error, &["403 forbidden no: [redacted"]);
    let kept = error.body();
    assert!(kept.is_some(), "what came is kept for who asks for it");
}

#[tokio::test]
async fn fault_50_calls_drafts_and_commands_print_no_body_and_no_secret() {
    let peer = Peer::start(always(reply(204)));
    let suite = suite_of(&peer).build().unwrap();
    let calendar = suite.calendar();
    let post = |path: &str| calendar.raw_call((Method::Post, path));
    let raw = post("/calendar/v1/notes/{id}")
        .path("id", SECRET.replace('/', ""))
        .body(json!({"note": SECRET, "key": KEY}))
        .header("x-tenant", HEADER)
        .query("tenant", QUERY);
    let mut printed = print(&raw) + &print(&raw.clone().idempotency_key(key(KEY)));
    let command = post("/calendar/v1/notes").body(json!({"note": SECRET}));
    let command = command.header("x-tenant", HEADER).query("tenant", QUERY);
    let command = command.idempotency_key(key(KEY)).prepare().unwrap();
    printed += &(print(&command) + &print(&calendar.send_prepared(&command)));
    let list = suite.crm().people().list().query("tenant", QUERY);
    printed += &(print(&list) + &print(&list.pages()));
    assert_nothing_leaks(&printed, "Debug");
}

#[tokio::test]
async fn fault_76_a_mistake_with_what_may_be_a_secret_names_it_and_not_its_value() {
    let peer = Peer::start(always(reply(204)));
    let suite = suite_of(&peer).build().unwrap();
    let (platform, crm) = (suite.platform(), suite.crm());
    let form = sdk_platform::types::TokenForm::new().member("client_secret", SECRET);
    let mut printed = String::new();
    let list = || crm.people().list();
    let refused = async |call: sdk_crm::ListPeople| call.await.unwrap_err();
    let header = format!("{HEADER}\u{7f}");
    let token = platform.oauth().token(&form).await.unwrap_err();
    for (error, name) in [
        (token, "client_secret"),
        (refused(list().q("ann").query("q", QUERY)).await, "`q`"),
        (
            refused(list().header("x-tenant", &header)).await,
            "x-tenant",
        ),
        (
            refused(list().header("authorization", TOKEN)).await,
            "authorization",
        ),
    ] {
        assert!(error.is_invalid_input(), "{error}");
        assert_says(&error, &[name]);
        printed += &print_error(&error);
    }
    assert_nothing_leaks(&printed, "mistakes");
    assert!(peer.requests().is_empty() && peer.exchanges().is_empty());
}

#[tokio::test]
async fn fault_77_a_raw_call_of_the_token_endpoint_prints_no_token_and_no_body() {
    let (events, _guard) = Events::here();
    let token = json!({"access_token": TOKEN, "token_type": "Bearer"});
    let malformed = [
        json!([TOKEN]),
        json!({"access_token": {"value": TOKEN}}),
        json!(TOKEN),
    ];
    let mut replies = vec![
        reply_of(200, &token),
        reply(200).body(format!("{{\"access_token\":\"{TOKEN}")),
        reply(200).body(format!("access_token={TOKEN}")),
    ];
    replies.extend(malformed.iter().map(|body| reply_of(200, body)));
    let twice = replies.iter().flat_map(|step| [step.clone(), step.clone()]);
    let peer = Peer::start(script([]).tokens(twice));
    let source = ClientCredentials::new("client", SECRET)
        .with_authentication(ClientAuthentication::RequestBody);
    let platform = suite_of(&peer)
        .credentials(source)
        .token_source(Given)
        .platform();
    let mut printed = String::new();
    for _ in &replies {
        let by_operation = platform.raw_call(&sdk_platform::operations::EXCHANGE_TOKEN);
        let by_path = platform.raw_call((Method::Post, "/oauth/token"));
        for call in [by_operation, by_path] {
            let call = call.body(json!({"client_secret": SECRET}));
            printed += &print(&call);
            match call.await {
                Ok(receipt) => printed += &(receipt.to_string() + &print(&receipt)),
                Err(error) => printed += &print_error(&error),
            }
        }
    }
    assert_nothing_leaks(&(printed + &events.text()), "raw calls");
    assert_eq!(peer.exchanges().len(), 2 * replies.len());
}

#[test]
fn fault_50_a_handed_in_http_client_prints_no_default_header() {
    let headers = [(reqwest::header::AUTHORIZATION, TOKEN.parse().unwrap())];
    let builder = reqwest::Client::builder().default_headers(headers.into_iter().collect());
    let client = sdk_core::transport::HttpClient::from(builder);
    assert_nothing_leaks(&print(&client), "HTTP client");
}

#[tokio::test]
async fn fault_50_an_unreadable_reply_quotes_no_record() {
    for item in [
        json!("Ann Example"),
        json!({"mail": "ann@example.com"}),
        json!(["Ann"]),
    ] {
        let page = json!({"items": [{"a": 1}, item], "nextCursor": {"of": "Ann"}});
        let peer = Peer::start(always(reply_of(200, &page)));
        let crm = crm_at(&peer);
        let error = crm.people().list().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Decode);
        let shown = print_error(&error).to_lowercase();
        assert!(!shown.contains("ann"), "{shown}");
    }
}

#[tokio::test]
async fn fault_80_a_servers_text_is_one_bounded_line_wherever_it_is_shown() {
    let (events, _guard) = Events::here();
    let evil = format!(
        "first\nsecond\r\u{1b}[2J\u{9b}31m\u{202e}lru\u{200b}\u{feff}\u{2066}\u{e0041}\u{2028}end {}",
        "x".repeat(10_000)
    );
    let version = json!({"schemaVersion": evil, "items": [], "nextCursor": null});
    let envelope = json!({"error": {"code": evil, "message": evil, "requestId": evil}});
    let scopes = json!({"access_token": "t-80", "scope": evil, "expires_in": 300});
    let steps = [
        reply_of(403, &envelope),
        reply_of(409, &json!({"code": evil})),
        reply_of(200, &version),
    ];
    for step in steps {
        let peer = Peer::start(always(step).tokens_always(reply_of(200, &scopes)));
        let crm = suite_of(&peer).max_response_bytes(64 << 20).crm();
        let error = crm.opportunities().list().await.unwrap_err();
        assert_shown_well(&error);
    }
    let refused = json!({"error": evil, "error_description": evil});
    let peer = Peer::start(script([]).tokens_always(reply_of(400, &refused)));
    let error = get_person(&suite_of(&peer).crm()).await.unwrap_err();
    assert_shown_well(&error);
    for line in events.text().lines() {
        assert!(line.len() < 6_000 && !line.contains(odd), "{line:.200}");
    }
}

fn odd(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

fn assert_shown_well(error: &Error) {
    for text in [
        error.to_string(),
        format!("{error:?}"),
        error.message().to_owned(),
        error.code().unwrap_or_default().to_owned(),
        error.request_id().unwrap_or_default().to_owned(),
    ] {
        assert!(text.len() < 4_000 && !text.contains(odd), "{text:.300}");
    }
}
