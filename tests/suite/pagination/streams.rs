//! Lists as streams: lazy, movable, cancellable, with combinators and read-ahead.

use std::pin::pin;
use std::time::Duration;

use futures_util::stream::FusedStream;
use futures_util::{FutureExt as _, Stream as _, StreamExt as _, TryStreamExt as _};
use sdk_core::{ErrorKind, Items, Pages, Record};
use sdk_reference_server::Operation;
use tokio::runtime::Builder;
use tokio::time::timeout;

use super::{crm_of, name, page, rest};
use crate::peer::Peer;
use crate::support::{Ahead as _, Clients, Events, assert_says, crm_at, drop_when, suite_at};

#[test]
fn lists_are_send_sync_unpin_and_static() {
    fn holds<T: Send + Sync + Unpin + FusedStream + 'static>() {}
    holds::<Items<Record>>();
    holds::<Pages<Record>>();
}

#[tokio::test]
async fn nothing_is_sent_before_the_first_item_is_requested() {
    let (server, crm) = crm_of(10);
    drop(crm.people().list().items().read_ahead());
    drop(crm.people().list().pages().read_ahead());
    let items = crm.people().list().pages().items();
    assert!(!items.is_terminated());
    assert!(server.requests().is_empty());

    // The stream outlives the client and moves into a task.
    drop(crm);
    let names = tokio::spawn(async move { rest(&mut { items }).await.0 });
    assert_eq!(names.await.unwrap().len(), 10);
}

#[tokio::test]
async fn combinators_fetch_only_the_pages_they_need() {
    let (server, crm) = crm_of(100);
    let list = || crm.people().list().limit(10);

    let taken = list().items().try_filter(|_| async { true }).take(15);
    let taken: Vec<Record> = taken.try_collect().await.unwrap();
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
async fn collect_returns_all_items_or_fails_above_its_limit() {
    let (server, crm) = crm_of(30);
    let list = || crm.people().list().limit(10).items();
    let (names, _) = rest(&mut list()).await;
    for at_most in [30, 1_000, usize::MAX] {
        let collected = list().collect(at_most).await.unwrap();
        assert!(collected.iter().map(name).eq(names.iter().cloned()));
    }
    for (at_most, pages) in [(0, 1), (1, 1), (9, 1), (10, 2), (29, 3)] {
        let before = server.attempts(Operation::ListPeople);
        let error = list().collect(at_most).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Pagination);
        let more = format!("more than {at_most} items, the limit passed to `collect`");
        assert_says(&error, &["crm.listPeople: ", &more]);
        let fetched = server.attempts(Operation::ListPeople) - before;
        assert_eq!(fetched, pages, "{at_most}");
    }
    // If a page fails, `collect` returns its error.
    server.fault(Operation::ListPeople).status(404).times(1);
    assert!(list().collect(30).await.unwrap_err().is_not_found());
}

#[tokio::test]
async fn take_ends_the_list_after_the_first_items() {
    let (server, crm) = crm_of(30);
    let list = || crm.people().list().limit(10).items();
    let (names, _) = rest(&mut list()).await;
    for (wanted, pages) in [(0, 0), (1, 1), (10, 1), (11, 2), (30, 3), (31, 3)] {
        let before = server.attempts(Operation::ListPeople);
        let mut first = list().take(wanted);
        let delivered = wanted.min(30);
        assert_eq!(rest(&mut first).await.0, names[..delivered]);
        assert!(first.is_terminated() && first.size_hint() == (0, Some(0)));
        let fetched = server.attempts(Operation::ListPeople) - before;
        assert_eq!(fetched, pages, "{wanted}");

        // The checkpoint is after the last of these items.
        let after = first.checkpoint();
        let (others, _) = rest(&mut list().resume(after)).await;
        assert_eq!(others, names[delivered..]);
    }

    let first_five = list().take(5).take(20).collect(5).await.unwrap();
    assert_eq!(first_five.len(), 5);
    assert_eq!(list().take(15).size_hint(), (0, Some(15)));
    // Neither another record type nor a checkpoint changes the number of remaining items.
    let mut items = list().take(3);
    items.try_next().await.unwrap();
    let at = items.checkpoint();
    let left = items.decode::<Record>().resume(at).collect(30).await;
    assert!(
        left.unwrap()
            .iter()
            .map(name)
            .eq(names[1..3].iter().cloned())
    );
}

#[tokio::test]
async fn size_hint_counts_the_rest_of_the_page() {
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
        // Cancelling causes no additional requests.
        assert_eq!(peer.requests().len(), 3);
    }
}

#[tokio::test]
async fn read_ahead_fetches_only_one_page_while_the_consumer_works() {
    let peer = Peer::start([page(&["a"], "2"), page(&["b"], "3"), page(&["c"], "")]);
    let suite = suite_at(&peer);
    let crm = suite.crm();
    let mut items = crm.people().list().items().read_ahead();
    for seen in [2, 3, 3] {
        items.try_next().await.unwrap().unwrap();
        peer.saw(seen).await;
        // Leaves enough time to start another request.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert_eq!(suite.stats().attempts, seen as u64);
    }
}

#[tokio::test]
async fn read_ahead_stays_in_the_span_of_the_list() {
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
fn a_page_read_ahead_on_a_dropped_or_stalled_runtime_is_fetched_again() {
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
        // From now on, nothing drives the first runtime.
        let first = (!gone).then_some(first);

        let rest = runtime().block_on(async {
            let all = async { rest(&mut items).await.0 };
            timeout(Duration::from_secs(60), all).await
        });
        assert_eq!(rest.expect("the list must not hang"), ["b", "c"]);
        assert_eq!(peer.requests().len(), 4);
        drop(first);
    }
}
