//! `pages()` and `items()` deliver every record of the six lists once.

use std::collections::HashSet;
use std::time::Duration;

use sdk_core::{Pages, Record};
use sdk_crm::types::TaskOwner;
use sdk_reference_server::Operation;

use super::listing::{collect, references};
use super::world::World;
use crate::support::HoldClock;

/// Walks a list both ways: by page, which shows how it is cut, and by item.
async fn assert_walked(
    world: &World,
    operation: Operation,
    walk: impl Fn() -> Pages<Record>,
    (count, page_size): (usize, usize),
) {
    let mut pages = walk();
    let mut by_page = Vec::new();
    let mut turned = 0;
    while let Some(page) = pages.try_next().await.unwrap() {
        turned += 1;
        let left = count - by_page.len();
        assert_eq!(
            page.items().unwrap().len(),
            left.min(page_size),
            "page {turned}"
        );
        by_page.extend(page.into_inner().into_items().unwrap());
    }
    assert_eq!(turned, count.div_ceil(page_size));
    assert_eq!(world.server.attempts(operation), turned as u64);
    let checkpoint = pages.checkpoint();
    assert!(checkpoint.is_finished());
    assert_eq!(checkpoint.delivered(), count as u64);

    let by_item = collect(walk().items()).await;

    assert_eq!(by_item, by_page);
    let distinct: HashSet<String> = by_item.iter().map(ToString::to_string).collect();
    assert_eq!(distinct.len(), count);
    assert_eq!(world.server.attempts(operation), 2 * turned as u64);
    assert_eq!(world.server.exchanges(), 1);
}

#[tokio::test]
async fn all_300_people_are_walked() {
    let world = World::start().await;
    let walk = || world.crm.people().list().pages();
    assert_walked(&world, Operation::ListPeople, walk, (300, 25)).await;
}

#[tokio::test]
async fn all_120_organizations_are_walked() {
    let world = World::start().await;
    let walk = || world.crm.organizations().list().limit(50).pages();
    assert_walked(&world, Operation::ListOrganizations, walk, (120, 50)).await;
}

#[tokio::test]
async fn all_400_opportunities_are_walked() {
    let world = World::start().await;
    let walk = || world.crm.opportunities().list().limit(50).pages();
    assert_walked(&world, Operation::ListOpportunities, walk, (400, 50)).await;
}

#[tokio::test]
async fn all_500_tasks_are_walked() {
    let world = World::start().await;
    let tasks = || world.crm.tasks().list().owner(TaskOwner::All);
    let walk = || tasks().limit(49).pages();
    assert_walked(&world, Operation::ListTasks, walk, (500, 49)).await;
}

#[tokio::test]
async fn all_80_intake_submissions_are_walked() {
    let world = World::start().await;
    let walk = || world.crm.intake().list().limit(7).pages();
    assert_walked(&world, Operation::ListIntakeSubmissions, walk, (80, 7)).await;
}

#[tokio::test]
async fn all_250_entries_of_a_timeline_are_walked_in_order() {
    let world = World::start().await;
    let person = world.server.sample_person();
    let walk = || world.crm.people().timeline(&*person).pages();
    assert_walked(&world, Operation::GetPersonTimeline, walk, (250, 50)).await;

    let entries = collect(walk().items()).await;
    let times: Vec<_> = entries
        .iter()
        .map(|entry| entry.text("occurredAt"))
        .collect();
    assert!(times.is_sorted());
}

/// The server finds that the token has expired, and says so.
#[tokio::test]
async fn a_token_that_expires_in_the_middle_of_a_walk_costs_one_page_another_attempt() {
    let world = World::start().await;
    let mut pages = world.crm.people().list().limit(50).pages();
    let mut people = Vec::new();
    let mut attempts = Vec::new();

    while let Some(page) = pages.try_next().await.unwrap() {
        attempts.push(page.attempts());
        people.extend(page.into_inner().into_items().unwrap());
        if attempts.len() == 3 {
            world.server.advance(Duration::from_secs(301));
        }
    }

    assert_eq!((people.len(), references(&people).len()), (300, 300));
    assert_eq!(attempts, [1, 1, 1, 2, 1, 1]);
    assert_eq!(world.server.exchanges(), 2);
}

/// The client knows how old its token is, and renews it before anybody has to say so.
#[tokio::test(start_paused = true)]
async fn a_walk_of_many_minutes_renews_its_token_in_time() {
    let world = World::start().await;
    let _held = HoldClock::new();
    let mut pages = world.crm.people().list().limit(50).pages();
    let mut people = Vec::new();

    while let Some(page) = pages.try_next().await.unwrap() {
        assert_eq!(page.attempts(), 1);
        people.extend(page.into_inner().into_items().unwrap());
        world.server.advance(Duration::from_secs(301));
        tokio::time::advance(Duration::from_secs(301)).await;
    }

    assert_eq!((people.len(), references(&people).len()), (300, 300));
    assert_eq!(world.server.exchanges(), 6);
    assert_eq!(world.server.attempts(Operation::ListPeople), 6);
}

#[tokio::test]
async fn a_walk_reads_ahead_without_losing_anything() {
    let world = World::start().await;
    let walk = || world.crm.organizations().list().limit(50);

    let ahead = collect(walk().items().read_ahead()).await;

    assert_eq!(ahead, collect(walk().items()).await);
    assert_eq!(ahead.len(), 120);
}

#[tokio::test]
async fn a_walk_that_was_dropped_goes_on_at_its_checkpoint() {
    let world = World::start().await;
    let walk = || world.crm.intake().list().limit(7);
    let whole = collect(walk().items()).await;
    let mut first = walk().items();
    let mut seen = Vec::new();
    for _ in 0..30 {
        seen.extend(first.try_next().await.unwrap());
    }

    let stored = serde_json::to_string(&first.checkpoint()).unwrap();
    drop(first);
    let resumed = walk()
        .items()
        .resume(serde_json::from_str(&stored).unwrap());
    seen.extend(collect(resumed).await);

    assert_eq!(seen, whole);
}
