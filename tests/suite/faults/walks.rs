//! Rows 24, 25, 27 and 58: lists that go in circles, fail, or outlive their token.

use std::time::Duration;

use sdk_core::{Effect, ErrorKind};
use sdk_reference_server::Operation;
use serde_json::Value;
use tokio::time::advance;

use crate::peer::{Peer, reply};
use crate::support::{HoldClock, assert_says, crm_at, crm_for};
use crate::walks::{name, page, rest, server_of};

#[tokio::test]
async fn fault_24_a_circle_of_cursors_is_an_error_at_its_first_repetition() {
    for round in [1, 2, 1_000] {
        let server = server_of(1_100).await;
        let crm = crm_for(&server);
        server.fault(Operation::ListPeople).cursor_loop_of(round);

        let mut items = crm.people().list().limit(1).items();
        let (taken, error) = rest(&mut items).await;

        let error = error.unwrap();
        assert_eq!(error.kind(), ErrorKind::Pagination);
        assert_says(&error, &["repeated a cursor"]);
        assert_eq!(taken.len(), round + 1);
        assert_eq!(server.attempts(Operation::ListPeople), round as u64 + 1);
        assert!(items.try_next().await.unwrap().is_none());
    }
}

#[tokio::test]
async fn fault_24_whoever_resumes_in_a_circle_gets_nothing_twice() {
    let peer = Peer::start([
        page(&["a"], "one"),
        page(&["b", "c"], "one"),
        page(&["b", "c"], "one"),
        page(&["b", "c"], "two"),
        page(&["d"], ""),
    ]);
    let crm = crm_at(&peer);
    let mut walk = crm.people().list().items();
    let mut all = Vec::new();
    for errors in [true, true, false] {
        let (taken, error) = rest(&mut walk).await;
        all.extend(taken);
        assert_eq!(error.is_some(), errors);
        if let Some(error) = error {
            assert_says(&error, &["repeated a cursor", "3 items"]);
        }
        let at = walk.checkpoint();
        walk = crm.people().list().items().resume(at);
    }
    assert_eq!(all, ["a", "b", "c", "d"]);
    assert_eq!(peer.requests().len(), 5);
}

#[tokio::test]
async fn fault_25_an_empty_page_goes_on_and_duplicates_pass() {
    let peer = Peer::start([
        page(&[], "cursor-2"),
        page(&["a", "b"], "cursor-3"),
        page(&["b"], "cursor-4"),
        page(&[], ""),
    ]);

    let (taken, error) = rest(&mut crm_at(&peer).people().list().items()).await;

    assert!(error.is_none());
    assert_eq!(taken, ["a", "b", "b"]);
    let seen = peer.requests();
    let targets: Vec<_> = seen.iter().map(|seen| &*seen.target).collect();
    let path = "/api/crm/v1/people";
    assert_eq!(targets[0], path);
    for (target, cursor) in targets[1..].iter().zip(2..) {
        assert_eq!(*target, format!("{path}?cursor=cursor-{cursor}"));
    }
    assert_eq!(targets.len(), 4);
}

#[tokio::test(start_paused = true)]
async fn fault_27_a_token_that_dies_in_the_middle_of_a_walk_is_renewed() {
    let _clock = HoldClock::new();
    let server = server_of(100).await;
    let crm = crm_for(&server);
    let (all, _) = rest(&mut crm.people().list().limit(50).items()).await;

    // Each page finds the last one's token dead; the fifth finds its own revoked besides.
    let mut pages = crm.people().list().limit(10).pages();
    let mut taken = Vec::new();
    while let Some(page) = pages.try_next().await.unwrap() {
        taken.extend(page.items().unwrap().iter().map(name));
        assert_eq!(page.attempts(), if taken.len() == 50 { 2 } else { 1 });
        if taken.len() == 40 {
            server.revoke_tokens();
        } else {
            server.advance(Duration::from_secs(400));
            advance(Duration::from_secs(400)).await;
        }
    }

    assert_eq!(taken, all);
    assert_eq!(server.exchanges(), 10);
    assert_eq!(server.attempts(Operation::ListPeople), 2 + 10 + 1);
}

#[tokio::test]
async fn fault_58_a_page_with_a_member_twice_or_another_status_is_no_end_of_a_list() {
    let twice = |members: &str| {
        let body = format!(r#"{{"items":[{{"publicReference":"b"}}],{members}}}"#);
        let step = reply(200).header("content-type", "application/json");
        step.body(body)
    };
    let last = page(&["b"], Value::Null);
    let version = r#""nextCursor":null,"schemaVersion":"a","schemaVersion":"b""#;
    let odd = [
        (twice(r#""nextCursor":"c-3","nextCursor":null"#), 200),
        (twice(r#""nextCursor":null,"nextCursor":"c-3""#), 200),
        (twice(r#""nextCursor":null,"items":[]"#), 200),
        (twice(version), 200),
        // Somebody still works on it, or gave a part of it.
        (last.clone().with_status(202), 202),
        (last.clone().with_status(206), 206),
        (last.with_status(299), 299),
    ];
    for (odd, status) in odd {
        let first = page(&["a"], "c-2");
        let peer = Peer::start([first, odd]);
        let mut items = crm_at(&peer).people().list().items();

        let (taken, error) = rest(&mut items).await;

        assert_eq!(taken, ["a"], "{status}");
        let error = error.unwrap();
        assert_eq!(error.status(), Some(status), "{error}");
        assert_eq!(error.effect(), Effect::Unknown, "{error}");
        let checkpoint = items.checkpoint();
        assert!(!checkpoint.is_finished() && checkpoint.cursor() == Some("c-2"));
        assert_eq!(peer.requests().len(), 2);
    }
}
