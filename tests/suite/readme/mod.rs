//! The programs of the README: each stands in a file here, letter for letter, and runs.

#![allow(unreachable_pub)] // they are written for somebody else's crate

mod apps;
mod booking;
mod invoice;
mod memory;
mod people;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use sdk_core::RawJson;
use sdk_reference_server::{Operation, ReferenceServer};

use crate::support::suite_for;

#[test]
fn the_readme_shows_the_programs_as_they_are_tested() {
    let readme = include_str!("../../../README.md");
    let shown: Vec<&str> = readme
        .split("```rust\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    let tested = [
        include_str!("people.rs"),
        include_str!("booking.rs"),
        include_str!("invoice.rs"),
        include_str!("apps.rs"),
        include_str!("memory.rs"),
    ];
    assert_eq!(shown, tested);
    let guide = include_str!("../../reference-server/docs/testing-your-service.md");
    let in_memory = format!("```rust,ignore\n{}```", tested[4]);
    assert!(guide.contains(&in_memory));
}

#[tokio::test]
async fn the_programs_of_the_readme_do_what_it_says() {
    let server = ReferenceServer::start().await;
    let suite = suite_for(&server);

    people::print_active_people(&suite).await.unwrap();
    assert!(
        server.attempts(Operation::ListPeople) > 1,
        "it walks all pages"
    );

    let start = Timestamp::now().to_zoned(TimeZone::UTC);
    let end = start.saturating_add(SignedDuration::from_mins(30));
    let first = booking::book(&suite, "order-4711", &start, &end)
        .await
        .unwrap();
    let again = booking::book(&suite, "order-4711", &start, &end)
        .await
        .unwrap();
    assert_eq!(first, again);
    assert_eq!(
        server.commits(Operation::SubmitEventCommand),
        1,
        "sent twice, booked once"
    );

    let line = RawJson::from(serde_json::json!({"description": "Workshop"}));
    server
        .fault(Operation::CreateInvoiceDraft)
        .times(3)
        .lose_reply();
    invoice::draft_invoice(&suite, &server.sample_counterparty(), vec![line])
        .await
        .unwrap();
    assert_eq!(
        server.commits(Operation::CreateInvoiceDraft),
        1,
        "the lost reply is found again"
    );

    apps::print_apps(&suite).await.unwrap();
    assert_eq!(server.attempts(Operation::ListApps), 1);
}
