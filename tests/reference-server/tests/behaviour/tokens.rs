//! `POST /oauth/token`.

use std::time::Duration;

use reqwest::Method;
use sdk_reference_server::{App, ClientSpec, Operation, ReferenceServer};
use serde_json::{Value, json};

use crate::peer::{Peer, part};

#[tokio::test]
async fn a_client_gets_a_bearer_token_for_an_audience() {
    let peer = Peer::start().await;
    let (grant, audience) = (peer.grant(), peer.server.audience(App::Crm));
    let scope = "crm%3Apeople%3Aread+crm%3Atoday%3Aread";
    let form = format!("{grant}&audience={audience}&scope={scope}");
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
async fn a_rotated_secret_replaces_the_old_one_and_nothing_else() {
    let peer = Peer::start().await;
    let id = peer.server.client_id().to_owned();
    let crm = peer.server.crm_url();
    let ask = |secret: &str| {
        let fields = [
            ("grant_type", "client_credentials"),
            ("client_id", &*id),
            ("audience", &*crm),
        ];
        let form = fields.into_iter().chain([("client_secret", secret)]);
        let form = form.map(|(name, value)| format!("{name}={value}"));
        let request = peer.http.post(peer.server.token_url());
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        peer.read(request.body(form.collect::<Vec<_>>().join("&")))
    };
    let old = peer.server.client_secret().to_owned();
    let token = ask(&old).await.expect(200)["access_token"].clone();

    peer.server.rotate_secret(&id, "second");

    assert_eq!(ask(&old).await.expect(401)["error"], "invalid_client");
    ask("second").await.expect(200);
    let url = format!("{crm}/api/crm/v1/today");
    let request = peer.http.get(url).bearer_auth(token.as_str().unwrap());
    peer.read(request).await.expect(200);
}

#[tokio::test]
#[should_panic(expected = "no client \"nobody\"")]
async fn the_secret_of_a_stranger_is_not_rotated() {
    Peer::start().await.server.rotate_secret("nobody", "x");
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
async fn the_reply_lies_about_the_lifetime_if_it_is_told_to() {
    let peer = Peer::start().await;
    let form = peer.grant();
    for lie in [json!(0), json!(-1), json!("soon"), json!(3600)] {
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

/// A server whose tokens live so long, and how long it says that they do.
async fn with_lifetime(by: &'static str, lifetime: Duration) -> (Peer, Value) {
    let mut builder = ReferenceServer::builder().frozen_clock().control_port(0);
    if by == "builder" {
        builder = builder.token_lifetime(lifetime);
    }
    let peer = Peer::of(builder.start().await);
    let url = format!("{}/-/tokens", peer.server.control_url().unwrap());
    match by {
        "handle" => peer.server.set_token_lifetime(lifetime),
        "fault" => {
            let fault = peer.server.fault(Operation::ExchangeToken);
            fault.token_lifetime(lifetime);
        }
        "control" => {
            let change = json!({"lifetimeSeconds": lifetime.as_secs_f64()}).to_string();
            let request = peer
                .http
                .post(&url)
                .header("content-type", "application/json");
            peer.read(request.body(change)).await.expect(200);
        }
        _ => {}
    }
    let shown = peer.read(peer.http.get(url)).await.expect(200);
    (peer, shown["lifetimeSeconds"].clone())
}

#[tokio::test]
async fn a_token_promises_no_more_than_is_honoured() {
    for by in ["builder", "handle", "control", "fault"] {
        for micros in [
            1_999,
            400_000,
            1_000_000,
            1_500_000,
            299_999_000,
            300_000_000,
        ] {
            let (peer, shown) = with_lifetime(by, Duration::from_micros(micros)).await;
            // The clock counts milliseconds.
            let lifetime = Duration::from_millis(micros / 1_000);
            assert!(
                by == "fault" || shown == lifetime.as_secs_f64(),
                "{by} {micros}: {shown}"
            );
            // Tokens are issued at all fractions of a second.
            for passed in [0, 1, 499, 500, 998] {
                peer.server.advance(Duration::from_millis(passed));
                promises_hold(&peer, lifetime).await;
            }
        }
    }
}

#[tokio::test]
async fn a_lifetime_out_of_bounds_is_refused_by_name() {
    for (by, name) in [
        ("builder", ": token_lifetime"),
        ("handle", "set_token_lifetime"),
        ("control", "\"lifetimeSeconds"),
        ("fault", "tokenLifetimeSeconds"),
    ] {
        for seconds in [0.0, 0.0009, 300.001, 3_600.0] {
            let refused = with_lifetime(by, Duration::from_secs_f64(seconds));
            let panic = tokio::spawn(refused).await.err().unwrap().into_panic();
            let said = panic.downcast::<String>().unwrap();
            let told = format!(
                "{name}: must be from 0.001 to 300 seconds, the documented maximum: got {seconds}"
            );
            assert!(said.contains(&told), "{said}");
        }
    }
}

/// Gets a token, and moves the clock to see what it is good for.
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

#[tokio::test]
async fn only_posting_gets_a_token() {
    let peer = Peer::start().await;
    let got = peer.send(Method::GET, App::Platform, "/oauth/token").await;
    assert_eq!(got.header("allow"), Some("POST"));
    assert_eq!(got.status, 405);
}

#[tokio::test]
async fn an_audience_can_be_another_than_the_origin() {
    let builder = ReferenceServer::builder().audience(App::Crm, "urn:suite:crm");
    let peer = Peer::of(builder.start().await);
    let variable = ("SUITE_CRM_AUDIENCE".to_owned(), "urn:suite:crm".to_owned());
    assert!(peer.server.environment().contains(&variable));
    peer.crm("/today").await.expect(200);
}
