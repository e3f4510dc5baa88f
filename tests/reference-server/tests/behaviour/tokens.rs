//! `POST /oauth/token`.

use std::time::Duration;

use reqwest::RequestBuilder;
use sdk_reference_server::{App, ClientSpec, Operation, ReferenceServer};

use crate::peer::{Peer, part, rows};

/// A form, the status, and the error or the scope of the response. `{ok}` is replaced by a client with its secret,
/// `{grant}` by the complete grant with these credentials.
const FORMS: &str = "
    {grant}&scope=crm:people:read+crm:today:read&audience={crm} | 200 | crm:people:read crm:today:read
    {ok} | 400 | invalid_request
    {ok}&grant_type= | 400 | invalid_request
    {ok}&grant_type=password | 400 | unsupported_grant_type
    {grant}&grant_type=client_credentials | 400 | invalid_request
    {grant}&audience=https://elsewhere | 400 | invalid_target
    {grant}&scope=crm:everything | 400 | invalid_scope
    {grant}&scope=crm:people:read | 400 | invalid_scope
    grant_type=client_credentials | 401 | invalid_client
    grant_type=client_credentials&client_id=nobody&client_secret=x | 401 | invalid_client
    grant_type=client_credentials&client_id=reference-client&client_secret=wrong | 401 | invalid_client";

fn post(peer: &Peer, form: &str) -> RequestBuilder {
    let request = peer.http.post(peer.server.token_url());
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    request.body(form.to_owned())
}

#[tokio::test]
async fn errors_are_those_of_rfc_6749() {
    let peer = Peer::start().await;
    let grant = peer.grant();
    let (_, ok) = grant.split_once('&').unwrap();
    let crm = peer.server.audience(App::Crm);
    let table = FORMS.replace("{ok}", ok).replace("{grant}", &grant);
    let table = table.replace("{crm}", &crm);
    for [form, status, expected] in rows(&table) {
        let got = peer.form(form).await;
        let seen = got.body["error"].as_str().or(got.body["scope"].as_str());
        assert_eq!(
            (&*got.status.to_string(), seen),
            (status, Some(expected)),
            "{form}"
        );
        assert_eq!(got.header("cache-control"), Some("no-store"), "{form}");
        let basic = got.header("www-authenticate").unwrap_or_default();
        assert_eq!(basic.starts_with("Basic"), status == "401", "{form}");
    }
    let json = peer.http.post(peer.server.token_url());
    let json = json.header("content-type", "application/json");
    let twice = post(&peer, &grant).basic_auth("reference-client", Some("reference-secret"));
    for request in [json.body("{}"), twice] {
        let refused = peer.read(request).await.expect(400);
        assert_eq!(refused["error"], "invalid_request");
    }
    assert_eq!(peer.server.exchanges(), 1);
    assert_eq!(peer.server.attempts(Operation::ExchangeToken), 13);
}

#[tokio::test]
async fn basic_credentials_are_form_encoded_first() {
    let peer = Peer::start().await;
    peer.server.add_client(ClientSpec::new("we:ird", "p% é+"));
    for (id, secret, status) in [
        ("we%3Aird", "p%25+%C3%A9%2B", 200),
        ("we:ird", "p% é+", 401),
    ] {
        let request = post(&peer, "grant_type=client_credentials");
        let got = peer.read(request.basic_auth(id, Some(secret))).await;
        got.expect(status);
    }
}

#[tokio::test]
async fn a_rotated_secret_replaces_the_old_one_and_nothing_else() {
    let peer = Peer::start().await;
    let token = peer.token(App::Crm).await;
    let (id, old) = (peer.server.client_id(), peer.server.client_secret());

    peer.server.rotate_secret(id, "second");

    for (secret, status) in [(old, 401), ("second", 200)] {
        let request = post(&peer, "grant_type=client_credentials");
        let got = peer.read(request.basic_auth(id, Some(secret))).await;
        got.expect(status);
    }
    let today = peer.get_with(App::Crm, "/api/crm/v1/today", &token).await;
    today.expect(200);
}

