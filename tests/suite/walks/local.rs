//! What a list refuses before anything is sent, its walks refuse too.

use sdk_core::{Error, ErrorKind, Pages, Record};
use sdk_crm::types::{IntakeState, PersonStatus};

use super::server_of;
use crate::support::{assert_says, crm_for};

/// Walks that break a rule, and what of it is named.
fn broken(crm: &sdk_crm::Client, person: &str) -> Vec<(Pages<Record>, &'static str)> {
    let (people, intake) = (|| crm.people().list(), || crm.intake().list());
    let retired = PersonStatus::Unknown("retired".to_owned());
    let excluded = "`status` must not be set together with `state`";
    let both = intake().status("received").state(IntakeState::Pending);
    vec![
        (people().q("a").pages(), "`q`"),
        (people().status(retired).pages(), "`status`"),
        (people().limit(0).pages(), "`limit`"),
        (people().limit(51).pages(), "`limit`"),
        (crm.organizations().list().limit(51).pages(), "`limit`"),
        (crm.opportunities().list().limit(51).pages(), "`limit`"),
        (crm.tasks().list().limit(51).pages(), "`limit`"),
        (intake().limit(51).pages(), "`limit`"),
        (crm.people().timeline(person).limit(201).pages(), "`limit`"),
        (intake().cursor("short").pages(), "`cursor`"),
        (both.pages(), excluded),
    ]
}

fn assert_refused(error: &Error, name: &str) {
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.operation().is_some());
    assert_says(error, &[name]);
    assert_eq!(error.attempts(), 0);
}

#[tokio::test]
async fn a_walk_that_breaks_a_rule_is_refused_and_over() {
    let server = server_of(10).await;
    let (crm, person) = (crm_for(&server), server.sample_person());
    for (mut pages, name) in broken(&crm, &person) {
        assert_refused(&pages.try_next().await.unwrap_err(), name);
        assert!(pages.try_next().await.unwrap().is_none());
    }
    for (pages, name) in broken(&crm, &person) {
        let mut items = pages.items();
        assert_refused(&items.try_next().await.unwrap_err(), name);
        assert!(items.try_next().await.unwrap().is_none());
    }
    assert!(server.requests().is_empty());
}
