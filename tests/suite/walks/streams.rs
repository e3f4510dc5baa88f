//! Walks as values: lazy, movable, cancellable, with combinators, with read-ahead.

use std::pin::pin;
use std::time::Duration;

use futures_util::stream::FusedStream;
use futures_util::{FutureExt as _, Stream as _, StreamExt as _, TryStreamExt as _};
use sdk_core::{Items, Pages, Record};
use sdk_reference_server::Operation;
use tokio::runtime::Builder;
use tokio::time::timeout;

use super::{crm_of, name, page, rest};
use crate::peer::Peer;
use crate::support::{Ahead as _, Clients, Events, crm_at, drop_when, suite_at};

#[test]
fn walks_are_send_sync_unpin_and_static() {
    fn holds<T: Send + Sync + Unpin + FusedStream + 'static>() {}
    holds::<Items<Record>>();
    holds::<Pages<Record>>();
}

#[tokio::test]
async fn nothing_is_sent_before_the_first_item_is_asked_for() {
    let (server, crm) = crm_of(10);
    drop(crm.people().list().items().read_ahead());
    drop(crm.people().list().pages().read_ahead());
    let items = crm.people().list().pages().items();
    assert!(!items.is_terminated());
    assert!(server.requests().is_empty());

    // It outlives the client, and moves into a task.
    drop(crm);
    let names = tokio::spawn(async move { rest(&mut { items }).await.0 });
    assert_eq!(names.await.unwrap().len(), 10);
}

#[tokio::test]
async fn combinators_take_what_they_need_and_no_more() {
    let (server, crm) = crm_of(100);
    let list = || crm.people().list().limit(10);

    let taken: Vec<Record> = list().items().take(15).try_collect().await.unwrap();
    assert_eq!(taken.len(), 15);
    assert_eq!(server.attempts(Operation::ListPeople), 2);

    let at_once = list()
        .items()
        .map_ok(|person| crm.people().get(name(&person)).send())
        .try_buffered(8)
        .map_ok(|person| name(&person));
    let at_once: Vec<_> = at_once.try_collect().await.unwrap();
    assert_eq!(at_once, rest(&mut list().items()).await.0);
}

#[tokio::test]
async fn a_walk_says_how_much_of_its_page_is_left() {
    let (_server, crm) = crm_of(15);
    let mut items = crm.people().list().limit(10).items();
    for (taken, left) in [(0, (0, None)), (1, (9, None)), (10, (4, Some(4)))] {
        for _ in 0..taken {
            items.try_next().await.unwrap();
        }
        assert_eq!(items.size_hint(), left);
    }
}

#[tokio::test]
async fn a_cancelled_try_next_loses_nothing() {
    for ahead in [false, true] {
        let peer = Peer::start([
            page(&["a"], "cursor-2").held(),
            page(&["b"], "cursor-3").held(),
            page(&["c"], ""),
        ]);
        let mut items = crm_at(&peer).people().list().items().ahead(ahead);
        let mut names = Vec::new();
        for held in [1, 2] {
            drop_when(peer.saw(held), items.try_next()).await;
            assert!(items.try_next().now_or_never().is_none());
            peer.release(1);
            names.push(name(&items.try_next().await.unwrap().unwrap()));
        }
        names.extend(rest(&mut items).await.0);
        assert_eq!(names, ["a", "b", "c"]);
        // The same requests all along.
        assert_eq!(peer.requests().len(), 3);
    }
}

#[tokio::test]
async fn read_ahead_fetches_one_page_while_the_consumer_works_and_no_more() {
    let peer = Peer::start([page(&["a"], "2"), page(&["b"], "3"), page(&["c"], "")]);
    let suite = suite_at(&peer);
    let crm = suite.crm();
    let mut items = crm.people().list().items().read_ahead();
    for seen in [2, 3, 3] {
        items.try_next().await.unwrap().unwrap();
        peer.saw(seen).await;
        // Time enough to begin another request.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert_eq!(suite.stats().attempts, seen as u64);
    }
}

#[tokio::test]
async fn read_ahead_stays_in_the_span_of_the_walk() {
    let peer = Peer::start([page(&["a"], "2"), page(&["b"], "")]);
    let (events, _guard) = Events::here();
    let span = tracing::info_span!("nightly_export");

    let mut items = pin!(crm_at(&peer).people().list().items().read_ahead());
    tracing::Instrument::instrument(rest(&mut items), span).await;

    let ends = events.lines("INFO", &["suite.attempts=1 ", "close"]);
    assert_eq!(ends.len(), 2, "{}", events.text());
    assert!(
        ends.iter().all(|line| line.contains("nightly_export")),
        "{ends:?}"
    );
}

#[test]
fn read_ahead_on_a_runtime_that_is_gone_or_stands_still_is_fetched_anew() {
    let runtime = || Builder::new_current_thread().enable_all().build().unwrap();
    for gone in [true, false] {
        let peer = Peer::start([
            page(&["a"], "2"),
            page(&["b"], "3").held(),
            page(&["b"], "3"),
            page(&["c"], ""),
        ]);
        let mut items = crm_at(&peer).people().list().items().read_ahead();
        let first = runtime();
        first.block_on(async {
            items.try_next().await.unwrap().unwrap();
            peer.saw(2).await;
        });
        // From here on nobody drives it.
        let first = (!gone).then_some(first);

        let rest = runtime().block_on(async {
            let all = async { rest(&mut items).await.0 };
            timeout(Duration::from_secs(60), all).await
        });
        assert_eq!(rest.expect("it does not hang"), ["b", "c"]);
        assert_eq!(peer.requests().len(), 4);
        drop(first);
    }
}
