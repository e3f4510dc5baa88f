//! `pages()` and `items()` deliver every record of a list once.

use std::collections::HashSet;
use std::time::Duration;

use sdk_core::{Pages, Record};
use sdk_crm::types::TaskOwner;
use sdk_reference_server::Operation;

use super::case::table;
use super::listing::{collect, references};
use super::world::World;

/// Walks a list both ways: by page, which shows how it is cut, and by item.
async fn assert_walked(
    world: &World,
    operation: Operation,
    walk: impl Fn() -> Pages<Record>,
    (count, page_size): (usize, usize),
) -> Vec<Record> {
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
    by_item
}

/// A list, how many records it has and in pages of what size they are walked, and the walk.
type List<'l> = (Operation, (usize, usize), &'l dyn Fn(u32) -> Pages<Record>);

#[tokio::test]
async fn every_list_is_walked_to_its_end() {
    let world = World::start().await;
    let (crm, person) = (&world.crm, &*world.server.sample_person());
    let tasks = || crm.tasks().list().owner(TaskOwner::All);
    let lists: [List<'_>; 6] = [
        (Operation::ListPeople, (300, 25), &|limit| {
            crm.people().list().limit(limit).pages()
        }),
        (Operation::ListOrganizations, (120, 50), &|limit| {
            crm.organizations().list().limit(limit).pages()
        }),
        (Operation::ListOpportunities, (400, 50), &|limit| {
            crm.opportunities().list().limit(limit).pages()
        }),
        (Operation::ListTasks, (500, 49), &|limit| {
            tasks().limit(limit).pages()
        }),
        (Operation::ListIntakeSubmissions, (80, 7), &|limit| {
            crm.intake().list().limit(limit).pages()
        }),
        (Operation::GetPersonTimeline, (250, 50), &|limit| {
            crm.people().timeline(person).limit(limit).pages()
        }),
    ];
    for row in table().filter(|row| row.cursor) {
        let walked = lists.iter().any(|(operation, ..)| operation.id() == row.id);
        assert!(walked, "{row} is a list: walk it here");
    }
    for (operation, (count, size), pages) in lists {
        let walk = || pages(u32::try_from(size).unwrap());
        let items = assert_walked(&world, operation, walk, (count, size)).await;
        if operation == Operation::GetPersonTimeline {
            let times = items.iter().map(|entry| entry.text("occurredAt"));
            assert!(times.is_sorted());
        }
    }
    assert_eq!(world.server.exchanges(), 1);
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
