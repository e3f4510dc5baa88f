//! Rows 24, 25 and 58: the end of a list.

use futures_util::stream::FusedStream;
use sdk_core::{Effect, ErrorKind};
use sdk_reference_server::Operation;
use serde_json::{Value, json};

use super::{PEOPLE, crm_of, page, read_list, rest, rest_of_pages};
use crate::peer::{self, Peer, Step, reply, script};
use crate::support::{Ahead as _, assert_says, crm_at};

#[tokio::test]
async fn fault_25_a_list_passes_empty_pages_and_duplicates_and_ends_at_a_null_or_empty_cursor() {
    for last in [Value::Null, json!("")] {
        let begin = std::iter::once(page(&["a"], "c-1"));
        let empty = (2..=100).map(|at| page(&[], format!("c-{at}")));
        let end = [
            page(&["a", "b"], "c-101"),
            page(&["b"], "c-102"),
            page(&[], last),
        ];

        let pages = script(begin.chain(empty).chain(end));
        let (names, error, items, targets) = read_list(pages, false).await;

        assert!(error.is_none());
        assert_eq!(names, ["a", "a", "b", "b"]);
        assert!(items.is_terminated() && items.checkpoint().is_finished());
        assert_eq!((&*targets[0], targets.len()), (PEOPLE, 103));
        for (target, cursor) in targets[1..].iter().zip(1..) {
            assert_eq!(*target, format!("{PEOPLE}?cursor=c-{cursor}"));
        }
    }
}

#[tokio::test]
async fn fault_24_a_cursor_loop_is_an_error_before_a_page_is_fetched_twice() {
    for (round, ahead) in [(1, true), (2, false), (2, true), (1_000, false)] {
        let (server, crm) = crm_of(1_100);
        let people = || crm.people().list().limit(1);
        let cursor_loop = || server.fault(Operation::ListPeople).cursor_loop_of(round);
        let requests = round as u64 + 1;
        let delivered = format!("{requests} items were delivered");

        let fault = cursor_loop();
        let mut items = people().items().ahead(ahead);
        let (names, error) = rest(&mut items).await;
        let error = error.unwrap();
        assert_eq!(error.kind(), ErrorKind::Pagination);
        assert_says(&error, &["repeated a cursor", &delivered]);
        assert_eq!(names.len(), round + 1);
        assert_eq!(server.attempts(Operation::ListPeople), requests);
        assert!(items.try_next().await.unwrap().is_none());

        fault.remove();
        cursor_loop();
        let mut pages = people().pages().ahead(ahead);
        assert!(!pages.is_terminated());
        let (same, error) = rest_of_pages(&mut pages).await;
        assert_eq!(error.unwrap().kind(), ErrorKind::Pagination);
        assert_eq!(same, names);
        assert!(pages.is_terminated() && pages.try_next().await.unwrap().is_none());
        assert_eq!(server.attempts(Operation::ListPeople), 2 * requests);
    }

    // A loop through the cursor of the first page.
    let peer = Peer::start([page(&["a"], "B"), page(&["b"], "first")]);
    let mut items = crm_at(&peer).people().list().cursor("first").items();
    let (names, error) = rest(&mut items).await;
    assert_eq!(error.unwrap().kind(), ErrorKind::Pagination);
    assert_eq!(names, ["a", "b"]);
}

#[tokio::test]
async fn fault_24_resuming_in_a_cursor_loop_delivers_no_item_twice() {
    let peer = Peer::start([
        page(&["a"], "one"),
        page(&["b", "c"], "one"),
        page(&["b", "c"], "one"),
        page(&["b", "c"], "two"),
        page(&["d"], ""),
    ]);
    let crm = crm_at(&peer);
    let mut items = crm.people().list().items();
    let mut all = Vec::new();
    for errors in [true, true, false] {
        let (taken, error) = rest(&mut items).await;
        all.extend(taken);
        assert_eq!(error.is_some(), errors);
        if let Some(error) = error {
            assert_says(&error, &["repeated a cursor", "3 items"]);
        }
        let at = items.checkpoint();
        items = crm.people().list().items().resume(at);
    }
    assert_eq!(all, ["a", "b", "c", "d"]);
    assert_eq!(peer.requests().len(), 5);
}

