//! Rows 26 and 27: lists that resume elsewhere, and a long list through 503s, resets and rejected tokens.

use std::time::Duration;

use sdk_core::{Checkpoint, ErrorKind, Items, Record, RetryPolicy};
use sdk_reference_server::Operation;
use serde_json::{Value, json};
use tokio::time::advance;

use super::{PEOPLE, client_of, crm_of, name, page, rest, rest_of_pages};
use crate::peer::{Over, over_all, reply, reset, script};
use crate::support::{Ahead as _, HoldClock, answer, crm_at, stored};

over_all! { fault_26_after_an_error_the_same_list_continues_and_so_does_a_resumed_list }
over_all! { paused: fault_27_a_long_list_through_rejected_tokens_503s_and_resets_loses_no_item }

async fn all_people(crm: &sdk_crm::Client) -> Vec<String> {
    rest(&mut crm.people().list().limit(50).items()).await.0
}

/// Returns at most `count` people after a checkpoint, and the checkpoint after them.
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
async fn fault_26_a_list_resumes_at_every_position() {
    let (server, crm) = crm_of(23);
    // The second client shares no state with the first client.
    let elsewhere = client_of(&server);
    let all = all_people(&crm).await;
    for ahead in [false, true] {
        for place in 0..=all.len() {
            let items = crm.people().list().limit(5).items().ahead(ahead);
            let (mut names, at) = take(items, None, place).await;
            assert_eq!((names.len(), at.delivered()), (place, place as u64));
            // Only the end of the last page shows that an item is the last item.
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
async fn fault_26_pages_resume_after_the_last_delivered_page() {
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
        // Resuming between pages fetches no page twice.
        assert_eq!(server.attempts(Operation::ListPeople) - before, 5 - done);
    }
}

#[tokio::test]
async fn fault_26_a_list_resumes_with_another_page_size() {
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

    // The list resumes repeatedly, finally after each item.
    let alternating = [(10, 4), (50, 21), (10, 2), (7, 30), (10, 1), (50, 31)];
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

async fn fault_26_after_an_error_the_same_list_continues_and_so_does_a_resumed_list(over: Over) {
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
        // A failed read-ahead is reported only when its page is due.
        assert_eq!(names, ["a", "b"]);
        assert_eq!(error.unwrap().status(), Some(503));

        let at = items.checkpoint();
        assert_eq!(at.delivered(), 2);
        items = items.resume(at);
        let (names, error) = rest(&mut items).await;
        assert_eq!(names, ["c"]);
        assert!(error.unwrap().is_unavailable());

        // Another process resumes the list.
        let elsewhere = crm_at(&peer).people().list().items().ahead(ahead);
        let mut others = elsewhere.resume(stored(&items.checkpoint()));
        let (names, error) = rest(&mut others).await;
        assert!(error.is_none() && others.checkpoint().delivered() == 4);
        assert_eq!(names, ["d"]);
        assert_eq!(peer.requests().len(), 5);
    }
}

/// A 503 precedes each tenth page, a reset each fifteenth page, and a rejected token each fortieth page.
async fn fault_27_a_long_list_through_rejected_tokens_503s_and_resets_loses_no_item(over: Over) {
    const PAGES: u64 = 120;
    let _clock = HoldClock::new();
    let mut steps = Vec::new();
    for at in 1..=PAGES {
        for (period, trouble) in [(10, reply(503)), (15, reset()), (40, reply(401))] {
            steps.extend((at % period == 0).then_some(trouble));
        }
        let next = json!(format!("cursor-{at}"));
        let next = if at == PAGES { Value::Null } else { next };
        steps.push(page(&[&format!("{at}-a"), &format!("{at}-b")], next));
    }
    let requests = steps.len();
    for ahead in [false, true] {
        let peer = over.start(script(steps.clone()));
        let mut pages = crm_at(&peer).people().list().pages().ahead(ahead);

        let mut names = Vec::new();
        while let Some(page) = pages.try_next().await.unwrap() {
            names.extend(page.items().unwrap().iter().map(name));
            // Consecutive rejected tokens are not renewed each time. With a pause, they are.
            advance(Duration::from_secs(2)).await;
        }

        let expected = (1..=PAGES).flat_map(|at| [format!("{at}-a"), format!("{at}-b")]);
        assert!(names.into_iter().eq(expected));
        // A page is requested again only after a failed attempt.
        let seen = peer.requests();
        assert_eq!(seen.len(), requests);
        assert!(seen.iter().all(|seen| seen.target.starts_with(PEOPLE)));
        let last = format!("{PEOPLE}?cursor=cursor-{}", PAGES - 1);
        assert_eq!(seen.last().unwrap().target, last);
        // The peer rejected three tokens.
        assert_eq!(peer.exchanges().len(), 4);
    }
}