#[tokio::test]
async fn a_client_that_is_removed_and_added_again_has_no_old_token() {
    let peer = Peer::start().await;
    let (id, secret) = (peer.server.client_id(), peer.server.client_secret());
    let client = || ClientSpec::new(id, secret);
    let token = peer.token(App::Crm).await;
    let status = async || {
        peer.get_with(App::Crm, "/api/crm/v1/today", &token)
            .await
            .status
    };
    peer.server.add_client(client());
    assert_eq!(status().await, 200);
    peer.server.remove_client(id);
    assert_eq!(status().await, 401);
    peer.server.add_client(client());
    assert_eq!(status().await, 401);
    peer.get(App::Crm, "/api/crm/v1/today").await.expect(200);
}

#[tokio::test]
async fn a_form_of_many_fields_is_read_once() {
    let peer = Peer::start().await;
    let fields: Vec<String> = (0..40_000).map(|number| format!("f{number}=1")).collect();
    let twice = [&*fields, &*fields].concat();
    for more in [fields.join("&"), twice.join("&"), "f=1&".repeat(60_000)] {
        let got = peer.form(&format!("{}&{more}", peer.grant())).await;
        assert!(got.status < 500 && got.text.len() < 5_000, "{}", got.status);
    }
}

#[tokio::test]
#[should_panic(expected = "no client \"nobody\"")]
async fn rotating_the_secret_of_an_unknown_client_panics() {
    Peer::start().await.server.rotate_secret("nobody", "x");
}

#[tokio::test]
async fn a_token_is_valid_for_at_least_its_expires_in() {
    for micros in [1_999, 1_000_000, 1_500_000, 300_000_000] {
        let lifetime = Duration::from_micros(micros);
        let builder = || ReferenceServer::builder().frozen_clock();
        let built = builder().token_lifetime(lifetime).in_memory();
        let set = builder().in_memory();
        set.set_token_lifetime(lifetime);
        let struck = builder().in_memory();
        struck.fault("exchangeToken").token_lifetime(lifetime);
        // The clock counts milliseconds.
        let lifetime = Duration::from_millis(micros / 1_000);
        for peer in [built, set, struck].map(Peer::of) {
            // Issue tokens at various fractions of a second.
            for passed in [0, 1, 499, 500, 998] {
                peer.server.advance(Duration::from_millis(passed));
                promises_hold(&peer, lifetime).await;
            }
        }
    }
}

#[tokio::test]
#[should_panic(expected = "set_token_lifetime: must be from 0.001 to 300 seconds")]
async fn a_lifetime_out_of_bounds_panics() {
    let server = ReferenceServer::in_memory();
    server.set_token_lifetime(Duration::from_secs(301));
}

/// Gets a token, and moves the clock to check its lifetime.
async fn promises_hold(peer: &Peer, lifetime: Duration) {
    let issued = peer.server.now().as_millisecond();
    let form = format!(
        "{}&audience={}",
        peer.grant(),
        peer.server.audience(App::Crm)
    );
    let granted = peer.form(&form).await.expect(200);
    let token = granted["access_token"].as_str().unwrap();
    let claims = part(token, 1);
    let [iat, exp] = ["iat", "exp"].map(|name| claims[name].as_i64().unwrap());
    let honoured = i64::try_from(lifetime.as_millis()).unwrap();

    let what = format!("{lifetime:?}, {issued}: {claims}");
    assert!((iat * 1_000..(iat + 1) * 1_000).contains(&issued), "{what}");
    assert!((0..=300).contains(&(exp - iat)), "{what}");
    assert!((exp - iat) * 1_000 <= honoured, "{what}");
    assert!(exp * 1_000 <= issued + honoured, "{what}");
    assert_eq!(granted["expires_in"], exp - iat, "{what}");

    let last = Duration::from_millis(1);
    for (passed, status) in [(lifetime.saturating_sub(last), 200), (last, 401)] {
        peer.server.advance(passed);
        let got = peer.get_with(App::Crm, "/api/crm/v1/today", token).await;
        assert_eq!(got.status, status, "{what}");
        let challenge = got.header("www-authenticate").unwrap_or_default();
        assert_eq!(challenge.contains("invalid_token"), status == 401);
    }
}
