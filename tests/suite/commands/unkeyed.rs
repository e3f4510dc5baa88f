//! Rows 13, 16 and 21 for CRM commands, whose key has no documented place: one commit, an unknown effect, and a command
//! that finds out.

use sdk_core::{
    CallOptions, Effect, Error, ExactReplay, PreparedCommand, RawJson, Receipt, SuiteBuilder,
};
use sdk_reference_server::Operation;

use super::stage::{Mishap, Stage, new_person, review, stored};
use crate::support::{Clients, assert_says};

/// All that leave the effect open. A 401 does not: it says that there was none.
fn mishaps() -> impl Iterator<Item = Mishap> {
    Mishap::ALL
        .into_iter()
        .filter(|mishap| *mishap != Mishap::Unauthenticated)
}

#[tokio::test]
async fn fault_21_a_record_command_is_committed_once_and_its_result_can_be_had() {
    for mishap in mishaps() {
        let stage = Stage::start().await;
        stage.mishap(mishap, Operation::SubmitCommand);
        let call = stage.crm.commands().submit(new_person("Ann Example"));
        let error = call.await.unwrap_err();
        check(&stage, mishap, Operation::SubmitCommand, error).await;
    }
}

#[tokio::test]
async fn fault_21_an_intake_review_is_committed_once_and_its_result_can_be_had() {
    for mishap in mishaps() {
        let stage = Stage::start().await;
        stage.mishap(mishap, Operation::ReviewIntakeSubmission);
        let call = stage.crm.intake().review(review(&stage.server));
        let error = call.await.unwrap_err();
        check(&stage, mishap, Operation::ReviewIntakeSubmission, error).await;
    }
}

/// Not repeated on its own; the command, stored and sent by another process, gives the result of the one commit.
async fn check(stage: &Stage, mishap: Mishap, operation: Operation, error: Error) {
    assert_eq!(
        (error.effect(), error.attempts()),
        (Effect::Unknown, 1),
        "{mishap:?}"
    );
    assert_says(&error, &["its effect is unknown"]);
    assert_eq!(stage.server.attempts(operation), 1, "{mishap:?}");
    assert_eq!(stage.server.commits(operation), 1, "{mishap:?}");
    let command: PreparedCommand = error.into_command().unwrap();
    assert!(command.idempotency_key().is_none());

    let elsewhere = stage.elsewhere().crm();
    let found: Receipt<RawJson> = elsewhere.send_prepared(&stored(&command)).await.unwrap();
    let again = elsewhere.send_prepared(&command).await.unwrap();

    assert_eq!(
        (found.http_status(), found.is_replay()),
        (200, Some(true)),
        "{mishap:?}"
    );
    assert_eq!(found.as_str(), again.as_str());
    let result = found.to_value().unwrap();
    assert!(result["publicReference"].is_string(), "{result}");
    assert_eq!(stage.server.commits(operation), 1, "{mishap:?}");
    let seen = stage.server.requests_for(operation);
    assert!(seen.iter().all(|request| request.body() == seen[0].body()));
    println!(
        "{:<22} after the commit: {mishap:?}: effect {}, {} commit; replayed elsewhere: {} {}",
        operation.id(),
        Effect::Unknown,
        stage.server.commits(operation),
        found.http_status(),
        result["publicReference"]
    );
}

#[tokio::test]
async fn fault_21_a_401_after_the_commit_is_sent_again_and_gives_the_stored_result() {
    // The one 4xx that is followed by another attempt. The contract calls an exact replay harmless.
    let stage = Stage::start().await;
    stage.mishap(Mishap::Unauthenticated, Operation::SubmitCommand);

    let receipt = stage
        .crm
        .commands()
        .submit(new_person("Ann Example"))
        .await
        .unwrap();

    assert_eq!(
        (receipt.http_status(), receipt.is_replay()),
        (200, Some(true))
    );
    assert_eq!(receipt.attempts(), 2);
    assert_eq!(stage.server.commits(Operation::SubmitCommand), 1);
}

#[tokio::test]
async fn replay_exact_per_call_per_client_or_per_suite_repeats_crm_commands() {
    for mishap in mishaps() {
        let stage = Stage::start().await;
        stage.mishap(mishap, Operation::SubmitCommand);
        let call = stage.crm.commands().submit(new_person("Ann Example"));
        repeated(&stage, call.exact_replay(ExactReplay::Allowed).send().await);
    }

    let options = CallOptions::default().with_exact_replay(ExactReplay::Allowed);
    let stage = Stage::start().await;
    stage.mishap(Mishap::LostReply, Operation::SubmitCommand);
    let crm = stage.crm.with_defaults(options);
    repeated(
        &stage,
        crm.commands()
            .submit(new_person("Ann Example"))
            .send()
            .await,
    );

    let stage =
        Stage::with(|builder: SuiteBuilder| builder.exact_replay(ExactReplay::Allowed)).await;
    stage.mishap(Mishap::LostReply, Operation::SubmitCommand);
    let call = stage.crm.commands().submit(new_person("Ann Example"));
    repeated(&stage, call.clone().send().await);

    // The call has the last word.
    stage.mishap(Mishap::LostReply, Operation::SubmitCommand);
    let call = stage.crm.commands().submit(new_person("Ben Example"));
    let error = call.exact_replay(ExactReplay::Forbidden).await.unwrap_err();
    assert_eq!((error.attempts(), error.effect()), (1, Effect::Unknown));
}

fn repeated(stage: &Stage, result: Result<Receipt<RawJson>, Error>) {
    let receipt = result.unwrap();
    assert_eq!(
        (receipt.http_status(), receipt.is_replay()),
        (200, Some(true))
    );
    assert_eq!(receipt.attempts(), 2);
    assert_eq!(stage.server.commits(Operation::SubmitCommand), 1);
}
