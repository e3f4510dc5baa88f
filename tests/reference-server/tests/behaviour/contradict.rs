//! Servers that contradict an assumption. Requests show the change of each, and that nothing else changes.

use std::time::Duration;

use Assumption::{A02, A06, A09, A41, A53, A55, A71, A72, A75, A82};
use sdk_reference_server::{App, Assumption, Builder, Operation, ReferenceServer};
use serde_json::{Value, json};

use crate::peer::{Got, Peer, part, rows};

/// One row per request: the assumption, the request, the compared part of the response, and its value with and without
/// the assumption.
const SEEN: &str = include_str!("contradict.txt");

fn contradicting(contradicted: &[Assumption]) -> Peer {
    let all = contradicted.iter().copied();
    let builder = all.fold(ReferenceServer::builder(), Builder::contradict);
    Peer::of(builder.in_memory())
}

fn token(reply: &Value) -> &str {
    let token = reply.get("access_token").or(reply.get("token"));
    token.and_then(Value::as_str).unwrap()
}

async fn get(peer: &Peer, app: App, path: &str) -> Got {
    let audience = peer.server.audience(app);
    let form = format!("{}&audience={audience}&resource={audience}", peer.grant());
    peer.get_with(app, path, token(&peer.form(&form).await.expect(200)))
        .await
}

/// Fills the audiences and a cursor into a request of the table.
async fn filled(peer: &Peer, text: &str) -> String {
    let mut filled = text.replace("{core}", &peer.server.audience(App::Platform));
    if text.contains("{cursor}") {
        let first = get(peer, App::Crm, "/api/crm/v1/people?limit=2").await;
        filled = text.replace("{cursor}", first.body["nextCursor"].as_str().unwrap());
    }
    filled.replace("{crm}", &peer.server.audience(App::Crm))
}

async fn ask(peer: &Peer, request: &str) -> Got {
    let words: Vec<&str> = request.split(' ').collect();
    let url = |app| peer.server.url(App::from_id(app).unwrap());
    let post = |url: String, form: String| {
        let request = peer.http.post(url).body(form);
        request.header("content-type", "application/x-www-form-urlencoded")
    };
    let request = match words[..] {
        ["GET", app, path] => return get(peer, App::from_id(app).unwrap(), path).await,
        ["BARE", app, path] => peer.http.get(url(app) + path),
        ["FORM", form] => return peer.form(&(peer.grant() + form)).await,
        ["POST", path, form] => post(url("platform") + path, peer.grant() + form),
        ["BASIC", form] => {
            let form = format!("grant_type=client_credentials{form}");
            let (id, secret) = (peer.server.client_id(), peer.server.client_secret());
            post(peer.server.token_url(), form).basic_auth(id, Some(secret))
        }
        _ => panic!("{request}"),
    };
    peer.read(request).await
}

fn claim(token: &str, name: &str) -> Value {
    let claims = part(token, 1);
    match name {
        "life" => json!(claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap()),
        _ => claims[name].clone(),
    }
}

fn seen(what: &str, got: &Got) -> String {
    let (what, name) = what.split_once(' ').unwrap_or((what, what));
    let name = if name == "start" { "" } else { name };
    // A contradiction may wrap error bodies.
    let wrapped = || got.body.pointer(&format!("/error{name}"));
    let value = got.body.pointer(name).or_else(wrapped);
    let value = json!(value).to_string();
    match what {
        "status" => got.status.to_string(),
        "other" => got.text.contains("operationId: other_").to_string(),
        "names" => json!(got.body.as_object().unwrap().keys().collect::<Vec<_>>()).to_string(),
        "header" => got.headers.contains_key(name).to_string(),
        "start" => value[..2].to_owned(),
        "claim" => claim(token(&got.body), name).to_string(),
        _ => value,
    }
}

#[tokio::test]
async fn each_contradiction_changes_only_its_assumption() {
    let (_, table) = SEEN.split_once('\n').unwrap();
    let rows = rows::<5>(table);
    let mut ids: Vec<_> = rows.iter().map(|row| row[0].parse().unwrap()).collect();
    ids.dedup();
    assert!(Assumption::all().eq(ids));
    let all_but = |not: &[Assumption]| Assumption::all().filter(|one| !not.contains(one)).collect();
    let several = [vec![], all_but(&[A09, A71]), all_but(&[A06, A53, A82])];
    for contradicted in Assumption::all().map(|one| vec![one]).chain(several) {
        let peer = contradicting(&contradicted);
        for row in &rows {
            let assumption = row[0].parse().unwrap();
            // Without a cursor or a body, the change is not visible.
            let hidden = |one, by| assumption == one && contradicted.contains(&by);
            if hidden(A75, A53) || hidden(A82, A09) {
                continue;
            }
            let got = ask(&peer, &filled(&peer, row[1]).await).await;
            let expected = row[3 + usize::from(contradicted.contains(&assumption))];
            let expected = filled(&peer, expected).await;
            let (seen, text) = (seen(row[2], &got), &got.text);
            assert_eq!(seen, expected, "{row:?} in {contradicted:?}: {text}");
        }
    }
}

#[tokio::test]
async fn a_token_that_claims_an_hour_still_expires_as_usual() {
    let peer = contradicting(&[A41]);
    let token = peer.token(App::Crm).await;
    for (passed, status) in [(0, 200), (298, 200), (2, 401)] {
        peer.server.advance(Duration::from_secs(passed));
        let got = peer.get_with(App::Crm, "/api/crm/v1/actors", &token).await;
        assert_eq!(got.status, status, "{passed}");
    }
}

#[tokio::test]
async fn a_scripted_error_has_the_contradicted_body() {
    let peer = contradicting(&[A02, A06, A55, A72]);
    peer.once(Operation::ExchangeToken).status(503);
    let refused = peer.form(&peer.grant()).await.expect(503);
    assert_eq!(refused, json!({"reason": "temporarily_unavailable"}));
    peer.once(Operation::GetHealth).status(503);
    let refused = ask(&peer, "BARE crm /api/health").await.expect(503);
    assert_eq!(refused["error"]["code"], 503);
}
