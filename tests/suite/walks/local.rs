//! What is refused before anything is sent, and lists that are no walks.

use sdk_core::{Error, ErrorKind, Items, Record};
use sdk_crm::types::{IntakeState, PersonStatus};

use super::server_of;
use crate::support::crm_for;

fn refused(error: Option<Error>, name: &str) {
    let error = error.unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.operation().is_some());
    assert!(error.to_string().contains(name), "{error}");
    assert_eq!(error.attempts(), 0);
}

#[tokio::test]
async fn status_with_state_is_refused_however_the_intake_is_listed() {
    let server = server_of(10).await;
    let crm = crm_for(&server);
    let both = || {
        crm.intake()
            .list()
            .status("received")
            .state(IntakeState::Pending)
    };

    refused(
        both().await.err(),
        "`status` must not be set together with `state`",
    );
    refused(
        both().pages().try_next().await.err(),
        "`status` must not be set together with `state`",
    );
    let mut items = both().items();
    refused(
        items.try_next().await.err(),
        "`status` must not be set together with `state`",
    );
    assert!(items.try_next().await.unwrap().is_none());
    assert!(server.requests().is_empty());

    assert!(crm.intake().list().status("received").await.is_ok());
    assert!(crm.intake().list().state(IntakeState::All).await.is_ok());
}

#[tokio::test]
async fn a_funnel_whose_window_is_turned_round_is_refused() {
    let server = server_of(10).await;
    let crm = crm_for(&server);
    let early = "2026-01-01T00:00:00Z".parse().unwrap();
    let late = "2026-01-10T00:00:00Z".parse().unwrap();

    refused(
        crm.funnel().get().from(late).to(early).await.err(),
        "`from`",
    );
    assert!(server.requests().is_empty());

    let funnel = crm.funnel().get().from(early).to(late).await.unwrap();
    assert_eq!(
        (funnel.window.from, funnel.window.to),
        (Some(early), Some(late))
    );
    // A window of no length is one.
    assert!(crm.funnel().get().from(late).to(late).await.is_ok());
    // One end alone is completed by the service.
    assert!(crm.funnel().get().to(late).await.is_ok());
}

#[tokio::test]
async fn pages_outside_of_the_documented_sizes_are_refused() {
    let server = server_of(10).await;
    let crm = crm_for(&server);
    let person = server.sample_person();
    let lists = |limit: u32| -> [(Items<Record>, bool); 6] {
        [
            (crm.people().list().limit(limit).items(), limit <= 50),
            (crm.organizations().list().limit(limit).items(), limit <= 50),
            (crm.opportunities().list().limit(limit).items(), limit <= 50),
            (crm.tasks().list().limit(limit).items(), limit <= 50),
            (crm.intake().list().limit(limit).items(), limit <= 50),
            (
                crm.people().timeline(person.as_str()).limit(limit).items(),
                limit <= 200,
            ),
        ]
    };
    for limit in [0, 51, 201] {
        for (mut items, fits) in lists(limit) {
            if limit == 0 || !fits {
                refused(items.try_next().await.err(), "`limit`");
            }
        }
    }
    assert!(server.requests().is_empty());
    for limit in [1, 50] {
        for (mut items, _) in lists(limit) {
            assert!(items.try_next().await.unwrap().is_some());
        }
    }
    let longest = crm.people().timeline(person).limit(200).await.unwrap();
    assert_eq!(longest.items().unwrap().len(), 200);
}

#[tokio::test]
async fn a_search_text_of_one_letter_is_refused_in_walks_too() {
    let server = server_of(10).await;
    let crm = crm_for(&server);

    refused(
        crm.people().list().q("a").items().try_next().await.err(),
        "`q`",
    );
    let status = PersonStatus::Unknown("retired".to_owned());
    refused(
        crm.people()
            .list()
            .status(status)
            .items()
            .try_next()
            .await
            .err(),
        "`status`",
    );
    refused(
        crm.intake()
            .list()
            .cursor("short")
            .items()
            .try_next()
            .await
            .err(),
        "`cursor`",
    );
    refused(crm.search().query("a").await.err(), "`q`");
    refused(crm.search().query("ann").limit(51).await.err(), "`limit`");
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn search_actors_today_and_presentation_are_one_bounded_reply_each() {
    let server = server_of(100).await;
    let crm = crm_for(&server);

    let found = crm
        .search()
        .query("an")
        .limit(50)
        .await
        .unwrap()
        .to_value()
        .unwrap();
    assert!(
        found["items"]
            .as_array()
            .is_some_and(|items| items.len() <= 50)
    );
    assert!(found.get("nextCursor").is_none());
    assert!(
        crm.actors()
            .list()
            .await
            .unwrap()
            .to_value()
            .unwrap()
            .is_object()
    );
    assert!(crm.today().get().await.unwrap().recent_changes.len() <= 25);
    assert!(crm.presentation().get().await.unwrap().views.len() <= 60);
}
