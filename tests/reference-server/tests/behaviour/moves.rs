//! A funnel that is requested after a move has the move, whatever the clock does (A86).

use std::time::Duration;

use sdk_reference_server::{App, Builder, ReferenceServer, Transport};
use serde_json::{Value, json};

use crate::peer::Peer;

/// Entries, exits and postponed opportunities of a funnel.
fn counts(funnel: &Value) -> [u64; 3] {
    let rows = funnel["stages"].as_array().unwrap();
    let sum = |name: &str| rows.iter().map(|row| row[name].as_u64().unwrap()).sum();
    let deferred = funnel["outcomes"]["deferred"].as_u64().unwrap();
    [sum("enteredInWindow"), sum("exitedInWindow"), deferred]
}

/// Moves an opportunity to and fro, requests a funnel after each move, and gives the funnels that miss it.
async fn missed(builder: Builder, moves: usize) -> usize {
    let peer = Peer::of(builder.start().await);
    let mut token = peer.token(App::Crm).await;
    let subject = peer.server.sample_opportunity();
    let mut last = counts(&peer.crm("/funnel").await.expect(200));
    let mut missed = 0;
    for number in 0..moves {
        // A token lasts five minutes.
        if number % 500 == 499 {
            token = peer.token(App::Crm).await;
        }
        let deferred = number % 2;
        let stage = ["deferred", "exploring"][deferred];
        let body = json!({"commandType": "opportunity.move", "commandId": number.to_string(),
            "subjectReference": subject, "payload": {"stage": stage}});
        let request = peer.posting(App::Crm, "/api/crm/v1/commands", &body);
        peer.read(request.bearer_auth(&token)).await.expect(201);
        let funnel = peer.get_with(App::Crm, "/api/crm/v1/funnel", &token).await;
        let [entered, exited, postponed] = last;
        last = counts(&funnel.expect(200));
        let expected = [
            entered + 1,
            exited + 1,
            postponed + u64::from(deferred == 0),
        ];
        missed += usize::from(last != expected);
    }
    missed
}

#[tokio::test]
async fn a_funnel_has_the_move_before_it() {
    let running = || ReferenceServer::builder().transport(Transport::Hyper);
    assert_eq!(missed(running(), 100).await, 0, "running");
    assert_eq!(missed(running().frozen_clock(), 100).await, 0, "frozen");
}

/// `cargo test --test behaviour thousand -- --ignored --nocapture`
#[tokio::test]
#[ignore = "it takes long, and the test above shows the same"]
async fn a_thousand_funnels_have_the_moves_before_them() {
    let running = || ReferenceServer::builder().transport(Transport::Hyper);
    for (clock, builder) in [("running", running()), ("frozen", running().frozen_clock())] {
        let missed = missed(builder, 1_000).await;
        println!("{clock} clock: 1000 funnels after moves, {missed} missed");
        assert_eq!(missed, 0);
    }
}

/// A move counts once in windows whose ends are given and meet, and a window that ends now may follow them.
#[tokio::test]
async fn windows_that_meet_count_a_move_once() {
    let peer = Peer::of(ReferenceServer::builder().frozen_clock().in_memory());
    peer.server.advance(Duration::from_secs(60));
    let now = peer.server.now();
    let subject = peer.server.sample_opportunity();
    let body = json!({"commandType": "opportunity.move", "subjectReference": subject, "payload": {"stage": "deferred"}});
    peer.command(&body).await.expect(201);
    let start = "from=2026-01-15T09:00:30Z";
    for (query, entered) in [
        (format!("{start}&to={now}"), 0),
        (format!("from={now}&to=2026-01-15T10:00:00Z"), 1),
        (format!("from={now}"), 1),
        (start.to_owned(), 1),
    ] {
        let funnel = peer.crm(&format!("/funnel?{query}")).await.expect(200);
        assert_eq!(counts(&funnel)[0], entered, "{query}");
    }
}
