//! Query parameters that are given by name.

use sdk_crm::types::IntakeState;
use sdk_reference_server::{App, Operation};

use crate::contract::both::Both;

#[tokio::test]
async fn a_parameter_is_given_once() {
    let both = Both::sides_of(App::Crm).await;
    let crm = &both.world.crm;

    let why = "`limit` must be set once, with its own method or with `query`: got it twice";
    let twice = crm.people().list().limit(5).query("limit", "6");
    let mut walk = twice.clone().items();
    both.refuse(twice, why, "/api/crm/v1/people?limit=5&limit=6")
        .await;
    both.sdk_refuses(async { walk.try_next().await }, why).await;
    let why = "`q` must be set once, with its own method or with `query`: got it twice";
    both.sdk_refuses(crm.search().query("ann").query("q", "bob"), why)
        .await;
}

#[tokio::test]
async fn one_that_the_sdk_does_not_know_may_be_given_several_times() {
    let both = Both::sides_of(App::Crm).await;

    let people = both.world.crm.people().list().limit(5);
    let tagged = people.query("tag", "a").query("tag", "b");
    tagged.await.unwrap();

    let seen = both.world.last(Operation::ListPeople);
    assert_eq!(seen.query.as_deref(), Some("limit=5&tag=a&tag=b"));
}

#[tokio::test]
async fn status_and_state_of_submissions_exclude_each_other() {
    let both = Both::sides_of(App::Crm).await;
    let list = both.world.crm.intake().list().status("received");
    let why = "`status` must not be set together with `state`: got both";
    both.sdk_refuses(list.state(IntakeState::All), why).await;
}
