//! A cursor belongs to the list and the filters that it came from, and to no page size.

use sdk_core::{Error, ErrorKind};
use sdk_crm::types::PersonStatus;
use sdk_reference_server::Operation;

use super::listing::references;
use super::world::World;
use crate::support::{assert_refused_with, assert_says};

/// The second page of the active people.
async fn cursor(world: &World) -> String {
    let people = world.crm.people().list();
    let page = people.status(PersonStatus::Active).limit(10).await.unwrap();
    page.next_cursor().unwrap().to_owned()
}

fn assert_refused(error: &Error) {
    assert_eq!(error.kind(), ErrorKind::Rejected);
    assert_refused_with(error, 400);
    assert!(error.message().starts_with("cursor:"), "{error}");
}

#[tokio::test]
async fn a_cursor_goes_on_where_its_page_ended_with_any_page_size() {
    let world = World::start().await;
    let active = || world.crm.people().list().status(PersonStatus::Active);
    let whole = active().limit(50).await.unwrap();
    let cursor = cursor(&world).await;

    let next = active().limit(20).cursor(&cursor).await.unwrap();

    assert_eq!(
        references(next.items().unwrap()),
        references(&whole.items().unwrap()[10..30])
    );
    let query = world.last(Operation::ListPeople).query.unwrap();
    assert!(query.contains(&format!("cursor={cursor}")), "{query}");
}

#[tokio::test]
async fn a_cursor_with_other_filters_is_refused() {
    let world = World::start().await;
    let people = || world.crm.people().list();
    let cursor = cursor(&world).await;

    let others = [
        people(),
        people().status(PersonStatus::Inactive),
        people().status(PersonStatus::Active).q("ann"),
    ];
    for list in others {
        assert_refused(&list.cursor(&cursor).await.unwrap_err());
    }
}

#[tokio::test]
async fn a_cursor_of_another_list_is_refused() {
    let world = World::start().await;
    let cursor = cursor(&world).await;

    let organizations = world.crm.organizations().list().cursor(&cursor);
    assert_refused(&organizations.await.unwrap_err());
    let timeline = world.crm.people().timeline(world.server.sample_person());
    assert_refused(&timeline.cursor(&cursor).await.unwrap_err());
}

#[tokio::test]
async fn a_cursor_of_another_persons_timeline_is_refused() {
    let world = World::start().await;
    let people = world.crm.people();
    let first = people.timeline(world.server.sample_person()).await.unwrap();
    let everybody = people.list().limit(2).await.unwrap();
    let other = everybody.items().unwrap()[1]
        .text("publicReference")
        .unwrap();

    let theirs = people.timeline(other).cursor(first.next_cursor().unwrap());

    assert_refused(&theirs.await.unwrap_err());
}

#[tokio::test]
async fn an_altered_cursor_is_refused() {
    let world = World::start().await;
    let mut cursor = cursor(&world).await;
    let last = if cursor.pop() == Some('A') { 'B' } else { 'A' };
    cursor.push(last);

    let active = world.crm.people().list().status(PersonStatus::Active);

    assert_refused(&active.cursor(cursor).await.unwrap_err());
}

#[tokio::test]
async fn a_walk_whose_cursor_is_refused_says_to_start_again() {
    let world = World::start().await;
    let cursor = cursor(&world).await;

    let mut pages = world.crm.people().list().cursor(cursor).pages();
    let error = pages.try_next().await.unwrap_err();

    assert_refused(&error);
    assert_says(&error, &["start the walk again"]);
    assert!(
        pages.try_next().await.unwrap().is_none(),
        "over after its first error"
    );
}
