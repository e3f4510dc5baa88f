//! Row 69: calls that their callers drop, as operators see them.

use std::pin::pin;

use futures_util::poll;

use crate::fixtures::{add_person, get_person, person};
use crate::peer::{Over, Protocol, always, over_all, reply, script, stall, token};
use crate::seams::observe::{Diary, watched};
use crate::support::{Clients, Events, builder_to, drop_when, until};

over_all! {
    fault_69_a_call_dropped_with_its_attempt_ends_as_cancelled
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

    let expected = [
        "call submitCommand starts",
        "attempt 1 of submitCommand POST /api/crm/v1/commands",
        "attempt 1 of submitCommand cancelled effect unknown",
        "call submitCommand cancelled after 1 effect unknown",
        "call getPerson starts",
        &format!("attempt 1 of getPerson ok status 200 {version}"),
        "call getPerson ok after 1 status 200",
    ];
    assert_eq!(
        diary.lines(&["attempt 1 of submit", "attempt 1 of getPerson o", "call"]),
        expected
    );
    let cancelled = "suite.outcome=\"cancelled\"";
    let closed = events.lines("INFO", &["submitCommand", cancelled, "close"]);
    // The attempt is shown within the call.
    assert_eq!(closed.len(), 2, "{closed:?}");
    assert!(!closed.concat().contains("ERROR"), "{closed:?}");
    assert!(!closed.concat().contains("error.type"), "{closed:?}");
}

#[tokio::test]
async fn fault_69_a_call_dropped_while_it_waits_ends_as_cancelled() {
    let down = always(reply(503).header("retry-after", "9"));
    let (diary, peer, crm) = watched(down.tokens([token("t").held()]));

    // For a token, in a call and in none.
    assert!(poll!(pin!(get_person(&crm).send())).is_pending());
    assert!(poll!(pin!(crm.prewarm())).is_pending());
    peer.release(1);
    crm.prewarm().await.unwrap();
    // For the next attempt.
    let retried = until(|| !diary.lines(&["retry"]).is_empty());
    drop_when(retried, get_person(&crm).send()).await;

    let waits = diary.lines(&["wait"]);
    let reason = |line: &String| line.rsplit_once(' ').unwrap().0.to_owned();
    let waits: Vec<_> = waits.iter().map(reason).collect();
    let expected = [
        "wait crm.getPerson token",
        "wait crm.(no call) token",
        "wait crm.(no call) token",
        "wait crm.getPerson retry_after",
    ];
    assert_eq!(waits, expected);
    let expected = [
        "call getPerson cancelled after 0 not sent",
        "call getPerson cancelled after 1 effect unknown",
    ];
    assert_eq!(diary.lines(&["call getPerson c"]), expected);
    // The renewal went on without its first waiter.
    assert_eq!(diary.lines(&["token"]), ["token crm"]);
}

#[tokio::test]
async fn fault_69_nothing_stays_active_whenever_calls_are_dropped() {
    let (diary, _peer, crm) = watched(always(person()));
    let calls = || diary.lines(&["call"]);

    // One that is never polled never begins.
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
    assert_eq!(diary.lines(&["call getPerson starts"]).len(), 59);
}
