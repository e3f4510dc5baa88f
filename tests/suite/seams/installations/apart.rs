//! Nothing of one installation reaches another, and nothing of it is left when it is dropped.

use sdk_core::Suite;
use tokio::task::JoinSet;

use super::world::{beside, key_of, of, person_of, world};
use crate::fixtures::{get_person, person};
use crate::peer::{Peer, always};
use crate::samples::new_person;
use crate::support::{Clients, builder_at, key};

/// Reads the person of an installation.
async fn get(crm: &sdk_crm::Client, number: usize) {
    let person = crm.people().get(person_of(number)).await.unwrap();
    assert_eq!(person.get("displayName").unwrap(), Some(number.to_string()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn under_concurrent_calls_nothing_of_one_installation_reaches_another() {
    const INSTALLATIONS: usize = 1_000;
    let world = world();
    let first = of(Suite::builder(), 0).transport(world.clone()).suite();
    let others = (1..INSTALLATIONS).map(|number| beside(&first, number));
    let suites: Vec<_> = std::iter::once(first.clone()).chain(others).collect();

    let mut calls = JoinSet::new();
    for (number, suite) in suites.iter().enumerate() {
        let (read, submit) = (suite.crm(), suite.crm());
        calls.spawn(async move {
            get(&read, number).await;
        });
        calls.spawn(async move {
            let command = submit.commands().submit(new_person("Ann"));
            let command = command.idempotency_key(key(&key_of(number)));
            command.await.unwrap();
        });
    }
    calls.join_all().await;

    let mut seen = world.seen();
    assert_eq!(seen.len(), 3 * INSTALLATIONS);
    seen.retain(|request| request.uri.path() == "/oauth/token");
    assert_eq!(seen.len(), INSTALLATIONS);
    for suite in &suites {
        let done = suite.stats();
        let done = (done.calls, done.attempts, done.token_exchanges);
        assert_eq!(done, (2, 2, 1), "{:?}", suite.label());
    }
}

#[tokio::test]
async fn installations_behind_one_origin_share_its_connections_and_no_token() {
    let peer = Peer::start(always(person()));
    let first = builder_at(&peer.url()).build().unwrap();
    get_person(&first.crm()).await.unwrap();
    for _ in 0..20 {
        let other = builder_at(&peer.url()).transport_of(&first).suite();
        get_person(&other.crm()).await.unwrap();
    }

    assert_eq!((peer.requests().len(), peer.exchanges().len()), (21, 21));
    assert_eq!(peer.connections(), 1);
}

#[tokio::test]
async fn fault_53_nothing_is_left_of_an_installation_that_is_dropped() {
    let world = world();
    let first = of(Suite::builder(), 0).transport(world.clone()).suite();
    let before = world.holders();
    for number in 1..100 {
        let suite = beside(&first, number);
        let crm = suite.crm();
        get(&crm, number).await;
        drop(suite);
        // A client needs no suite beside it.
        get(&crm, number).await;
    }
    // The entry, its token and the task of its renewal hold the source, and that holds the transport.
    assert_eq!(world.holders(), before);
    drop(first);
    assert_eq!(world.holders(), 1);
}
