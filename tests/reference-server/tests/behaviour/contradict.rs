//! Worlds in which an assumption does not hold: what each does, seen by requests, and that nothing else changes.

use std::collections::BTreeSet;
use std::time::Duration;

use Assumption::{A06, A09, A53, A71, A75, A82};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use sdk_reference_server::{App, Assumption, Builder, ReferenceServer};
use serde_json::Value;

use crate::peer::{Got, Peer};

const SEEN: &str = include_str!("contradict.txt");

fn member<'v>(body: &'v Value, name: &str, other: &str) -> &'v str {
    let member = body.get(name).or(body.get(other));
    member.and_then(Value::as_str).unwrap_or("-")
}

fn claims(reply: &Got) -> Value {
    let token = member(&reply.body, "access_token", "token");
    let claims = URL_SAFE_NO_PAD.decode(token.split('.').nth(1).unwrap());
    serde_json::from_slice(&claims.unwrap()).unwrap()
}

/// A reply to a form that every world understands, if its audience is known.
async fn exchange(peer: &Peer, app: App) -> String {
    let audience = peer.server.audience(app);
    let both = format!("&audience={audience}&resource={audience}");
    let reply = peer.form(&(peer.grant() + &both)).await.expect(200);
    member(&reply, "access_token", "token").to_owned()
}

/// The text with the names in it replaced by what they stand for.
async fn filled(peer: &Peer, text: &str) -> String {
    let server = &peer.server;
    let audience = server.audience(App::Crm);
    let (actor, intake) = (server.sample_actor(), server.sample_intake_submission());
    let lower = |text: &str| text.to_lowercase().replace('-', "_");
    let mut cursor = String::new();
    if text.contains("{cursor}") {
        let token = exchange(peer, App::Crm).await;
        let first = peer.get_with(App::Crm, "/api/crm/v1/people?limit=2", &token);
        member(&first.await.expect(200), "nextCursor", "").clone_into(&mut cursor);
    }
    [
        ("{for}", format!("&audience={audience}&resource={audience}")),
        ("{audience}", audience),
        ("{core_audience}", server.audience(App::Platform)),
        (
            "{token}",
            server.token_url().replace(&server.core_url(), ""),
        ),
        ("{grant}", peer.grant()),
        ("{core}", server.core_url()),
        ("{crm}", server.crm_url()),
        ("{person}", server.sample_person()),
        ("{actor_}", lower(&actor)),
        ("{actor}", actor),
        ("{intake_}", lower(&intake)),
        ("{intake}", intake),
        ("{cursor}", cursor),
    ]
    .iter()
    .fold(text.to_owned(), |text, (name, value)| {
        text.replace(name, value)
    })
}

async fn ask(peer: &Peer, request: &str) -> Got {
    let [how, at, rest] = <[&str; 3]>::try_from(request.split(' ').collect::<Vec<_>>()).unwrap();
    if let Some(app) = App::from_id(at) {
        let mut request = peer.http.get(peer.server.url(app) + rest);
        if how == "GET" {
            request = request.bearer_auth(exchange(peer, app).await);
        }
        return peer.read(request).await;
    }
    let url = peer.server.core_url() + at;
    let mut request = peer.http.post(url).body(rest.to_owned());
    if how == "BASIC" {
        let pair = format!(
            "{}:{}",
            peer.server.client_id(),
            peer.server.client_secret()
        );
        request = request.header("authorization", format!("Basic {}", STANDARD.encode(pair)));
    }
    let form = "application/x-www-form-urlencoded";
    peer.read(request.header("content-type", form)).await
}

/// What of a reply is compared.
async fn seen(peer: &Peer, what: &str, reply: Got) -> String {
    let (what, name) = what.split_once(' ').unwrap_or((what, ""));
    let envelope = format!("/error{name}");
    let value = reply.body.pointer(name).or(reply.body.pointer(&envelope));
    match what {
        "status" => reply.status.to_string(),
        "id" => reply
            .text
            .split("operationId: ")
            .nth(1)
            .unwrap()
            .lines()
            .next()
            .unwrap()
            .to_owned(),
        "names" => {
            let names = reply.body.as_object().unwrap().keys();
            names.map(String::as_str).collect::<Vec<_>>().join(" ")
        }
        "header" => reply
            .headers
            .keys()
            .find(|name| name.as_str().starts_with("x-"))
            .unwrap()
            .to_string(),
        "kind" => match value {
            Some(Value::String(text)) if text.is_empty() => "empty",
            Some(Value::String(_)) => "text",
            Some(Value::Number(_)) => "number",
            Some(Value::Array(_)) => "array",
            Some(Value::Null) => "null",
            _ => "object",
        }
        .to_owned(),
        "claim" => member(&claims(&reply), name, "").to_owned(),
        "life" => {
            let claims = claims(&reply);
            let mut lived = 0;
            let token = member(&reply.body, "access_token", "token");
            while peer
                .get_with(App::Crm, "/api/crm/v1/actors", token)
                .await
                .status
                == 200
            {
                peer.server.advance(Duration::from_secs(60));
                lived += 60;
            }
            format!(
                "{} and {lived}",
                claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap()
            )
        }
        place => match reply.body.pointer(place) {
            Some(Value::String(text)) => text.clone(),
            value => value.map_or("-".to_owned(), Value::to_string),
        },
    }
}

#[tokio::test]
async fn each_world_contradicts_its_assumption_and_no_other() {
    let all = || Assumption::all();
    let several = [&[A09, A71][..], &[A06, A53, A82]]
        .map(|not| all().filter(|one| !not.contains(one)).collect());
    let worlds = all().map(|one| vec![one]).chain([vec![]]).chain(several);
    for world in worlds {
        let builder = world
            .iter()
            .copied()
            .fold(ReferenceServer::builder(), Builder::contradict);
        let peer = Peer::of(builder.in_memory());
        let mut shown = BTreeSet::new();
        for row in SEEN.lines().skip(1) {
            let [id, request, what, here, there] =
                <[&str; 5]>::try_from(row.split(" | ").collect::<Vec<_>>()).unwrap();
            let assumption: Assumption = id.parse().unwrap();
            shown.insert(assumption);
            // One world makes another one invisible.
            let hidden = [(A75, A53), (A82, A09)];
            if hidden
                .iter()
                .any(|(one, by)| assumption == *one && world.contains(by))
            {
                continue;
            }
            let reply = ask(&peer, &filled(&peer, request).await).await;
            let text = reply.text.clone();
            let expected = if world.contains(&assumption) {
                there
            } else {
                here
            };
            let expected = filled(&peer, expected).await;
            assert_eq!(
                seen(&peer, what, reply).await,
                expected,
                "{row} in {world:?}: {text:.200}"
            );
        }
        assert!(shown.into_iter().eq(all()));
    }
}

#[test]
fn an_assumption_is_known_by_its_id_however_it_is_written() {
    for one in Assumption::all() {
        assert_eq!(one.id().to_lowercase().parse(), Ok(one));
    }
    let error = "A7".parse::<Assumption>().unwrap_err().to_string();
    assert!(
        error.contains("\"A7\"") && error.ends_with("A82, A83, A85"),
        "{error}"
    );
}
