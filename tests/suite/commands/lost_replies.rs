//! Row 21: the response to a committed command is lost. A command with a key is resent, and the caller gets its result.
//! A command without a key has an unknown effect, and resending the stored command returns the result.

use sdk_core::{Effect, Error, ErrorKind, ExactReplay, IdempotencyKey, RawJson, Receipt};
use sdk_reference_server::{Fault, Operation};

use super::{Stage, review};
use crate::fixtures::{add_person, server};
use crate::peer::{Over, over_all};
use crate::samples::{draft, kick_off};
use crate::support::{Clients, assert_says, assert_tried, builder_for, once, stored};

over_all! {
    fault_21_a_keyed_command_is_committed_once_however_its_response_is_lost
    fault_21_a_command_without_a_key_is_committed_once_and_a_resend_returns_its_result
}

type Lose = fn(Fault) -> Fault;

/// The faults after the commit, and the error that a caller gets if there is no other response.
const LOST: [(Lose, ErrorKind); 4] = [
    (Fault::lose_reply, ErrorKind::Transport),
    (Fault::truncate_body, ErrorKind::Decode),
    (Fault::break_body, ErrorKind::Transport),
    (
        |fault| fault.reply_after_commit_with(503),
        ErrorKind::Unavailable,
    ),
];

/// A 401 leads to another attempt of any command. The 401 claims that the command had no effect, which is false here.
const UNAUTHENTICATED: Lose = |fault| fault.reply_after_commit_with(401);

async fn stage_over(over: Over) -> Stage {
    let server = server().await;
    let suite = over.set(builder_for(&server));
    Stage::of(server, suite)
}

async fn fault_21_a_keyed_command_is_committed_once_however_its_response_is_lost(over: Over) {
    for lose in LOST
        .map(|(lose, _)| lose)
        .into_iter()
        .chain([UNAUTHENTICATED])
    {
        let stage = stage_over(over).await;
        lose(once(&stage.server, Operation::SubmitEventCommand));
        lose(once(&stage.server, Operation::CreateInvoiceDraft));

        let event = kick_off(&stage.calendar).await.unwrap();
        let draft = draft(&stage.server.sample_counterparty(), 1);
        let drafts = stage.accounting.invoice_drafts();
        let draft = drafts.create(&draft).await.unwrap();

        assert_committed_once(&stage, &event);
        assert_committed_once(&stage, &draft);
        assert!(event.idempotency_key().is_some() && draft.idempotency_key().is_some());
        assert!(event.replayed && draft.replayed);
    }
}

/// Checks that there was one commit, and that the second of two equal requests returned its result.
fn assert_committed_once<T>(stage: &Stage, receipt: &Receipt<T>) {
    let operation = receipt.api_operation().id;
    let got = (receipt.is_replay(), receipt.attempts());
    assert_eq!(got, (Some(true), 2), "{operation}");
    assert_eq!(stage.server.commits(operation), 1);
    let seen = stage.server.requests_for(operation);
    assert_eq!(seen.len(), 2);
    let key = receipt.idempotency_key().map(IdempotencyKey::as_str);
    for request in &seen {
        assert_eq!(request.idempotency_key(), key);
        assert_eq!(request.body(), seen[0].body());
    }
}

async fn fault_21_a_command_without_a_key_is_committed_once_and_a_resend_returns_its_result(
    over: Over,
) {
    for (lose, kind) in LOST {
        let stage = stage_over(over).await;
        let (submit, decide) = (Operation::SubmitCommand, Operation::ReviewIntakeSubmission);
        lose(once(&stage.server, submit));
        lose(once(&stage.server, decide));

        let error = add_person(&stage.crm).await.unwrap_err();
        assert_resend_returns_result(&stage, submit, error, kind).await;
        let call = stage.crm.intake().review(review(&stage.server));
        let error = call.await.unwrap_err();
        assert_resend_returns_result(&stage, decide, error, kind).await;
    }
}

/// Checks that the SDK does not resend the command, and that another process gets the result of the one commit when it
/// sends the stored command.
async fn assert_resend_returns_result(
    stage: &Stage,
    operation: Operation,
    error: Error,
    kind: ErrorKind,
) {
    assert_tried(&error, kind, Effect::Unknown, 1);
    assert_says(&error, &["its effect is unknown"]);
    let counts = || {
        [
            stage.server.attempts(operation),
            stage.server.commits(operation),
        ]
    };
    assert_eq!(counts(), [1, 1]);
    let command = error.into_command().unwrap();
    assert!(command.idempotency_key().is_none());

    let elsewhere = builder_for(&stage.server).crm();
    let found: Receipt<RawJson> = elsewhere.send_prepared(&stored(&command)).await.unwrap();
    let again = elsewhere.send_prepared(&command).await.unwrap();

    assert_eq!((found.http_status(), found.is_replay()), (200, Some(true)));
    assert_eq!(found.as_str(), again.as_str());
    let result = found.to_value().unwrap();
    assert!(result["publicReference"].is_string(), "{result}");
    assert_eq!(counts(), [3, 1]);
    let seen = stage.server.requests_for(operation);
    assert!(seen.iter().all(|request| request.body() == seen[0].body()));
}

#[tokio::test]
async fn fault_21_a_command_without_a_key_is_resent_if_the_caller_or_a_401_allows_it() {
    // The contract says that an exact replay is harmless.
    let allowed = LOST.map(|(lose, _)| (lose, Some(ExactReplay::Allowed)));
    for (lose, replay) in allowed.into_iter().chain([(UNAUTHENTICATED, None)]) {
        let stage = Stage::start();
        lose(once(&stage.server, Operation::SubmitCommand));
        let mut call = add_person(&stage.crm);
        if let Some(replay) = replay {
            call = call.exact_replay(replay);
        }

        let receipt = call.await.unwrap();

        assert_eq!(
            (receipt.http_status(), receipt.idempotency_key()),
            (200, None)
        );
        assert_committed_once(&stage, &receipt);
    }
}
