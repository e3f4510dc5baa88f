//! Row 36: calls and streams that the caller drops.

use tokio::task::JoinSet;

use crate::fixtures::{PERSON, get_person, person, server};
use crate::peer::{Over, Protocol, always, over_all, script, stall, token};
use crate::seams::observe::Diary;
use crate::support::{Ahead as _, Clients, builder_to, crm_at, crm_for, drop_when, until};
use crate::walks::page;

over_all! {
    fault_36_a_cancelled_call_ends_its_exchange_and_leaves_the_others
    fault_36_cancelled_waiters_for_a_token_take_nobody_along
    fault_36_a_stream_dropped_in_the_middle_of_a_page_leaves_nothing_open
}

async fn fault_36_a_cancelled_call_ends_its_exchange_and_leaves_the_others(over: Over) {
    let peer = over.start(script([person(), stall(), person().held()]).then_always(person()));
    let crm = crm_at(&peer);
    get_person(&crm).await.unwrap();

    let cancelled = tokio::spawn(get_person(&crm).send());
    peer.saw(2).await;
    cancelled.abort();
    peer.has_open(0).await;

    // Two at once need two connections, which then serve everything; a connection of streams serves everything itself.
    let other = tokio::spawn(get_person(&crm).send());
    peer.saw(3).await;
    get_person(&crm).await.unwrap();
    peer.release(1);
    other.await.unwrap().unwrap();
    for _ in 0..20 {
        get_person(&crm).await.unwrap();
    }
    let connections = match over.protocol {
        Protocol::Http1 => 3,
        Protocol::Http2 => 1,
    };
    assert_eq!(peer.connections(), connections);
    assert_eq!(peer.exchanges().len(), 1);
}

async fn fault_36_cancelled_waiters_for_a_token_take_nobody_along(over: Over) {
    let peer = over.start(always(person()).tokens([token("t-held").held()]));
    let crm = crm_at(&peer);
    let mut calls = JoinSet::new();
    let spawn = |_| calls.spawn(get_person(&crm).send());
    let aborts: Vec<_> = (0..100).map(spawn).collect();
    until(|| !peer.exchanges().is_empty()).await;

    for abort in aborts.iter().step_by(2) {
        abort.abort();
    }
    peer.release(1);
    let mut served = 0;
    while let Some(call) = calls.join_next().await {
        served += call.map_or(0, |call| call.map(|_person| 1).unwrap());
    }

    assert_eq!(served, 50);
    assert_eq!(peer.requests().len(), 50);
    assert_eq!(peer.exchanges().len(), 1);
}

#[tokio::test]
async fn fault_36_a_dropped_stream_asks_for_nothing_more() {
    let server = server().await;
    let crm = crm_for(&server);

    let mut people = crm.people().list().limit(10).items();
    for _ in 0..15 {
        people.try_next().await.unwrap().unwrap();
    }
    drop(people);
    let mut ahead = crm.people().list().limit(10).pages().read_ahead();
    ahead.try_next().await.unwrap().unwrap();
    drop(ahead);
    crm.people().get(server.sample_person()).await.unwrap();

    let pages = server.attempts("listPeople");
    assert!((3..=4).contains(&pages), "one page ahead at most: {pages}");
}

async fn fault_36_a_stream_dropped_in_the_middle_of_a_page_leaves_nothing_open(over: Over) {
    let first = page(&[PERSON], "cursor-2");
    for ahead in [false, true] {
        let peer = over.start(script([first.clone(), stall()]).then_always(person()));
        let diary = Diary::default();
        let suite = builder_to(&peer).observer(diary.clone()).suite();
        let crm = suite.crm();

        let mut pages = crm.people().list().pages().ahead(ahead);
        pages.try_next().await.unwrap().unwrap();
        drop_when(peer.saw(2), pages.try_next()).await;
        drop(pages);
        peer.has_open(0).await;
        // The call of the second page ended like any that is dropped (row 69).
        let ended = || diary.lines(&["call listPeople o", "call listPeople c"]);
        until(|| ended().len() == 2).await;
        let cancelled = "call listPeople cancelled after 1 effect unknown";
        assert_eq!(ended()[1], cancelled);

        get_person(&crm).await.unwrap();
        assert_eq!(peer.requests().len(), 3);
        drop((crm, suite));
        peer.is_left().await;
    }
}
