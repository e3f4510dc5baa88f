//! Nothing of one installation reaches another, and nothing of it is left when it is dropped.

use std::sync::atomic::Ordering;

use sdk_core::Suite;
use tokio::task::JoinSet;

use super::world::{World, beside, key_of, of, person_of};
use crate::faults::fixtures::{get_person, person};
use crate::peer::{Peer, always};
use crate::samples::new_person;
use crate::support::{Clients, builder_at, key};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn under_concurrent_calls_nothing_of_one_installation_reaches_another() {
    const INSTALLATIONS: usize = 1_000;
    let world = World::default();
    let first = of(Suite::builder(), 0).transport(world.clone()).suite();
    let others = (1..INSTALLATIONS).map(|number| beside(&first, number));
    let suites: Vec<_> = std::iter::once(first.clone()).chain(others).collect();

    let mut calls = JoinSet::new();
    for (number, suite) in suites.iter().enumerate() {
        let (read, submit) = (suite.crm(), suite.crm());
        calls.spawn(async move {
            let person = read.people().get(person_of(number)).await.unwrap();
            assert_eq!(
                person.get::<String>("displayName").unwrap(),
                Some(number.to_string())
            );
        });
        calls.spawn(async move {
            let command = submit.commands().submit(new_person("Ann"));
            let command = command.idempotency_key(key(&key_of(number)));
            command.await.unwrap();
        });
    }
    calls.join_all().await;

    assert_eq!(world.mistakes(), [""; 0]);
    let count = u64::try_from(INSTALLATIONS).unwrap();
    assert_eq!(world.seen().exchanges.load(Ordering::Relaxed), count);
    assert_eq!(world.seen().calls.load(Ordering::Relaxed), 2 * count);
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
