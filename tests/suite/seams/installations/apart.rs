//! Nothing of one installation reaches another, and nothing of it is left when it is dropped.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::task::JoinSet;

use super::{World, beside, reference};
use crate::fixtures::{get_person, person};
use crate::peer::{Peer, always};
use crate::samples::promotion;
use crate::support::{Clients, builder_at};

/// Reads the person of an installation.
async fn get(crm: &sdk_crm::Client, number: usize) {
    let person = crm.people().get(reference(number)).await.unwrap();
    let read: Option<String> = person.get("publicReference").unwrap();
    assert_eq!(read, Some(reference(number)));
}

/// The transport checks each request, so a mixup fails whatever the order of the calls. Nothing sleeps on a paused clock, so
/// no limit passes.
#[tokio::test(start_paused = true)]
async fn under_concurrent_calls_nothing_of_one_installation_reaches_another() {
    const INSTALLATIONS: usize = 1_000;
    let world = World::default();
    let first = world.first();
    let others = (1..INSTALLATIONS).map(|number| beside(&first, number));
    let suites: Vec<_> = std::iter::once(first.clone()).chain(others).collect();

    let mut calls = JoinSet::new();
    for (number, suite) in suites.iter().enumerate() {
        let (read, write) = (suite.crm(), suite.crm());
        calls.spawn(async move {
            get(&read, number).await;
        });
        calls.spawn(async move {
            let command = promotion(&reference(number), "Clerk");
            write.commands().submit(command).await.unwrap();
        });
    }
    calls.join_all().await;

    assert_eq!(world.calls.load(Ordering::Relaxed), 2 * INSTALLATIONS);
    assert_eq!(world.exchanges.load(Ordering::Relaxed), INSTALLATIONS);
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
    let world = World::default();
    let first = world.first();
    let before = Arc::strong_count(&world.calls);
    for number in 1..100 {
        let suite = beside(&first, number);
        let crm = suite.crm();
        get(&crm, number).await;
        drop(suite);
        // A client needs no suite beside it.
        get(&crm, number).await;
    }
    // The entry, its token and the task of its renewal hold the source, and that holds the transport.
    assert_eq!(Arc::strong_count(&world.calls), before);
    drop(first);
    assert_eq!(Arc::strong_count(&world.calls), 1);
}
