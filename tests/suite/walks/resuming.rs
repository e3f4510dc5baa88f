//! Row 26: lists that resume elsewhere.

use sdk_core::{Checkpoint, ErrorKind, Items, Record, RetryPolicy};
use sdk_reference_server::Operation;

use super::{client_of, crm_of, name, page, rest, rest_of_pages};
use crate::peer::{Over, Peer, over_all, reply, reset};
use crate::support::{Ahead as _, answer, crm_at, stored};

over_all! { fault_26_after_an_error_the_same_walk_goes_on_and_so_does_another }

/// The people of a server, in order.
async fn all_people(crm: &sdk_crm::Client) -> Vec<String> {
    rest(&mut crm.people().list().limit(50).items()).await.0
}

/// At most so many people from a checkpoint on, and the checkpoint after them.
async fn take(
    items: Items<Record>,
    from: Option<&Checkpoint>,
    count: usize,
) -> (Vec<String>, Checkpoint) {
    let mut items = match from {
        Some(from) => items.resume(stored(from)),
        None => items,
    };
    let mut names = Vec::new();
    while names.len() < count
        && let Some(item) = items.try_next().await.unwrap()
    {
        names.push(name(&item));
    }
    (names, items.checkpoint())
}

#[tokio::test]
async fn fault_26_every_place_of_a_walk_can_be_gone_on_from() {
    let (server, crm) = crm_of(23);
    // The second client shares nothing with the first one.
    let elsewhere = client_of(&server);
    let all = all_people(&crm).await;
    for ahead in [false, true] {
        for place in 0..=all.len() {
            let items = crm.people().list().limit(5).items().ahead(ahead);
            let (mut names, at) = take(items, None, place).await;
            assert_eq!((names.len(), at.delivered()), (place, place as u64));
            // Only the end of the last page shows that the last item was the last one.
            assert_eq!(at.is_finished(), place == all.len());

            let items = elsewhere.people().list().limit(5).items().ahead(ahead);
            let (others, at) = take(items, Some(&at), usize::MAX).await;
            names.extend(others);
            assert_eq!(names, all, "{place}");
            assert!(at.is_finished() && at.delivered() == all.len() as u64);
        }
    }
}

#[tokio::test]
async fn fault_26_pages_go_on_after_the_page_that_was_delivered_last() {
    let (server, crm) = crm_of(23);
    let all = all_people(&crm).await;
    for done in 0..=5 {
        let mut pages = crm.people().list().limit(5).pages();
        let mut names = Vec::new();
        for _ in 0..done {
            let page = pages.try_next().await.unwrap().unwrap();
            names.extend(page.items().unwrap().iter().map(name));
        }
        let before = server.attempts(Operation::ListPeople);
        let again = crm.people().list().limit(5).pages();
        let mut again = again.resume(stored(&pages.checkpoint()));
        names.extend(rest_of_pages(&mut again).await.0);
        assert_eq!(names, all);
        // Between pages nothing is fetched twice.
        assert_eq!(server.attempts(Operation::ListPeople) - before, 5 - done);
    }
}

#[tokio::test]
async fn fault_26_a_list_resumes_with_pages_of_another_size() {
    let (_server, crm) = crm_of(100);
    let all = all_people(&crm).await;
    let of = |limit| crm.people().list().limit(limit).items();
    for place in [0, 3, 10, 17, 99] {
        let (_, at) = take(of(10), None, place).await;
        for limit in [1, 7, 10, 50] {
            let (names, _) = take(of(limit), Some(&at), usize::MAX).await;
            assert_eq!(names, all[place..], "{place}, {limit}");
        }
    }

    // And again and again, at last after each item.
    let alternating = [
        (10, 4),
        (50, 21),
        (10, 2),
        (7, 30),
        (10, 1),
        (50, 30),
        (10, 1),
    ];
    let (mut names, mut at) = (Vec::new(), None);
    for (limit, count) in alternating.into_iter().chain([(5, 1); 11]) {
        let (taken, next) = take(of(limit), at.as_ref(), count).await;
        names.extend(taken);
        at = Some(next);
    }
    assert_eq!(names, all);
}

#[tokio::test]
async fn fault_26_a_page_without_items_keeps_the_page_size_of_the_checkpoint() {
    let (server, crm) = crm_of(100);
    let all = all_people(&crm).await;
    let of = |limit| crm.people().list().limit(limit).items();
    let (_, at) = take(of(50), None, 25).await;
    let itemless = r#"{"nextCursor":"elsewhere"}"#;
    answer(&server, Operation::ListPeople, itemless).times(1);
    let mut failed = of(10).resume(at);
    let error = failed.try_next().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Pagination);

    let (names, _) = take(of(10), Some(&failed.checkpoint()), usize::MAX).await;

    assert_eq!(names, all[25..]);
}

async fn fault_26_after_an_error_the_same_walk_goes_on_and_so_does_another(over: Over) {
    for ahead in [false, true] {
        let peer = over.start([
            page(&["a", "b"], "cursor-2"),
            reply(503),
            page(&["c"], "cursor-3"),
            reset(),
            page(&["d"], ""),
        ]);
        let list = crm_at(&peer).people().list().retry(RetryPolicy::none());
        let mut items = list.items().ahead(ahead);

        let (names, error) = rest(&mut items).await;
        // A read-ahead that failed is reported when its page is due, and not before.
        assert_eq!(names, ["a", "b"]);
        assert_eq!(error.unwrap().status(), Some(503));

        let at = items.checkpoint();
        assert_eq!(at.delivered(), 2);
        items = items.resume(at);
        let (names, error) = rest(&mut items).await;
        assert_eq!(names, ["c"]);
        assert!(error.unwrap().is_unavailable());

        // And another one, as in another process.
        let elsewhere = crm_at(&peer).people().list().items().ahead(ahead);
        let mut others = elsewhere.resume(stored(&items.checkpoint()));
        let (names, error) = rest(&mut others).await;
        assert!(error.is_none() && others.checkpoint().delivered() == 4);
        assert_eq!(names, ["d"]);
        assert_eq!(peer.requests().len(), 5);
    }
}

#[tokio::test]
async fn a_finished_walk_stays_finished_from_its_checkpoint_and_with_another_type() {
    let peer = Peer::start([page(&["a"], "")]);
    let crm = crm_at(&peer);
    let mut items = crm.people().list().items();
    assert_eq!(rest(&mut items).await.0, ["a"]);

    let again = crm.people().list().items();
    let mut again = again.resume(stored(&items.checkpoint()));
    assert!(again.try_next().await.unwrap().is_none());
    let mut values = items.decode::<serde_json::Value>();
    assert!(values.try_next().await.unwrap().is_none());
    assert_eq!(peer.requests().len(), 1);
}
