//! A funnel that is requested after a move includes the move, whatever the clock does (A86).

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

/// Moves an opportunity back and forth, requests a funnel after each move, and returns the number of funnels that miss
/// the move. `MOVES=1000` sets the number of moves.
async fn missed(builder: Builder) -> usize {
    let moves = std::env::var("MOVES").map_or(100, |moves| moves.parse().unwrap());
    let peer = Peer::of(builder.transport(Transport::Hyper).start().await);
    let token = peer.token(App::Crm).await;
    let subject = peer.server.sample_opportunity();
    let mut last = counts(&peer.crm("/funnel").await.expect(200));
    let mut missed = 0;
    for number in 0..moves {
        let deferred = number % 2;
        let stage = ["deferred", "exploring"][deferred];
        let body = json!({"commandType": "opportunity.move", "commandId": number.to_string(),
            "subjectReference": subject, "payload": {"stage": stage}});
        let request = peer.posting(App::Crm, "/api/crm/v1/commands", &body);
        peer.read(request.bearer_auth(&token)).await.expect(201);
        let funnel = peer.get_with(App::Crm, "/api/crm/v1/funnel", &token).await;
        let [entered, exited, postponed] = last;
        last = counts(&funnel.expect(200));
        let postponed = postponed + u64::from(deferred == 0);
        missed += usize::from(last != [entered + 1, exited + 1, postponed]);
    }
    missed
}

#[tokio::test]
async fn a_funnel_includes_an_earlier_move() {
    let running = ReferenceServer::builder;
    assert_eq!(missed(running()).await, 0, "running");
    assert_eq!(missed(running().frozen_clock()).await, 0, "frozen");
}

#[tokio::test]
async fn a_funnel_excludes_a_later_move() {
    let peer = Peer::of(ReferenceServer::builder().frozen_clock().in_memory());
    let before = counts(&peer.crm("/funnel").await.expect(200));
    assert!(before[0] > 0);
    let start = peer.server.now();
    // All of the demo data is later than this instant.
    peer.server
        .set_clock("2015-01-01T00:00:00Z".parse().unwrap());
    let none = counts(&peer.crm("/funnel").await.expect(200));
    assert_eq!(none, [0, 0, 0]);
    peer.server.set_clock(start);
    assert_eq!(counts(&peer.crm("/funnel").await.expect(200)), before);
}
