//! Row 69: calls that their callers drop, as operators see them.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use sdk_core::Observer;
use sdk_core::observe::{CallEnded, ObservedCall, Outcome};

use super::fixtures::{PERSON, add_person, get_person, person};
use crate::observe::Diary;
use crate::peer::{Peer, Protocol, always, over_both, reply, script, stall, token};
use crate::support::{Clients, Events, builder_at, builder_to, until};
use crate::walks::page;

/// Polls a future once, and drops it.
async fn poll_once(call: impl Future) {
    let mut call = pin!(call);
    poll_fn(|context| {
        assert!(call.as_mut().poll(context).is_pending());
        Poll::Ready(())
    })
    .await;
}

over_both! {
    fault_69_a_call_dropped_with_its_attempt_ends_as_cancelled
}

async fn fault_69_a_call_dropped_with_its_attempt_ends_as_cancelled(over: Protocol) {
    let (events, _guard) = Events::here();
    let diary = Diary::default();
    let peer = over.start(script([stall()]).then_always(person()));
    let crm = builder_to(&peer).observer(diary.clone()).crm();
    let version = match over {
        Protocol::Http1 => "HTTP/1.1",
        Protocol::Http2 => "HTTP/2",
    };

    tokio::select! {
        _reply = add_person(&crm).send() => panic!("it never comes"),
        () = peer.saw(1) => {}
    }
    get_person(&crm).await.unwrap();

    let told = diary.lines(&["attempt 1 of submit", "attempt 1 of getPerson o", "call"]);
    assert_eq!(
        told,
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
    // The attempt is shown within the call.
    assert_eq!(closed.len(), 2, "{closed:?}");
    assert!(!closed.concat().contains("ERROR"), "{closed:?}");
    assert!(!closed.concat().contains("error.type"), "{closed:?}");
}

#[tokio::test]
async fn fault_69_a_call_dropped_while_it_waits_ends_as_cancelled() {
    let diary = Diary::default();
    let slow = sdk_core::Backoff::new(Duration::from_secs(9), Duration::from_secs(9));
    let peer =
        Peer::start(always(reply(503).header("retry-after", "9")).tokens([token("t").held()]));
    let retry = sdk_core::RetryPolicy::default().with_backoff(slow);
    let builder = builder_at(&peer.url()).retry(retry);
    let crm = builder.observer(diary.clone()).crm();

    // For a token, in a call and in none.
    poll_once(get_person(&crm).send()).await;
    poll_once(crm.prewarm()).await;
    peer.release(1);
    crm.prewarm().await.unwrap();
    // For the next attempt.
    tokio::select! {
        _reply = get_person(&crm).send() => panic!("it never comes"),
        () = until(|| !diary.lines(&["retry"]).is_empty()) => {}
    }

    let waits = diary.lines(&["wait"]);
    let reason = |line: &String| line.rsplit_once(' ').unwrap().0.to_owned();
    let waits: Vec<_> = waits.iter().map(reason).collect();
    assert_eq!(
        waits,
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
    // The renewal went on without its first waiter.
    assert_eq!(diary.lines(&["token"]), ["token crm"]);
}

#[tokio::test]
async fn fault_69_a_dropped_walk_ends_its_call_as_cancelled() {
    for ahead in [false, true] {
        let diary = Diary::default();
        let peer = Peer::start(script([page(&[PERSON], "cursor-2"), stall()]));
        let crm = builder_at(&peer.url()).observer(diary.clone()).crm();

        let mut pages = crate::support::Ahead::ahead(crm.people().list().pages(), ahead);
        pages.try_next().await.unwrap().unwrap();
        tokio::select! {
            _second = pages.try_next() => panic!("it never comes"),
            () = peer.saw(2) => {}
        }
        drop(pages);

        let ended = || diary.lines(&["call listPeople o", "call listPeople c"]);
        until(|| ended().len() == 2).await;
        let cancelled = "call listPeople cancelled after 1 effect unknown";
        assert_eq!(ended()[1], cancelled);
    }
}

/// Counts what is under way.
#[derive(Clone, Default)]
struct Active(std::sync::Arc<std::sync::atomic::AtomicI64>);

impl Observer for Active {
    fn call_started(&self, _: &ObservedCall<'_>) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }

    fn call_ended(&self, ended: &CallEnded<'_>) {
        assert_ne!(ended.outcome, Outcome::Error);
        self.0.fetch_sub(1, std::sync::atomic::Ordering::Relaxed);
    }
}

#[tokio::test]
async fn fault_69_nothing_stays_active_whenever_calls_are_dropped() {
    let active = Active::default();
    let peer = Peer::start(always(person()));
    let crm = builder_at(&peer.url()).observer(active.clone()).crm();
    let now = || active.0.load(std::sync::atomic::Ordering::Relaxed);

    // One that is never polled never begins.
    drop(get_person(&crm).send());
    assert_eq!(now(), 0);
    for polls in 1..60 {
        let mut call = Box::pin(get_person(&crm).send());
        for _ in 0..polls {
            let done = poll_fn(|context| Poll::Ready(call.as_mut().poll(context).is_ready()));
            if done.await {
                break;
            }
            assert_eq!(now(), 1);
            tokio::task::yield_now().await;
        }
        drop(call);
        assert_eq!(now(), 0, "dropped after {polls} polls");
    }
}