#[tokio::test]
async fn fault_24_an_endless_list_stops_at_max_pages_and_can_resume_there() {
    for ahead in [false, true] {
        let (server, crm) = crm_of(100);
        let list = || crm.people().list().limit(10).items().ahead(ahead);
        let mut items = list().max_pages(3);

        let (mut names, error) = rest(&mut items).await;

        let error = error.unwrap();
        assert_eq!(error.kind(), ErrorKind::Pagination);
        assert_says(&error, &["more than 3 pages"]);
        assert_eq!(names.len(), 30);
        assert_eq!(server.attempts(Operation::ListPeople), 3);

        let mut items = list().resume(items.checkpoint());
        names.extend(rest(&mut items).await.0);
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 100);
    }
}

/// Returns a last page with these fields next to its items.
fn last(fields: &str) -> Step {
    let body = format!(r#"{{"items":[{{"publicReference":"b"}}],{fields}}}"#);
    let step = reply(200).header("content-type", "application/json");
    step.body(body)
}

#[tokio::test]
async fn fault_58_a_malformed_page_is_an_error_not_the_end_of_a_list() {
    let page_b = page(&["b"], Value::Null);
    let people = json!({"schemaVersion": "people.v7", "people": [{"publicReference": "b"}], "total": null,
        "nextCursor": "c-3"});
    let fields = "`schemaVersion`, `nextCursor`, `people`, `total` (null)";
    let object = peer::json(200, &json!({"items": {"a": 1}, "nextCursor": null}));
    let [cursor, null] = [r#""nextCursor":"c-3""#, r#""nextCursor":null"#];
    let and = |first: &str, second: &str| last(&format!("{first},{second}"));
    let versions = r#""schemaVersion":"a","schemaVersion":"b""#;
    let odd: [(Step, &[&str]); 11] = [
        (last(r#""total":9"#), &["`nextCursor`", "items, total"]),
        (last(r#""nextCursor":7"#), &["`nextCursor`", "found 7"]),
        (and(cursor, null), &["nextCursor"]),
        (and(null, cursor), &["nextCursor"]),
        (and(null, r#""items":[]"#), &["items"]),
        (and(null, versions), &["schemaVersion"]),
        (object, &["`items`"]),
        (peer::json(200, &people), &[fields, "A07", "`pages()`"]),
        // With these statuses, the service is still working, or sent only a part.
        (page_b.clone().with_status(202), &[]),
        (page_b.clone().with_status(206), &[]),
        (page_b.with_status(299), &[]),
    ];
    for (odd, words) in odd {
        for ahead in [false, true] {
            let pages = [page(&["a"], "c-2"), odd.clone()];
            let (names, error, mut items, targets) = read_list(pages, ahead).await;
            let error = error.unwrap();
            assert_says(&error, words);
            assert_eq!(error.status(), Some(odd.status()), "{error}");
            assert_eq!(error.effect(), Effect::Unknown, "{error}");
            assert_eq!(error.operation().unwrap().id, "listPeople");
            assert_eq!(names, ["a"], "{error}");
            assert_eq!(targets.len(), 2, "{error}");
            // The page was not delivered, so the checkpoint points to it.
            let at = items.checkpoint();
            assert_eq!((at.cursor(), at.delivered()), (Some("c-2"), 1));
            // The stream has ended and sends no more requests.
            assert!(!at.is_finished() && items.is_terminated());
            assert!(items.try_next().await.unwrap().is_none());
        }
    }
}

#[tokio::test]
async fn only_a_400_for_a_cursor_advises_to_list_again_with_the_delivered_count() {
    for (pages, status, hints) in [(1, 400, true), (0, 400, false), (1, 422, false)] {
        let begin = (0..pages).map(|_| page(&["a", "b"], "cursor-2"));
        let pages = script(begin).then_always(reply(status));
        let error = read_list(pages, false).await.1.unwrap();
        assert_eq!((error.status(), error.attempts()), (Some(status), 1));
        let hint = "the cursor, list again from the start; 2 items were delivered so far";
        assert_eq!(error.to_string().contains(hint), hints, "{error}");
    }
}
