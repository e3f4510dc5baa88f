//! What a checkpoint is bound to, and what it looks like.

use sdk_core::{App, Checkpoint, ErrorKind, Items, Record};
use sdk_crm::types::PersonStatus;
use serde_json::json;

use super::{page, rest, server_of};
use crate::peer::{Peer, always};
use crate::support::{Clients, assert_says, builder_at, crm_at, crm_for};

const PERSON: &str = "PER-0123456789AB";
const OTHER: &str = "PER-BA9876543210";

#[tokio::test]
async fn a_checkpoint_refuses_another_query() {
    let server = server_of(10).await;
    let crm = crm_for(&server);
    let refuses = async |of: Items<Record>, with: Items<Record>, why: &str| {
        let mut walk = with.resume(of.checkpoint());
        let error = walk.try_next().await.unwrap_err();
        // The place is not lost with the error, and the walk is over.
        let places = [walk.checkpoint(), of.checkpoint()].map(|at| format!("{at:?}"));
        assert_eq!(places[0], places[1]);
        assert!(walk.try_next().await.unwrap().is_none());
        assert_eq!(error.kind(), ErrorKind::Pagination);
        assert!(error.operation().is_some());
        assert_says(&error, &[why]);
    };
    let people = || crm.people().list();
    let ann = || people().q("ann").status(PersonStatus::Active);
    let filters = "other filters";

    let tasks = crm.tasks().list().items();
    refuses(people().items(), tasks, "for crm.listPeople").await;
    refuses(ann().items(), people().items(), filters).await;
    refuses(ann().items(), people().q("ann").items(), filters).await;
    refuses(ann().items(), ann().q("bob").items(), filters).await;
    let regional = people().query("region", "eu").items();
    refuses(people().items(), regional, filters).await;
    let timeline = |of| crm.people().timeline(of).items();
    refuses(timeline(PERSON), timeline(OTHER), filters).await;

    // How the list is fetched is not what is listed.
    let mut ann_so_far = ann().limit(1).items();
    rest(&mut ann_so_far).await;
    let same = people().status(PersonStatus::Active).q("ann");
    let same = same.limit(50).header("x-trace", "1").items();
    let mut same = same.resume(ann_so_far.checkpoint());
    assert!(same.try_next().await.unwrap().is_none());
    // A walk that is over is refused like any other.
    assert!(ann_so_far.checkpoint().is_finished());
    refuses(ann_so_far, people().items(), filters).await;
}

#[tokio::test]
async fn a_checkpoint_survives_another_base_url() {
    let peer = Peer::start(always(page(&["a"], "cursor-2")));
    let at = |path: &str| {
        let url = format!("{}{path}", peer.url());
        let suite = builder_at(&peer.url()).application_url(App::Crm, url);
        suite.crm().people().list().items()
    };
    let mut items = at("/routed/crm");
    items.try_next().await.unwrap();

    let mut items = at("/crm-two").resume(items.checkpoint());
    items.try_next().await.unwrap();

    let seen = peer.requests();
    assert_eq!(seen[0].target, "/routed/crm/api/crm/v1/people");
    assert_eq!(seen[1].target, "/crm-two/api/crm/v1/people?cursor=cursor-2");
}

#[tokio::test]
async fn the_stored_form_has_a_version_and_names_its_operation() {
    let first = page(&["a", "b", "c"], "cursor-2");
    let peer = Peer::start([first, page(&["d", "e"], "cursor-3")]);
    let crm = crm_at(&peer);
    let mut items = crm.people().list().items();
    for _ in 0..4 {
        items.try_next().await.unwrap();
    }
    let checkpoint = items.checkpoint();
    assert_eq!(checkpoint.operation(), "listPeople");
    assert_eq!(checkpoint.cursor(), Some("cursor-2"));

    let mut form = serde_json::to_value(&checkpoint).unwrap();
    let filters = form["filters"].take();
    assert_eq!(filters.as_str().map(str::len), Some(32));
    assert_eq!(
        form,
        json!({"version": 1, "application": "crm", "operation": "listPeople", "filters": null,
            "audience": "crm", "cursor": "cursor-2", "skip": 1, "delivered": 4, "finished": false})
    );

    let later: Checkpoint = serde_json::from_value(json!({"version": 2, "place": "C"})).unwrap();
    let mut items = crm.people().list().items().resume(later);
    let error = items.try_next().await.unwrap_err();
    assert_says(&error, &["version 2"]);
    assert!(serde_json::from_value::<Checkpoint>(json!({"cursor": "C"})).is_err());
}

#[tokio::test]
async fn a_walk_that_cannot_begin_cannot_be_resumed_either() {
    let server = server_of(10).await;
    let crm = crm_for(&server);
    let checkpoint = crm.people().list().items().checkpoint();

    let mut walk = crm.people().list().limit(51).items().resume(checkpoint);
    let error = walk.try_next().await.unwrap_err();

    assert!(error.is_invalid_input());
    assert!(server.requests().is_empty());
}
