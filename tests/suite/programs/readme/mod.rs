//! The README keeps its word: its program, which `follow_ups.rs` holds letter for letter, does what it says, and its output
//! is real.

#![allow(unreachable_pub)] // they are written for somebody else's crate

mod follow_ups;
mod memory;

use std::process::Command;

use sdk_core::{RetryPolicy, Suite};
use sdk_reference_server::{Operation, ReferenceServer};

use crate::programs::{output, program};

#[tokio::test(start_paused = true)]
async fn the_program_of_the_readme_does_what_it_says() {
    let (server, event) = (ReferenceServer::in_memory(), Operation::SubmitEventCommand);
    let suite = |policy| {
        let suite = Suite::builder().transport(server.service());
        let suite = suite.variables(server.environment()).retry(policy);
        suite.build().unwrap()
    };
    let [once, again] = [RetryPolicy::none(), RetryPolicy::default()].map(suite);
    let (start, end) = ("2026-03-02T09:00:00Z", "2026-03-02T09:30:00Z");

    // One reply is lost, and nothing is retried.
    server.fault(event).times(1).lose_reply();
    follow_ups::book(&once, start, end).await.unwrap();
    let first = server.commits(event);
    assert!(first > 1 && server.attempts(Operation::ListOpportunities) > 1);

    // The next run sends all of it again.
    follow_ups::book(&again, start, end).await.unwrap();
    let seen = (server.attempts(event), server.commits(event));
    assert_eq!(seen, (2 * first, first), "sent twice, booked once");

    // What was refused ends it.
    server.fault(event).times(1).status(403);
    assert!(follow_ups::book(&again, start, end).await.is_err());
}

#[test]
fn the_readme_shows_what_the_tour_prints() {
    let tour = output(&mut Command::new(program("tour"))).stdout;
    let printed = String::from_utf8(tour).unwrap();
    let readme = include_str!("../../../../README.md");
    let (_, shown) = readme.split_once("\n```text\n").unwrap();
    let (shown, _) = shown.split_once("```").unwrap();
    assert!(printed.contains(shown), "{printed}");
}
