//! Rows 36 and 69: calls and streams that their callers drop, at the connection and in traces and metrics.

use std::pin::pin;

use futures_util::poll;

use crate::fixtures::{PERSON, add_person, get_person, person};
use crate::pagination::page;
use crate::peer::{Over, Protocol, always, over_all, reply, script, stall, token};
use crate::seams::observe::{Diary, watched};
use crate::support::{Ahead as _, Clients, Events, builder_to, crm_at, drop_when, until};

over_all! {
    fault_36_a_cancelled_call_ends_its_request_and_no_other
    fault_36_a_list_dropped_during_a_page_leaves_nothing_open
    fault_69_a_call_dropped_with_its_attempt_ends_as_cancelled
}

async fn fault_36_a_cancelled_call_ends_its_request_and_no_other(over: Over) {
    let peer = over.start(script([person(), stall(), person().held()]).then_always(person()));
    let crm = crm_at(&peer);
    get_person(&crm).await.unwrap();

    drop_when(peer.saw(2), get_person(&crm).send()).await;
    peer.has_open(0).await;

    // Two concurrent calls need two HTTP/1.1 connections, which then serve all calls. One HTTP/2 connection serves all
    // calls.
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

async fn fault_36_a_list_dropped_during_a_page_leaves_nothing_open(over: Over) {
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
        // The call of the second page ends like any dropped call (row 69).
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

async fn fault_69_a_call_dropped_with_its_attempt_ends_as_cancelled(over: Over) {
    let (events, _guard) = Events::here();
    let diary = Diary::default();
    let peer = over.start(script([stall()]).then_always(person()));
    let crm = builder_to(&peer).observer(diary.clone()).crm();
    let version = match over.protocol {
        Protocol::Http1 => "HTTP/1.1",
        Protocol::Http2 => "HTTP/2",
    };

    drop_when(peer.saw(1), add_person(&crm).send()).await;
    get_person(&crm).await.unwrap();

    assert_eq!(
        diary.lines(&["attempt 1 of submit", "attempt 1 of getPerson o", "call"]),
        [
            "call submitCommand starts",
            "attempt 1 of submitCommand POST /api/crm/v1/commands",
            "attempt 1 of submitCommand cancelled effect unknown",
            "call submitCommand cancelled after 1 effect unknown",
            "call getPerson starts",
            &format!("attempt 1 of getPerson ok status 200 {version}"),
            "call getPerson ok after 1 status 200",
        ]
    );
    let cancelled = "suite.outcome=\"cancelled\"";
    let closed = events.lines("INFO", &["submitCommand", cancelled, "close"]);
    // The span of the attempt is inside the span of the call.
    assert_eq!(closed.len(), 2, "{closed:?}");
    let closed = closed.concat();
    assert!(
        !closed.contains("ERROR") && !closed.contains("error.type"),
        "{closed}"
    );
}

#[tokio::test]
async fn fault_69_a_call_dropped_while_it_waits_ends_as_cancelled() {
    let down = always(reply(503).header("retry-after", "9"));
    let (diary, peer, crm) = watched(down.tokens([token("t").held()]));

    // The call waits for a token, and so does a prewarm without a call.
    assert!(poll!(pin!(get_person(&crm).send())).is_pending());
    assert!(poll!(pin!(crm.prewarm())).is_pending());
    peer.release(1);
    crm.prewarm().await.unwrap();
    // The call waits for the next attempt.
    let retried = until(|| !diary.lines(&["retry"]).is_empty());
    drop_when(retried, get_person(&crm).send()).await;

    let waits = diary.lines(&["wait"]);
    let reasons: Vec<_> = waits
        .iter()
        .map(|it| it.rsplit_once(' ').unwrap().0)
        .collect();
    assert_eq!(
        reasons,
        [
            "wait crm.getPerson token",
            "wait crm.(no call) token",
            "wait crm.(no call) token",
            "wait crm.getPerson retry_after",
        ]
    );
    assert_eq!(
        diary.lines(&["call getPerson c"]),
        [
            "call getPerson cancelled after 0 not sent",
            "call getPerson cancelled after 1 effect unknown",
        ]
    );
    // The renewal continued without its first waiter.
    assert_eq!(diary.lines(&["token"]), ["token crm"]);
}

#[tokio::test]
async fn fault_69_no_call_stays_active_wherever_it_is_dropped() {
    let (diary, _peer, crm) = watched(always(person()));
    let calls = || diary.lines(&["call"]);

    // A call that is never polled never begins.
    drop(get_person(&crm).send());
    assert_eq!(calls(), [""; 0]);
    for polls in 1..60 {
        let mut call = Box::pin(get_person(&crm).send());
        for _ in 0..polls {
            if poll!(&mut call).is_ready() {
                break;
            }
            assert_eq!(calls().len() % 2, 1);
            tokio::task::yield_now().await;
        }
        drop(call);
        assert_eq!(calls().len(), 2 * polls, "dropped after {polls} polls");
    }
    assert_eq!(diary.lines(&["call getPerson error"]), [""; 0]);
}
