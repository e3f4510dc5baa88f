//! Rows 13, 16 and 21 for CRM commands, whose key has no documented place: one commit, an unknown effect, and a command
//! that finds out.

use sdk_core::{Effect, Error, ErrorKind, ExactReplay, RawJson, Receipt};
use sdk_reference_server::Operation;

use super::stage::{Mishap, Stage, review};
use crate::peer::{Over, over_all};
use crate::samples::new_person;
use crate::support::{Clients, assert_says, assert_tried, stored};

over_all! {
    fault_21_a_command_without_a_key_is_committed_once_and_its_result_can_be_had
    fault_21_a_401_after_the_commit_is_sent_again_and_gives_the_stored_result
}

/// All that leave the effect open. A 401 does not: it says that there was none.
fn mishaps() -> impl Iterator<Item = Mishap> {
    Mishap::ALL
        .into_iter()
        .filter(|mishap| *mishap != Mishap::Unauthenticated)
}

async fn fault_21_a_command_without_a_key_is_committed_once_and_its_result_can_be_had(over: Over) {
    for mishap in mishaps() {
        let stage = Stage::over(over).await;
        stage.mishap(mishap, Operation::SubmitCommand).await;
        let call = stage.crm.commands().submit(new_person("Ann Example"));
        let error = call.await.unwrap_err();
        check(&stage, mishap, Operation::SubmitCommand, error).await;

        stage
            .mishap(mishap, Operation::ReviewIntakeSubmission)
            .await;
        let call = stage.crm.intake().review(review(&stage.server));
        let error = call.await.unwrap_err();
        check(&stage, mishap, Operation::ReviewIntakeSubmission, error).await;
    }
}

/// Not repeated on its own; the command, stored and sent by another process, gives the result of the one commit.
async fn check(stage: &Stage, mishap: Mishap, operation: Operation, error: Error) {
    let kind = match mishap {
        Mishap::HalfReply => ErrorKind::Decode,
        Mishap::Unavailable => ErrorKind::Unavailable,
        _ => ErrorKind::Transport,
    };
    assert_tried(&error, kind, Effect::Unknown, 1);
    assert_says(&error, &["its effect is unknown"]);
    assert_eq!(stage.server.attempts(operation), 1, "{mishap:?}");
    assert_eq!(stage.server.commits(operation), 1, "{mishap:?}");
    let command = error.into_command().unwrap();
    assert!(command.idempotency_key().is_none());

    let elsewhere = stage.elsewhere().crm();
    let found: Receipt<RawJson> = elsewhere.send_prepared(&stored(&command)).await.unwrap();
    let again = elsewhere.send_prepared(&command).await.unwrap();

    let told = (found.http_status(), found.is_replay());
    assert_eq!(told, (200, Some(true)), "{mishap:?}");
    assert_eq!(found.as_str(), again.as_str());
    let result = found.to_value().unwrap();
    assert!(result["publicReference"].is_string(), "{result}");
    assert_eq!(stage.server.commits(operation), 1, "{mishap:?}");
    let seen = stage.server.requests_for(operation);
    assert!(seen.iter().all(|request| request.body() == seen[0].body()));
}

async fn fault_21_a_401_after_the_commit_is_sent_again_and_gives_the_stored_result(over: Over) {
    // The one 4xx that is followed by another attempt. The contract calls an exact replay harmless.
    let stage = Stage::over(over).await;
    stage
        .mishap(Mishap::Unauthenticated, Operation::SubmitCommand)
        .await;

    let call = stage.crm.commands().submit(new_person("Ann Example"));
    assert_repeated(&stage, &call.await.unwrap());
}

#[tokio::test]
async fn a_caller_who_allows_exact_replays_has_crm_commands_repeated() {
    for mishap in mishaps() {
        let stage = Stage::start().await;
        stage.mishap(mishap, Operation::SubmitCommand).await;
        let call = stage.crm.commands().submit(new_person("Ann Example"));
        let call = call.exact_replay(ExactReplay::Allowed);
        assert_repeated(&stage, &call.await.unwrap());
    }
}

fn assert_repeated(stage: &Stage, receipt: &Receipt<RawJson>) {
    let told = (receipt.http_status(), receipt.is_replay());
    assert_eq!(told, (200, Some(true)));
    assert_eq!(receipt.attempts(), 2);
    assert_eq!(stage.server.commits(Operation::SubmitCommand), 1);
}
