//! Rows 55 and 85: the query of a checkpoint, and checkpoints that were modified or no longer match the list.

use sdk_core::{App, Checkpoint, Effect, ErrorKind, Items, Record};
use sdk_crm::types::PersonStatus;
use serde_json::{Value, json};

use super::{crm_of, page, rest};
use crate::fixtures::PERSON;
use crate::peer::{Peer, always, script};
use crate::support::{Clients, assert_failed, assert_says, assert_unsent, builder_at, crm_at};

#[tokio::test]
async fn a_checkpoint_rejects_another_query() {
    let (_server, crm) = crm_of(10);
    let rejects = async |of: Items<Record>, with: Items<Record>, why: &str| {
        let mut list = with.resume(of.checkpoint());
        let error = list.try_next().await.unwrap_err();
        // The error doesn't lose the position, and the list has ended.
        let positions = [list.checkpoint(), of.checkpoint()].map(|at| format!("{at:?}"));
        assert_eq!(positions[0], positions[1]);
        assert!(list.try_next().await.unwrap().is_none());
        assert_eq!(error.kind(), ErrorKind::Pagination);
        assert!(error.operation().is_some());
        assert_says(&error, &[why]);
    };
    let people = || crm.people().list();
    let ann = || people().q("ann").status(PersonStatus::Active);
    let filters = "different filters";

    let tasks = crm.tasks().list().items();
    rejects(people().items(), tasks, "for crm.listPeople").await;
    rejects(ann().items(), people().items(), filters).await;
    rejects(ann().items(), people().q("ann").items(), filters).await;
    rejects(ann().items(), ann().q("bob").items(), filters).await;
    let regional = people().query("region", "eu").items();
    rejects(people().items(), regional, filters).await;
    let timeline = |of| crm.people().timeline(of).items();
    rejects(timeline(PERSON), timeline("PER-BA9876543210"), filters).await;

    // The page size and the headers don't change the content of a list.
    let mut ann_so_far = ann().limit(1).items();
    rest(&mut ann_so_far).await;
    let same = people().status(PersonStatus::Active).q("ann");
    let same = same.limit(50).header("x-trace", "1").items();
    let mut same = same.resume(ann_so_far.checkpoint());
    assert!(same.try_next().await.unwrap().is_none());
    // The checkpoint of a finished list is rejected like any other.
    assert!(ann_so_far.checkpoint().is_finished());
    rejects(ann_so_far, people().items(), filters).await;
}

#[tokio::test]
async fn a_list_with_an_invalid_parameter_is_rejected_and_ends_even_from_a_checkpoint() {
    let (server, crm) = crm_of(10);
    let people = || crm.people().list().limit(51);
    let mut pages = people().pages();
    let error = pages.try_next().await.unwrap_err();
    assert_unsent(&error, ErrorKind::InvalidInput, &["`limit`"]);
    assert!(error.operation().is_some());
    assert!(pages.try_next().await.unwrap().is_none());

    let begin = people().pages().checkpoint();
    let valid = crm.people().list().items().checkpoint();
    let resumed = [begin, valid].map(|place| people().items().resume(place));
    for mut items in [people().items()].into_iter().chain(resumed) {
        let error = items.try_next().await.unwrap_err();
        assert_unsent(&error, ErrorKind::InvalidInput, &["`limit`"]);
        assert!(items.try_next().await.unwrap().is_none());
    }
    assert!(server.requests().is_empty());
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
async fn the_stored_form_contains_its_version_and_operation() {
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

    assert!(serde_json::from_value::<Checkpoint>(json!({"cursor": "C"})).is_err());
}

#[tokio::test]
async fn fault_55_a_checkpoint_with_extreme_numbers_or_of_another_installation_is_rejected() {
    let peer = Peer::start(always(page(&["a", "b"], "c-2")));
    let crm = crm_at(&peer);
    let mut items = crm.people().list().items();
    items.try_next().await.unwrap();
    let sound = serde_json::to_value(items.checkpoint()).unwrap();
    let changed = |field: &str, value| {
        let mut form = sound.clone();
        form[field] = value;
        serde_json::from_value::<Checkpoint>(form)
    };
    let requests = peer.requests().len();
    // A later version may have other fields.
    let later: Checkpoint = serde_json::from_value(json!({"version": 2, "place": "C"})).unwrap();
    let error = crm.people().list().items().resume(later).try_next().await;
    assert_says(&error.unwrap_err(), &["version 2"]);
    for (field, value) in [
        ("skip", json!(usize::MAX)),
        ("skip", json!(2)),
        ("delivered", json!(u64::MAX)),
        ("version", json!(u32::MAX)),
        ("cursor", json!("c".repeat(100_000))),
        ("audience", json!("https://another.suite.test")),
        // A checkpoint without an audience belongs to no installation.
        ("audience", Value::Null),
        ("operation", json!("listTasks\u{1b}[31m")),
        ("filters", json!("")),
    ] {
        let checkpoint = changed(field, value).unwrap();
        let mut items = crm.people().list().items().resume(checkpoint);
        let error = items.try_next().await.unwrap_err();
        assert_failed(&error, ErrorKind::Pagination, Effect::NotSent);
        assert!(!format!("{error} {error:#?}").contains('\u{1b}'));
    }
    for (field, value) in [
        ("skip", json!(-1)),
        ("skip", json!(1e300)),
        ("delivered", json!("many")),
        ("version", Value::Null),
    ] {
        assert!(changed(field, value).is_err(), "{field}");
    }
    assert_eq!(peer.requests().len(), requests);
    // The largest allowed values are valid.
    for (field, value) in [("version", json!(1)), ("delivered", json!(1_u64 << 53))] {
        let sound = changed(field, value).unwrap();
        let mut items = crm.people().list().items().resume(sound);
        assert!(items.try_next().await.unwrap().is_some());
    }
}

#[tokio::test]
async fn fault_85_a_checkpoint_that_skips_more_than_there_is_ends_in_an_error() {
    // After three items of the second page were delivered, the list shrank.
    let last = |items: &[&str]| page(items, Value::Null);
    let pages = [page(&["a"], "c-2"), last(&["b", "c", "d"])];
    let peer = Peer::start(pages.clone());
    let mut items = crm_at(&peer).people().list().items();
    for _ in 0..3 {
        items.try_next().await.unwrap().unwrap();
    }
    let checkpoint = items.checkpoint();

    // With the same page size, a short page shows the change. With another size, only the end of the list does.
    let [early, other] = ["the page ends 1 item before", "the list ends 1 item before"];
    for (limit, shrunk, words) in [
        (None, vec![last(&["b"])], early),
        (None, vec![page(&["b"], "c-3"), last(&["c"])], early),
        (Some(1), vec![page(&[], "c-3"), last(&["b"])], other),
    ] {
        let peer = Peer::start(script(shrunk));
        let mut people = crm_at(&peer).people().list();
        if let Some(limit) = limit {
            people = people.limit(limit);
        }
        let mut items = people.items().resume(checkpoint.clone());
        let error = rest(&mut items)
            .await
            .1
            .expect("the list must not seem complete");
        let got = (error.kind(), error.status());
        assert_eq!(got, (ErrorKind::Pagination, Some(200)), "{error}");
        assert_says(&error, &[words]);
        assert!(!items.checkpoint().is_finished());
    }
    // A matching checkpoint continues the list.
    let peer = Peer::start(script(pages.into_iter().skip(1)));
    let mut items = crm_at(&peer).people().list().items().resume(checkpoint);
    assert_eq!(rest(&mut items).await.0, ["d"]);
    assert!(items.checkpoint().is_finished());
}
