//! `limit`, and the length of the intake list's cursor.

use sdk_core::ErrorKind;
use sdk_reference_server::{App, Operation};

use crate::contract::both::Both;
use crate::contract::listing::{self, Listing};
use crate::support::assert_refused_with;

fn lists_of_records(both: &Both, limit: u32) -> Vec<(&'static str, Listing)> {
    let crm = &both.world.crm;
    vec![
        ("/people", crm.people().list().limit(limit).into_future()),
        (
            "/organizations",
            crm.organizations().list().limit(limit).into_future(),
        ),
        (
            "/opportunities",
            crm.opportunities().list().limit(limit).into_future(),
        ),
        ("/tasks", crm.tasks().list().limit(limit).into_future()),
        (
            "/intake-submissions",
            crm.intake().list().limit(limit).into_future(),
        ),
    ]
}

#[tokio::test]
async fn limit_is_from_1_to_50_on_every_list_of_records() {
    let both = Both::sides_of(App::Crm).await;

    for limit in [0, 51, u32::MAX] {
        let why = format!("`limit` must be from 1 to 50: got {limit}");
        for (list, call) in lists_of_records(&both, limit) {
            let target = format!("/api/crm/v1{list}?limit={limit}");
            both.refuse(call, &why, &target).await;
        }
    }
    for limit in [1, 50] {
        for (list, call) in lists_of_records(&both, limit) {
            let target = format!("/api/crm/v1{list}?limit={limit}");
            let page = both.accept(call, &target).await;
            assert_eq!(page.items().unwrap().len(), limit as usize, "{list}");
        }
    }
}

#[tokio::test]
async fn limit_is_from_1_to_50_on_the_search() {
    let both = Both::sides_of(App::Crm).await;
    let search = |limit| both.world.crm.search().query("an").limit(limit);
    let target = |limit| format!("/api/crm/v1/search?q=an&limit={limit}");

    for limit in [0, 51] {
        let why = format!("`limit` must be from 1 to 50: got {limit}");
        both.refuse(search(limit), &why, &target(limit)).await;
    }
    for limit in [1, 50] {
        let hits = both.accept(search(limit), &target(limit)).await;
        assert_eq!(listing::items(&hits).len(), limit as usize);
    }
}

#[tokio::test]
async fn limit_is_from_1_to_200_on_the_timeline() {
    let both = Both::sides_of(App::Crm).await;
    let person = both.world.server.sample_person();
    let timeline = |limit| both.world.crm.people().timeline(&*person).limit(limit);
    let target = |limit| format!("/api/crm/v1/people/{person}/timeline?limit={limit}");

    for limit in [0, 201] {
        let why = format!("`limit` must be from 1 to 200: got {limit}");
        both.refuse(timeline(limit), &why, &target(limit)).await;
    }
    for limit in [1, 51, 200] {
        let page = both.accept(timeline(limit), &target(limit)).await;
        assert_eq!(page.items().unwrap().len(), limit as usize);
    }
}

#[tokio::test]
async fn the_cursor_of_the_intake_list_has_20_to_500_characters() {
    let both = Both::sides_of(App::Crm).await;
    let list = |length| both.world.crm.intake().list().cursor("x".repeat(length));
    let target = |length| {
        format!(
            "/api/crm/v1/intake-submissions?cursor={}",
            "x".repeat(length)
        )
    };

    for length in [0, 19, 501] {
        let why = format!("`cursor` must have 20 to 500 characters: got {length} characters");
        both.refuse(list(length), &why, &target(length)).await;
    }
    // Of the right length, it is for the server to say that it is none of its own.
    for length in [20, 500] {
        let error = list(length).await.unwrap_err();
        assert_refused_with(&error, 400);
    }
}

#[tokio::test]
async fn a_rule_of_which_the_sdk_knows_nothing_is_the_servers_to_enforce() {
    let both = Both::sides_of(App::Crm).await;

    let people = both.world.crm.people().list().query("limit", "51");
    let error = people.await.unwrap_err();

    assert_eq!(error.kind(), ErrorKind::Rejected);
    assert_refused_with(&error, 400);
    assert_eq!((error.attempts(), error.is_retryable()), (1, false));
    assert_eq!(error.code(), Some("validation_failed"));
    let seen = both.world.last(Operation::ListPeople);
    assert_eq!(seen.query.as_deref(), Some("limit=51"));
}
