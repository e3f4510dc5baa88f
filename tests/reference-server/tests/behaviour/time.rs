//! Time: one clock for data, tokens and headers.

use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822;
use sdk_reference_server::{App, Operation, ReferenceServer, Transport};
use serde_json::Value;

use crate::peer::{Peer, part};

#[tokio::test]
async fn data_tokens_and_headers_share_one_clock() {
    let (hour, start) = (3_600, "2031-07-01T12:00:00Z".parse().unwrap());
    for transport in [Transport::Wiremock, Transport::Hyper, Transport::InMemory] {
        let builder = || ReferenceServer::builder().transport(transport);
        for (builder, start) in [
            (builder().start_at(start), start),
            (builder().wall_clock(), Timestamp::now()),
        ] {
            let peer = Peer::of(builder.start().await);
            peer.server.advance(Duration::from_secs(hour));
            let token = peer.token(App::Crm).await;
            let got = peer.get_with(App::Crm, "/api/crm/v1/today", &token).await;
            let date = rfc2822::parse(got.header("date").unwrap()).unwrap();
            let body = got.expect(200);
            let shown: Timestamp = body["generatedAt"].as_str().unwrap().parse().unwrap();
            let [iat, exp] = ["iat", "exp"].map(|name| part(&token, 1)[name].as_i64().unwrap());
            let clocks = [date.timestamp(), shown, peer.server.now()].map(Timestamp::as_second);
            for seconds in clocks.into_iter().chain([iat, exp - 300]) {
                let late = seconds - start.as_second() - 3_600;
                assert!((-1..60).contains(&late), "{transport:?}: {late} s");
            }
            // Moves the clock beyond the last year and back.
            peer.server.advance(Duration::MAX);
            peer.server.reset();
            let late = peer.server.now().duration_since(start).as_secs();
            assert!((-1..60).contains(&late), "{transport:?}: {late} s");

            let date = "Thu, 01 Jan 2026 00:00:00 GMT";
            peer.once(Operation::GetHealth).header("date", date);
            let got = peer.get(App::Crm, "/api/health").await;
            assert_eq!(got.header("date"), Some(date), "{transport:?}");
        }
    }
}

/// Returns the counts at the start, the funnel, and the minutes until each task is due.
async fn to_do(start: &str) -> (Value, Value, Vec<i64>) {
    let start: Timestamp = start.parse().unwrap();
    let builder = ReferenceServer::builder().start_at(start).frozen_clock();
    let peer = Peer::of(builder.in_memory());
    let [today, funnel] = [peer.crm("/today").await, peer.crm("/funnel").await];
    let tasks = peer.walk("/tasks?owner=all").await;
    let due = tasks.iter().filter_map(|task| task["dueAt"].as_str());
    let due = due.map(|due| due.parse::<Timestamp>().unwrap());
    let until = due.map(|due| due.duration_since(start).as_mins()).collect();
    (
        today.expect(200)["counts"].take(),
        funnel.expect(200)["stages"].take(),
        until,
    )
}

#[tokio::test]
async fn the_data_look_the_same_for_any_start() {
    let usual = to_do("2026-01-15T09:00:00Z").await;
    assert!(usual.2.len() > 100 && usual.1.is_array() && usual.0.is_object());
    for start in ["2026-11-22T15:20:11Z", "1999-12-31T23:59:59Z"] {
        assert_eq!(to_do(start).await, usual, "{start}");
    }
}
