//! Lists: `pages()` and `items()` deliver every record once, and a cursor belongs to its query.

use std::collections::{BTreeSet, HashSet};

use sdk_core::{Error, ErrorKind, Items, Page, Pages, Record, Response};
use sdk_crm::types::{PersonStatus, TaskOwner};
use sdk_reference_server::Operation;

use super::case::table;
use super::setup::Setup;
use crate::support::{assert_refused_with, assert_says};

/// A list, the number of its records, its largest page size, and a function that returns its pages.
pub(super) type List<'w> = (
    Operation,
    usize,
    u32,
    Box<dyn Fn(u32) -> Pages<Record> + 'w>,
);

/// Returns every list with a cursor.
pub(super) fn lists(setup: &Setup) -> [List<'_>; 6] {
    let (crm, person) = (&setup.crm, setup.server.sample_person());
    let people = |limit| crm.people().list().limit(limit).pages();
    let organizations = |limit| crm.organizations().list().limit(limit).pages();
    let opportunities = |limit| crm.opportunities().list().limit(limit).pages();
    let tasks = |limit| {
        let all = crm.tasks().list().owner(TaskOwner::All);
        all.limit(limit).pages()
    };
    let submissions = |limit| crm.intake().list().limit(limit).pages();
    let timeline = move |limit| crm.people().timeline(&*person).limit(limit).pages();
    [
        (Operation::ListPeople, 300, 50, Box::new(people)),
        (
            Operation::ListOrganizations,
            120,
            50,
            Box::new(organizations),
        ),
        (
            Operation::ListOpportunities,
            400,
            50,
            Box::new(opportunities),
        ),
        (Operation::ListTasks, 500, 50, Box::new(tasks)),
        (
            Operation::ListIntakeSubmissions,
            80,
            50,
            Box::new(submissions),
        ),
        (Operation::GetPersonTimeline, 250, 200, Box::new(timeline)),
    ]
}

pub(super) async fn first(mut pages: Pages<Record>) -> Result<Response<Page<Record>>, Error> {
    let page = pages.try_next().await?;
    Ok(page.expect("every list has a page"))
}

pub(super) async fn collect(mut items: Items<Record>) -> Vec<Record> {
    let mut all = Vec::new();
    while let Some(item) = items.try_next().await.unwrap() {
        all.push(item);
    }
    all
}

pub(super) fn references<'r>(records: impl IntoIterator<Item = &'r Record>) -> BTreeSet<String> {
    let reference = |record: &Record| record.text("publicReference").unwrap();
    records.into_iter().map(reference).collect()
}

/// Reads a list by page and by item, and checks the page boundaries.
async fn assert_whole(
    setup: &Setup,
    (operation, count, _, list): &List<'_>,
    size: u32,
) -> Vec<Record> {
    let before = setup.server.attempts(operation);
    let mut pages = list(size);
    let mut by_page = Vec::new();
    let mut turned = 0;
    while let Some(page) = pages.try_next().await.unwrap() {
        turned += 1;
        let expected = (count - by_page.len()).min(size as usize);
        let got = page.items().unwrap().len();
        assert_eq!(got, expected, "{operation:?}: page {turned}");
        by_page.extend(page.into_inner().into_items().unwrap());
    }
    assert_eq!(turned, count.div_ceil(size as usize), "{operation:?}");
    let attempts = || setup.server.attempts(operation) - before;
    assert_eq!(attempts(), turned as u64, "{operation:?}");
    let checkpoint = pages.checkpoint();
    assert!(checkpoint.is_finished(), "{operation:?}");
    assert_eq!(checkpoint.delivered(), *count as u64, "{operation:?}");

    let by_item = collect(list(size).items()).await;

    assert_eq!(by_item, by_page, "{operation:?}");
    let distinct: HashSet<String> = by_item.iter().map(ToString::to_string).collect();
    assert_eq!(distinct.len(), *count, "{operation:?}");
    assert_eq!(attempts(), 2 * turned as u64, "{operation:?}");
    by_item
}

#[tokio::test]
async fn every_list_is_read_to_its_end() {
    let setup = Setup::in_memory();
    let lists = lists(&setup);
    for row in table().filter(|row| row.cursor) {
        let is_listed = lists.iter().any(|(operation, ..)| operation.id() == row.id);
        assert!(is_listed, "{row} is a list: add it to `lists`");
    }
    for list in &lists {
        let (operation, _, most, _) = list;
        // Some counts are multiples of the largest page size. No count is a multiple of 7.
        for size in [7, *most] {
            let items = assert_whole(&setup, list, size).await;
            if *operation == Operation::GetPersonTimeline {
                let times = items.iter().map(|entry| entry.text("occurredAt"));
                assert!(times.is_sorted());
            }
        }
    }
    assert_eq!(setup.server.exchanges(), 1);
}

#[tokio::test]
async fn a_cursor_belongs_to_its_list_and_filters_but_not_to_a_page_size() {
    let setup = Setup::in_memory();
    let people = setup.crm.people();
    let active = || people.list().status(PersonStatus::Active);
    let all = active().limit(50).await.unwrap();
    let page = active().limit(10).await.unwrap();
    let cursor = page.next_cursor().unwrap();

    let next = active().limit(20).cursor(cursor).await.unwrap();
    assert_eq!(
        references(next.items().unwrap()),
        references(&all.items().unwrap()[10..30])
    );
    let query = setup.last_query(Operation::ListPeople);
    assert_says(&query, &[&format!("cursor={cursor}")]);

    let last = if cursor.ends_with('A') { "B" } else { "A" };
    let altered = [&cursor[..cursor.len() - 1], last].concat();
    let [person, other] = [0, 1].map(|place| {
        let person = &all.items().unwrap()[place];
        person.text("publicReference").unwrap()
    });
    let timeline = people.timeline(&*person).limit(10).await.unwrap();
    let of_the_timeline = timeline.next_cursor().unwrap();
    let inactive = people.list().status(PersonStatus::Inactive);
    for (what, list) in [
        ("no filter", people.list().cursor(cursor).pages()),
        ("another filter", inactive.cursor(cursor).pages()),
        ("one filter more", active().q("ann").cursor(cursor).pages()),
        ("altered", active().cursor(altered).pages()),
        (
            "another list",
            setup.crm.organizations().list().cursor(cursor).pages(),
        ),
        (
            "a timeline",
            people.timeline(&*person).cursor(cursor).pages(),
        ),
        (
            "another timeline",
            people.timeline(other).cursor(of_the_timeline).pages(),
        ),
    ] {
        let Err(error) = first(list).await else {
            panic!("the server accepted a cursor: {what}");
        };
        assert_eq!(error.kind(), ErrorKind::Rejected, "{what}: {error}");
        assert_refused_with(&error, 400);
        assert!(error.message().starts_with("cursor:"), "{what}: {error}");
        assert_says(&error, &["list again from the start"]);
    }
}
