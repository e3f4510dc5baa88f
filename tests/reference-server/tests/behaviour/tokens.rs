//! `POST /oauth/token`.

use std::time::Duration;

use reqwest::Method;
use sdk_reference_server::{App, ClientSpec, Operation};

use crate::peer::Peer;

#[tokio::test]
async fn a_client_gets_a_bearer_token_for_an_audience() {
    let peer = Peer::start().await;
    let form = format!(
        "grant_type=client_credentials&client_id={}&client_secret={}&audience={}&scope=crm%3Apeople%3Aread+crm%3Atoday%3Aread",
        peer.server.client_id(),
        peer.server.client_secret(),
        peer.server.audience(App::Crm),
    );
    let got = peer.form(&form).await;
    assert_eq!(got.header("cache-control"), Some("no-store"));
    assert!(got.header("x-request-id").is_some());
    let body = got.expect(200);
    assert_eq!(body["token_type"], "Bearer");
    assert_eq!(body["expires_in"], 300);
    assert_eq!(body["scope"], "crm:people:read crm:today:read");
    assert_eq!(body["access_token"].as_str().unwrap().split('.').count(), 3);
    assert_eq!(peer.server.exchanges(), 1);
}

#[tokio::test]
async fn basic_credentials_are_form_encoded_first() {
    let peer = Peer::start().await;
    peer.server.add_client(ClientSpec::new("we:ird", "p% é+"));
    let ask = |id: &str, secret: &str| {
        let url = peer.server.token_url();
        let request = peer
            .http
            .post(url)
            .header("content-type", "application/x-www-form-urlencoded");
        request
            .basic_auth(id, Some(secret))
            .body("grant_type=client_credentials")
    };

    peer.read(ask("we%3Aird", "p%25+%C3%A9%2B"))
        .await
        .expect(200);

    let raw = peer.read(ask("we:ird", "p% é+")).await;
    assert!(raw.header("www-authenticate").unwrap().starts_with("Basic"));
    assert_eq!(raw.expect(401)["error"], "invalid_client");
}

#[tokio::test]
async fn errors_are_those_of_rfc_6749() {
    let peer = Peer::start().await;
    let ok = format!(
        "client_id={}&client_secret={}",
        peer.server.client_id(),
        peer.server.client_secret()
    );
    let cases = [
        (ok.clone(), 400, "invalid_request"),
        (format!("{ok}&grant_type="), 400, "invalid_request"),
        (
            format!("{ok}&grant_type=password"),
            400,
            "unsupported_grant_type",
        ),
        (
            format!("{ok}&grant_type=client_credentials&grant_type=client_credentials"),
            400,
            "invalid_request",
        ),
        (
            format!("{ok}&grant_type=client_credentials&audience=https://elsewhere"),
            400,
            "invalid_target",
        ),
        (
            format!("{ok}&grant_type=client_credentials&scope=crm:everything"),
            400,
            "invalid_scope",
        ),
        // A scope of another application than the audience's.
        (
            format!("{ok}&grant_type=client_credentials&scope=crm:people:read"),
            400,
            "invalid_scope",
        ),
        (
            "grant_type=client_credentials".to_owned(),
            401,
            "invalid_client",
        ),
        (
            "grant_type=client_credentials&client_id=nobody&client_secret=x".to_owned(),
            401,
            "invalid_client",
        ),
        (
            format!(
                "grant_type=client_credentials&client_id={}&client_secret=wrong",
                peer.server.client_id()
            ),
            401,
            "invalid_client",
        ),
    ];
    for (form, status, error) in cases {
        let got = peer.form(&form).await;
        assert_eq!(
            (got.status, got.body["error"].as_str()),
            (status, Some(error)),
            "{form}"
        );
    }
    let both = peer
        .http
        .post(peer.server.token_url())
        .header("content-type", "application/x-www-form-urlencoded")
        .basic_auth(peer.server.client_id(), Some(peer.server.client_secret()))
        .body(format!("grant_type=client_credentials&{ok}"));
    assert_eq!(
        peer.read(both).await.expect(400)["error"],
        "invalid_request"
    );
    let json = peer
        .http
        .post(peer.server.token_url())
        .header("content-type", "application/json")
        .body(r#"{"grant_type":"client_credentials"}"#);
    assert_eq!(
        peer.read(json).await.expect(400)["error"],
        "invalid_request"
    );
    assert_eq!(peer.server.exchanges(), 0);
    assert_eq!(peer.server.attempts(Operation::ExchangeToken), 12);
}

#[tokio::test]
async fn a_token_ends_with_its_life_by_the_servers_clock() {
    let peer = Peer::of(
        sdk_reference_server::ReferenceServer::builder()
            .frozen_clock()
            .token_lifetime(Duration::from_secs(2))
            .start()
            .await,
    );
    let token = peer.token(App::Crm).await;
    peer.server.advance(Duration::from_millis(1_999));
    peer.get_with(App::Crm, "/api/crm/v1/today", &token)
        .await
        .expect(200);
    peer.server.advance(Duration::from_millis(1));
    let got = peer.get_with(App::Crm, "/api/crm/v1/today", &token).await;
    assert!(
        got.header("www-authenticate")
            .unwrap()
            .contains("invalid_token")
    );
    assert_eq!(got.status, 401);
}

#[tokio::test]
async fn no_token_lives_longer_than_300_seconds() {
    let peer = Peer::start().await;
    peer.server.set_token_lifetime(Duration::from_secs(3_600));
    let form = format!(
        "grant_type=client_credentials&client_id={}&client_secret={}",
        peer.server.client_id(),
        peer.server.client_secret()
    );
    assert_eq!(peer.form(&form).await.expect(200)["expires_in"], 300);
    for lie in [
        serde_json::json!(0),
        serde_json::json!(-1),
        serde_json::json!("soon"),
        serde_json::json!(3600),
    ] {
        peer.server.token_expires_in(lie.clone());
        assert_eq!(peer.form(&form).await.expect(200)["expires_in"], lie);
    }
    peer.server.omit_expires_in();
    assert!(
        peer.form(&form)
            .await
            .expect(200)
            .get("expires_in")
            .is_none()
    );
}

#[tokio::test]
async fn only_posting_gets_a_token() {
    let peer = Peer::start().await;
    let got = peer.send(Method::GET, App::Platform, "/oauth/token").await;
    assert_eq!(got.header("allow"), Some("POST"));
    assert_eq!(got.status, 405);
}
