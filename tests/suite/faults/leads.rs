//! What an error says that leads on: which audience a token is for, and which host and port did not answer.

use sdk_core::{App, Effect, ErrorKind, RetryPolicy};
use serde_json::json;

use crate::fixtures::get_person;
use crate::peer::{Peer, Reserved, always, json, reply, script};
use crate::support::{Clients, assert_says, assert_tried, builder_at, crm_at};

#[tokio::test]
async fn a_token_that_is_refused_for_its_audience_names_it_and_who_set_it() {
    let refused = json!({"error": "invalid_target", "error_description": "unknown audience"});
    let exchange = Peer::start(script([]).tokens_always(json(400, &refused)));
    let arrival = Peer::start(always(reply(401)));
    for peer in [exchange, arrival] {
        let error = get_person(&crm_at(&peer)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unauthenticated);
        let said = "the token is for the audience crm, set by `audience(App::Crm, …)`";
        assert_says(&error, &[said]);

        let alone = sdk_core::Suite::builder()
            .application_url(App::Crm, peer.url())
            .token_url(format!("{}/oauth/token", peer.url()))
            .credentials(sdk_core::ClientCredentials::new("client", "secret"));
        let crm = alone.crm();
        let error = get_person(&crm).await.unwrap_err();
        let said = format!(
            "the token is for the audience {}, the origin of the application: if that is wrong, set SUITE_CRM_AUDIENCE",
            peer.url()
        );
        assert_says(&error, &[&said]);
    }
}

#[tokio::test]
async fn a_token_that_is_refused_for_its_client_or_scopes_blames_no_audience() {
    for code in ["invalid_client", "invalid_scope"] {
        let refused = json(401, &json!({"error": code}));
        let peer = Peer::start(script([]).tokens_always(refused));
        let error = get_person(&crm_at(&peer)).await.unwrap_err();
        assert_says(&error, &[code]);
        assert!(!error.to_string().contains("audience"), "{error}");
    }
}

#[tokio::test]
async fn what_cannot_be_reached_is_named_by_host_and_port() {
    let (tokens, nobody) = (Peer::start([]), Reserved::new());
    let address = nobody.url().trim_start_matches("http://").to_owned();
    let suite = builder_at(&tokens.url()).application_url(App::Crm, nobody.url());
    let error = get_person(&suite.crm()).await.unwrap_err();
    assert_says(&error, &[&format!("cannot connect to {address}")]);

    let exchange = format!("{}/oauth/token?key=k-1", nobody.url());
    let suite = builder_at(&tokens.url()).token_url(exchange);
    let error = get_person(&suite.crm()).await.unwrap_err();
    assert_eq!(error.effect(), Effect::NotSent);
    assert_says(&error, &[&format!("token endpoint unreachable: {address}")]);
    assert!(!error.to_string().contains("k-1"), "{error}");
}

#[tokio::test]
async fn statuses_of_what_is_not_implemented_are_not_asked_for_again() {
    for status in [501, 505] {
        let peer = Peer::start(always(reply(status)));
        let error = get_person(&crm_at(&peer)).await.unwrap_err();
        assert_tried(&error, ErrorKind::Unavailable, Effect::Unknown, 1);
        assert!(!error.is_retryable());
        assert_eq!(peer.requests().len(), 1);
    }
}

#[tokio::test]
async fn an_error_has_the_headers_of_its_reply_without_what_must_not_be_shown() {
    let busy = reply(503)
        .header("retry-after", "7")
        .header("x-request-id", "req-1")
        .header("set-cookie", "session=abc")
        .header("x-echo", "Bearer t-1")
        .header("x-tenant", "north-west")
        .header("x-other", "kept");
    let peer = Peer::start(always(busy));
    let call = get_person(&crm_at(&peer))
        .header("x-tenant", "north-west")
        .retry(RetryPolicy::none());
    let error = call.await.unwrap_err();
    let headers = error.headers().unwrap();
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap());
    assert_eq!(text("retry-after"), Some("7"));
    assert_eq!(text("x-other"), Some("kept"));
    for hidden in ["set-cookie", "x-echo", "x-tenant"] {
        assert_eq!(text(hidden), Some("[redacted]"), "{hidden}");
    }
}

#[tokio::test]
async fn a_probe_that_wants_no_token_gets_none() {
    let peer = Peer::start(always(reply(200)));
    let accounting = builder_at(&peer.url()).accounting();

    accounting.service().ready().without_token().await.unwrap();

    assert_eq!(peer.requests()[0].header("authorization"), None);
    assert!(peer.exchanges().is_empty());
    // Nor is one renewed for its 401.
    let peer = Peer::start(always(reply(401)));
    let accounting = builder_at(&peer.url()).accounting();
    let call = accounting.service().ready().without_token();
    let error = call.await.unwrap_err();
    assert_eq!((error.status(), error.attempts()), (Some(401), 1));
    assert!(peer.exchanges().is_empty());
}
