//! Rows 24 and 25: where a walk ends.

use futures_util::stream::FusedStream;
use sdk_core::{ErrorKind, RetryPolicy};
use sdk_reference_server::Operation;
use serde_json::{Value, json};

use super::{page, rest, rest_of_pages, server_of};
use crate::peer::{self, Peer, always, reply, script};
use crate::support::{Ahead as _, assert_says, crm_at, crm_for};

#[tokio::test]
async fn a_cursor_that_is_null_or_empty_ends_the_walk() {
    for last in [Value::Null, json!("")] {
        let peer = Peer::start([page(&["a"], "cursor-2"), page(&["b"], last.clone())]);
        let mut people = crm_at(&peer).people().list().items();

        let (names, error) = rest(&mut people).await;

        assert!(error.is_none(), "{last}: {error:?}");
        assert_eq!(names, ["a", "b"]);
        assert!(people.is_terminated() && people.checkpoint().is_finished());
        assert_eq!(peer.requests().len(), 2);
    }
}

#[tokio::test]
async fn fault_25_a_hundred_empty_pages_are_no_end() {
    let empty = (1..=100).map(|at| page(&[], format!("cursor-{at}")));
    let begin = std::iter::once(page(&["a"], "cursor-0"));
    let pages = begin.chain(empty).chain([page(&["a"], Value::Null)]);
    let peer = Peer::start(script(pages));

    let (names, error) = rest(&mut crm_at(&peer).people().list().items()).await;

    assert!(error.is_none());
    assert_eq!(names, ["a", "a"]);
    assert_eq!(peer.requests().len(), 102);
}

#[tokio::test]
async fn fault_24_a_circle_ends_any_walk_before_its_first_page_is_fetched_again() {
    let circle = [("a", "A"), ("b", "B"), ("c", "A"), ("b", "B")];
    let circle = circle.map(|(name, next)| page(&[name], next));
    for ahead in [false, true] {
        let peer = Peer::start(circle.clone());
        let crm = crm_at(&peer);
        let mut items = crm.people().list().items().ahead(ahead);
        let (names, error) = rest(&mut items).await;

        let error = error.unwrap();
        assert_eq!(error.kind(), ErrorKind::Pagination);
        assert_says(&error, &["3 items were delivered"]);
        assert_eq!(names, ["a", "b", "c"]);
        assert_eq!(peer.requests().len(), 3);

        let peer = Peer::start(circle.clone());
        let mut pages = crm_at(&peer).people().list().pages().ahead(ahead);
        let (names, error) = rest_of_pages(&mut pages).await;
        assert_eq!(error.unwrap().kind(), ErrorKind::Pagination);
        assert_eq!(names, ["a", "b", "c"]);
        assert_eq!(peer.requests().len(), 3);
    }
}

#[tokio::test]
async fn fault_24_a_circle_through_the_first_cursor_is_one_too() {
    let peer = Peer::start([page(&["a"], "B"), page(&["b"], "first")]);
    let mut items = crm_at(&peer).people().list().cursor("first").items();

    let (names, error) = rest(&mut items).await;

    assert_eq!(error.unwrap().kind(), ErrorKind::Pagination);
    assert_eq!(names, ["a", "b"]);
}

#[tokio::test]
async fn fault_24_a_list_without_an_end_stops_at_its_cap_and_goes_on_from_there() {
    let server = server_of(100).await;
    let crm = crm_for(&server);
    for ahead in [false, true] {
        let before = server.attempts(Operation::ListPeople);
        let list = || crm.people().list().limit(10).items().ahead(ahead);
        let mut items = list().max_pages(3);

        let (mut names, error) = rest(&mut items).await;

        let error = error.unwrap();
        assert_eq!(error.kind(), ErrorKind::Pagination);
        assert_says(&error, &["more than 3 pages"]);
        assert_eq!(names.len(), 30);
        assert_eq!(server.attempts(Operation::ListPeople) - before, 3);

        let mut items = list().resume(items.checkpoint());
        names.extend(rest(&mut items).await.0);
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 100);
    }
}

#[tokio::test]
async fn after_an_error_a_walk_is_over_and_asks_for_nothing() {
    let peer = Peer::start(script([page(&["a"], "cursor-2")]).then_always(reply(503)));
    let crm = crm_at(&peer);
    let list = || crm.people().list().retry(RetryPolicy::none());

    let mut items = list().items();
    assert_eq!(rest(&mut items).await.1.unwrap().status(), Some(503));
    assert!(items.is_terminated());
    assert!(items.try_next().await.unwrap().is_none());

    let mut pages = list().pages();
    assert!(!pages.is_terminated());
    let error = rest_of_pages(&mut pages).await.1.unwrap();
    assert_eq!(error.status(), Some(503));
    assert!(pages.is_terminated());
    assert!(pages.try_next().await.unwrap().is_none());
    assert_eq!(peer.requests().len(), 3);
}

#[tokio::test]
async fn only_a_bad_request_for_a_cursor_may_be_about_the_cursor() {
    for (pages, status, about_cursor) in [(1, 400, true), (0, 400, false), (1, 422, false)] {
        let begin = (0..pages).map(|_| page(&["a"], "cursor-2"));
        let peer = Peer::start(script(begin).then_always(reply(status)));
        let error = rest(&mut crm_at(&peer).people().list().items()).await.1;
        let shown = error.unwrap().to_string();
        assert_eq!(
            shown.contains("refused the cursor"),
            about_cursor,
            "{shown}"
        );
    }
}

#[tokio::test]
async fn a_page_that_does_not_decode_is_an_error_and_no_end() {
    let odd = json!({"items": {"a": 1}, "nextCursor": null});
    let peer = Peer::start(always(peer::json(200, &odd)));

    let (names, error) = rest(&mut crm_at(&peer).people().list().items()).await;

    let error = error.unwrap();
    assert!(names.is_empty());
    assert_eq!(error.kind(), ErrorKind::Decode);
    assert_says(&error, &["`items`"]);
    assert!(error.body().is_some_and(|body| body.starts_with(b"{")));
}
