//! What the contract says of parameters that are left out. The SDK leaves them out too: the server applies them.

use jiff::{SignedDuration, Timestamp};
use sdk_crm::types::TaskOwner;
use sdk_reference_server::{App, Operation};

use super::bypass::Bypass;
use super::listing::{self, Listing};
use super::lists::references;
use super::world::World;
use crate::support::Clients;

const THIRTY_DAYS: SignedDuration = SignedDuration::from_hours(30 * 24);

#[tokio::test]
async fn a_page_has_25_records_unless_said_otherwise_and_50_entries_of_a_timeline() {
    let world = World::start().await;
    let bypass = Bypass::to(&world.server, App::Crm).await;
    let person = world.server.sample_person();
    let crm = &world.crm;
    let lists: [(Operation, u64, Listing); 6] = [
        (Operation::ListPeople, 25, crm.people().list().into_future()),
        (
            Operation::ListOrganizations,
            25,
            crm.organizations().list().into_future(),
        ),
        (
            Operation::ListOpportunities,
            25,
            crm.opportunities().list().into_future(),
        ),
        (Operation::ListTasks, 25, crm.tasks().list().into_future()),
        (
            Operation::ListIntakeSubmissions,
            25,
            crm.intake().list().into_future(),
        ),
        (
            Operation::GetPersonTimeline,
            50,
            crm.people().timeline(&*person).into_future(),
        ),
    ];

    for (operation, length, list) in lists {
        let page = list.await.unwrap();

        assert_eq!(page.items().unwrap().len() as u64, length, "{operation:?}");
        let seen = world.last(operation);
        assert_eq!(seen.query, None, "{operation:?}");
        let plain = bypass.get(&seen.path).await;
        assert_eq!(plain.items().len() as u64, length, "{operation:?}");
    }
}

#[tokio::test]
async fn a_search_has_20_hits_unless_said_otherwise() {
    let world = World::start().await;
    let bypass = Bypass::to(&world.server, App::Crm).await;

    let hits = world.crm.search().query("an").await.unwrap();

    assert_eq!(listing::items(&hits).len(), 20);
    let query = world.last(Operation::Search).query;
    assert_eq!(query.as_deref(), Some("q=an"));
    assert_eq!(
        bypass.get("/api/crm/v1/search?q=an").await.items().len(),
        20
    );
}

#[tokio::test]
async fn tasks_are_the_callers_own_unless_all_are_asked_for() {
    let world = World::start().await;
    let tasks = || world.crm.tasks().list().limit(50);
    let owners = async |list: Listing| -> Vec<String> {
        let page = list.await.unwrap();
        let owner = |task: &sdk_core::Record| task.get::<serde_json::Value>("owner").unwrap();
        page.items()
            .unwrap()
            .iter()
            .map(|task| {
                owner(task).unwrap()["publicReference"]
                    .as_str()
                    .unwrap()
                    .to_owned()
            })
            .collect()
    };
    let me = world.server.sample_actor();

    let default = owners(tasks().into_future()).await;
    assert!(default.iter().all(|owner| *owner == me));
    let query = world.last(Operation::ListTasks).query;
    assert_eq!(query.as_deref(), Some("limit=50"));

    let mine = tasks().owner(TaskOwner::Mine).await.unwrap();
    let first = tasks().await.unwrap();
    assert_eq!(
        references(mine.items().unwrap()),
        references(first.items().unwrap())
    );

    let all = owners(tasks().owner(TaskOwner::All).into_future()).await;
    assert!(all.contains(&me) && all.iter().any(|owner| *owner != me));
}

#[tokio::test]
async fn mine_goes_by_the_actor_of_the_token() {
    let world = World::start().await;
    let actors = listing::items(&world.crm.actors().list().await.unwrap());
    let colleague = actors[1]["publicReference"].as_str().unwrap();
    let crm = world.suite_of(|client| client.acting_for(colleague)).crm();

    let theirs = crm.tasks().list().await.unwrap();
    let mine = world.crm.tasks().list().await.unwrap();

    assert!(!theirs.items().unwrap().is_empty());
    let mine = references(mine.items().unwrap());
    assert!(references(theirs.items().unwrap()).is_disjoint(&mine));
}

#[tokio::test]
async fn the_window_of_the_funnel_ends_now_and_begins_30_days_before_its_end() {
    let world = World::start().await;
    let now = world.server.now();
    let earlier: Timestamp = "2025-12-24T18:00:00Z".parse().unwrap();
    let funnel = || world.crm.funnel().get();
    let cases = [
        (funnel(), now - THIRTY_DAYS, now),
        (funnel().to(earlier), earlier - THIRTY_DAYS, earlier),
        (funnel().from(earlier), earlier, now),
    ];

    for (call, from, to) in cases {
        let funnel = call.await.unwrap();

        let window = (funnel.window.from.clone(), funnel.window.to.clone());
        assert_eq!(window, (Some(from.into()), Some(to.into())));
    }
    let queries: Vec<_> = world
        .server
        .requests_for(Operation::GetFunnel)
        .into_iter()
        .map(|seen| seen.query)
        .collect();
    let (from, to) = (
        "from=2025-12-24T18%3A00%3A00Z",
        "to=2025-12-24T18%3A00%3A00Z",
    );
    assert_eq!(queries, [None, Some(to.to_owned()), Some(from.to_owned())]);
}

#[tokio::test]
async fn the_flow_of_the_funnel_is_that_of_its_window() {
    let world = World::start().await;
    let long_ago: Timestamp = "2000-01-01T00:00:00Z".parse().unwrap();

    let month = world.crm.funnel().get().await.unwrap();
    let then = world.crm.funnel().get().to(long_ago).await.unwrap();

    let entered = |funnel: &sdk_crm::types::Funnel| -> i64 {
        funnel
            .stages
            .iter()
            .filter_map(|stage| stage.entered_in_window)
            .sum()
    };
    let open = |funnel: &sdk_crm::types::Funnel| -> i64 {
        funnel
            .stages
            .iter()
            .filter_map(|stage| stage.open_count)
            .sum()
    };
    assert!(entered(&month) > 0);
    assert_eq!((entered(&then), then.outcomes.won), (0, Some(0)));
    // The pipeline is that of now in both.
    assert_eq!(open(&month), open(&then));
}
