//! The README keeps its word: its program stands in a file here, letter for letter, and runs; its picture and its output
//! are real.

#![allow(unreachable_pub)] // they are written for somebody else's crate

mod follow_ups;
mod memory;

use std::process::Command;

use sdk_core::{RetryPolicy, Suite};
use sdk_reference_server::{Operation, ReferenceServer};

use crate::programs::program;

const README: &str = include_str!("../../../../README.md");

/// The blocks of code of this language.
fn blocks(language: &str) -> Vec<&'static str> {
    let begin = format!("```{language}\n");
    let blocks = README.split(&*begin).skip(1);
    let blocks = blocks.filter_map(|rest| rest.split("```").next());
    blocks.collect()
}

#[test]
fn the_readme_shows_its_program_as_it_is_tested() {
    assert_eq!(blocks("rust"), [include_str!("follow_ups.rs")]);
    let guide = include_str!("../../../reference-server/docs/testing-your-service.md");
    let in_memory = format!("```rust,ignore\n{}```", include_str!("memory.rs"));
    assert!(guide.contains(&in_memory));
}

#[tokio::test(start_paused = true)]
async fn the_program_of_the_readme_does_what_it_says() {
    let server = ReferenceServer::in_memory();
    let suite = |policy| {
        let builder = Suite::builder().transport(server.service());
        builder
            .variables(server.environment())
            .retry(policy)
            .build()
    };
    let (start, end) = ("2026-03-02T09:00:00Z", "2026-03-02T09:30:00Z");
    let booked = || server.commits(Operation::SubmitEventCommand);
    let event = Operation::SubmitEventCommand;

    // One reply is lost, and nothing is retried.
    server.fault(event).times(1).lose_reply();
    let once = suite(RetryPolicy::none()).unwrap();
    follow_ups::book(&once, start, end).await.unwrap();
    let first = booked();
    assert!(first > 1 && server.attempts(Operation::ListOpportunities) > 1);

    // The next run sends all of it again.
    let again = suite(RetryPolicy::default()).unwrap();
    follow_ups::book(&again, start, end).await.unwrap();
    assert_eq!(server.attempts(event), 2 * first);
    assert_eq!(booked(), first, "sent twice, booked once");

    // What was refused ends it.
    server.fault(event).times(1).status(403);
    assert!(follow_ups::book(&again, start, end).await.is_err());
}

#[test]
fn the_readme_shows_what_the_tour_prints() {
    let tour = Command::new(program("tour")).output().unwrap();
    let printed = String::from_utf8(tour.stdout).unwrap();
    let [shown] = blocks("text")[..] else {
        panic!("one block of output");
    };
    assert!(printed.contains(shown), "{printed}");
}

/// A page breaks where the picture has a blank line or an indented one.
#[test]
fn the_picture_of_the_readme_can_stand_in_a_page() {
    let svg = include_str!("../../../../sdk-core/docs/lost_reply.svg");
    assert!(svg.len() <= 12 * 1024 && svg.contains("<title") && svg.contains("<desc"));
    assert!(
        !svg.lines()
            .any(|line| line.is_empty() || line.starts_with(' '))
    );
}
