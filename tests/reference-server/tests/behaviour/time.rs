//! When it is: one clock for data, tokens and headers.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use sdk_reference_server::{App, Builder, Operation, ReferenceServer, Transport};
use serde_json::Value;

use crate::peer::{Peer, part};

const EACH: [Transport; 3] = [Transport::Wiremock, Transport::Hyper, Transport::InMemory];

async fn at(transport: Transport, start: impl FnOnce(Builder) -> Builder) -> Peer {
    let builder = ReferenceServer::builder().transport(transport);
    Peer::of(start(builder).start().await)
}

fn instant(value: &Value) -> Timestamp {
    value.as_str().unwrap().parse().unwrap()
}

/// `Date`, `generatedAt`, `iat` and the control of time, each as far from `now` as it is.
async fn spread(peer: &Peer, now: Timestamp) -> SignedDuration {
    let token = peer.token(App::Crm).await;
    let [iat, exp] = ["iat", "exp"].map(|name| part(&token, 1)[name].as_i64().unwrap());
    assert_eq!(exp - iat, 300);
    let got = peer.get_with(App::Crm, "/api/crm/v1/today", &token).await;
    let date = got.header("date").unwrap();
    let date = jiff::fmt::rfc2822::parse(date).unwrap().timestamp();
    let iat = Timestamp::from_second(iat).unwrap();
    let told = [
        date,
        iat,
        instant(&got.expect(200)["generatedAt"]),
        peer.server.now(),
    ];
    let far = |time: Timestamp| time.duration_since(now).abs();
    told.map(far).into_iter().max().unwrap()
}

#[tokio::test]
async fn one_clock_says_when_it_is() {
    let start: Timestamp = "2031-07-01T12:00:00Z".parse().unwrap();
    let close = SignedDuration::from_secs(60);
    for transport in EACH {
        let peer = at(transport, |builder| builder.start_at(start)).await;
        assert!(spread(&peer, start).await < close, "{transport:?}");
        peer.server.advance(Duration::from_secs(3_600));
        let later = start + SignedDuration::from_hours(1);
        assert!(spread(&peer, later).await < close, "{transport:?}");

        let peer = at(transport, Builder::wall_clock).await;
        assert!(
            spread(&peer, Timestamp::now()).await < close,
            "{transport:?}"
        );

        let date = "Thu, 01 Jan 2026 00:00:00 GMT";
        peer.once(Operation::GetHealth).header("date", date);
        let got = peer.get(App::Crm, "/api/health").await;
        assert_eq!(got.header("date"), Some(date), "{transport:?}");
    }
}

/// Changes every value in it that holds no others.
fn each(value: &mut Value, change: &impl Fn(&mut Value)) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| each(item, change)),
        Value::Object(members) => members.values_mut().for_each(|item| each(item, change)),
        value => change(value),
    }
}

/// What there is to do, with times as seconds from the server's.
async fn to_do(start: &str) -> Vec<Value> {
    let start = start.parse().unwrap();
    let peer = at(Transport::InMemory, |builder| {
        builder.start_at(start).frozen_clock()
    })
    .await;
    let since = |value: &mut Value| {
        if let Some(Ok(time)) = value.as_str().map(str::parse::<Timestamp>) {
            *value = time.duration_since(start).as_secs().into();
        }
    };
    let mut shown = Vec::new();
    for path in [
        "/today",
        "/funnel",
        "/intake-submissions",
        "/tasks?owner=all",
        "/people",
    ] {
        let mut body = peer.crm(path).await.expect(200);
        body.as_object_mut().unwrap().remove("nextCursor");
        each(&mut body, &since);
        shown.push(body);
    }
    shown
}

#[tokio::test]
async fn the_data_look_the_same_whenever_it_starts() {
    let usual = to_do("2026-01-15T09:00:00Z").await;
    for start in ["2026-11-22T15:20:11Z", "1999-12-31T23:59:59Z"] {
        assert_eq!(to_do(start).await, usual, "{start}");
    }
}
