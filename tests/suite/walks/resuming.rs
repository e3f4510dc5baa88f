//! Row 26: walks that go on elsewhere.

use sdk_core::{Checkpoint, ErrorKind, RetryPolicy};
use sdk_reference_server::{App, Operation, ReferenceServer, Transport};

use super::{name, page, rest, rest_of_pages, server_of};
use crate::peer::{Over, over_all, reply, reset};
use crate::support::{
    Ahead as _, Clients, answer, assert_says, builder_for, crm_at, crm_for, stored,
};

over_all! { fault_26_after_an_error_the_same_walk_goes_on_and_so_does_another }

#[tokio::test]
async fn fault_26_every_place_of_a_walk_can_be_gone_on_from() {
    let server = server_of(23).await;
    // The second client knows nothing of the first one.
    let (crm, elsewhere) = (crm_for(&server), crm_for(&server));
    let all = rest(&mut crm.people().list().limit(50).items()).await.0;
    for ahead in [false, true] {
        for place in 0..=all.len() {
            let mut items = crm.people().list().limit(5).items().ahead(ahead);
            let mut names = Vec::new();
            for _ in 0..place {
                names.push(name(&items.try_next().await.unwrap().unwrap()));
            }
            let checkpoint = stored(&items.checkpoint());
            drop(items);
            assert_eq!(checkpoint.delivered(), place as u64);
            // That the last item was the last one, only the end of the last page says.
            assert_eq!(checkpoint.is_finished(), place == all.len());

            let list = elsewhere.people().list().limit(5);
            let mut items = list.items().ahead(ahead).resume(checkpoint);
            names.extend(rest(&mut items).await.0);
            assert_eq!(names, all, "{place}");
            assert_eq!(items.checkpoint().delivered(), all.len() as u64);
        }
    }
}

#[tokio::test]
async fn fault_26_a_walk_interrupted_at_each_item_delivers_each_once() {
    let server = server_of(23).await;
    let crm = crm_for(&server);
    let all = rest(&mut crm.people().list().limit(50).items()).await.0;
    let mut names = Vec::new();
    let mut at: Option<Checkpoint> = None;
    loop {
        let mut items = crm.people().list().limit(5).items();
        if let Some(at) = &at {
            items = items.resume(stored(at));
        }
        let Some(item) = items.try_next().await.unwrap() else {
            break;
        };
        names.push(name(&item));
        at = Some(items.checkpoint());
    }
    assert_eq!(names, all);
}

#[tokio::test]
async fn fault_26_pages_go_on_after_the_page_that_was_delivered_last() {
    let server = server_of(23).await;
    let crm = crm_for(&server);
    let all = rest(&mut crm.people().list().limit(50).items()).await.0;
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
async fn fault_26_a_walk_goes_on_with_pages_of_another_size() {
    let server = server_of(100).await;
    let crm = crm_for(&server);
    let all = rest(&mut crm.people().list().limit(50).items()).await.0;
    for place in [0, 3, 10, 17, 99] {
        for limit in [1, 7, 10, 50] {
            let mut items = crm.people().list().limit(10).items();
            for _ in 0..place {
                items.try_next().await.unwrap().unwrap();
            }
            let again = crm.people().list().limit(limit).items();
            let mut again = again.resume(stored(&items.checkpoint()));
            assert_eq!(rest(&mut again).await.0, all[place..], "{place}, {limit}");
        }
    }
}

#[tokio::test]
async fn fault_26_a_list_resumes_after_page_sizes_that_alternate() {
    let server = server_of(100).await;
    let crm = crm_for(&server);
    let all = rest(&mut crm.people().list().limit(50).items()).await.0;
    let mut names = Vec::new();
    let mut checkpoint = crm.people().list().limit(10).items().checkpoint();
    for (limit, count) in [
        (10, 4),
        (50, 21),
        (10, 2),
        (7, 30),
        (10, 1),
        (50, 30),
        (10, 1),
    ] {
        let items = crm.people().list().limit(limit).items();
        let mut items = items.resume(stored(&checkpoint));
        for _ in 0..count {
            names.push(name(&items.try_next().await.unwrap().unwrap()));
        }
        checkpoint = items.checkpoint();
    }
    assert_eq!(names, all[..names.len()]);
}

#[tokio::test]
async fn fault_26_a_page_without_items_keeps_the_page_size_of_the_checkpoint() {
    let server = server_of(100).await;
    let crm = crm_for(&server);
    let all = rest(&mut crm.people().list().limit(50).items()).await.0;
    let mut items = crm.people().list().limit(50).items();
    for _ in 0..25 {
        items.try_next().await.unwrap().unwrap();
    }
    let list = || crm.people().list().limit(10).items();
    answer(
        &server,
        Operation::ListPeople,
        r#"{"nextCursor":"elsewhere"}"#,
    )
    .times(1);
    let mut itemless = list().resume(stored(&items.checkpoint()));
    assert_eq!(
        itemless.try_next().await.unwrap_err().kind(),
        ErrorKind::Pagination
    );

    let mut again = list().resume(stored(&itemless.checkpoint()));

    assert_eq!(rest(&mut again).await.0, all[25..]);
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
        // A read-ahead that failed is told when its page is due, and not before.
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
async fn fault_26_a_refused_cursor_says_start_again_and_what_was_delivered() {
    // Another server's signature: the same installation, started anew.
    let installation = |seed| {
        ReferenceServer::builder()
            .transport(Transport::Hyper)
            .seed(seed)
            .audience(App::Crm, "https://crm.example")
            .start()
    };
    let (server, other) = (installation(1).await, installation(2).await);
    let crm_for = |server: &ReferenceServer| {
        let suite = builder_for(server).audience(sdk_core::App::Crm, "https://crm.example");
        suite.crm()
    };
    let mut items = crm_for(&server).people().list().limit(10).items();
    for _ in 0..20 {
        items.try_next().await.unwrap().unwrap();
    }
    let list = crm_for(&other).people().list().limit(10).items();
    let mut items = list.resume(stored(&items.checkpoint()));
    let (names, error) = rest(&mut items).await;

    let error = error.unwrap();
    assert!(names.is_empty());
    assert_eq!((error.status(), error.attempts()), (Some(400), 1));
    assert_says(
        &error,
        &["start the walk again", "20 items were delivered so far"],
    );
}

#[tokio::test]
async fn a_finished_walk_stays_finished() {
    let server = server_of(10).await;
    let crm = crm_for(&server);
    let mut items = crm.people().list().items();
    rest(&mut items).await;
    let before = server.attempts(Operation::ListPeople);

    let again = crm.people().list().items();
    let mut again = again.resume(stored(&items.checkpoint()));

    assert!(again.try_next().await.unwrap().is_none());
    assert_eq!(server.attempts(Operation::ListPeople), before);
}
