//! Rows 13, 16 and 21 for commands with a key: whatever happens to the reply, one commit and its result.

use sdk_core::Receipt;
use sdk_reference_server::Operation;

use super::samples::{draft, run};
use super::stage::{Mishap, Stage};
use crate::samples::kick_off;
use crate::wire::{Then, Way};

#[tokio::test]
async fn fault_21_an_event_is_committed_once_whatever_happens_to_the_reply() {
    for mishap in Mishap::ALL {
        let stage = Stage::start().await;
        stage.mishap(mishap, Operation::SubmitEventCommand);
        let receipt = kick_off(&stage.calendar).await.unwrap();
        assert!(receipt.replayed, "{mishap:?}");
        assert_eq!(
            (receipt.http_status(), receipt.operation.as_str()),
            (200, "event.create")
        );
        check(&stage, mishap, Operation::SubmitEventCommand, &receipt);
    }
}

#[tokio::test]
async fn fault_21_an_invoice_draft_is_committed_once_whatever_happens_to_the_reply() {
    for mishap in Mishap::ALL {
        let stage = Stage::start().await;
        stage.mishap(mishap, Operation::CreateInvoiceDraft);
        let draft = draft(&stage.server);
        let receipt = stage
            .accounting
            .invoice_drafts()
            .create(&draft)
            .await
            .unwrap();
        assert!(receipt.replayed, "{mishap:?}");
        check(&stage, mishap, Operation::CreateInvoiceDraft, &receipt);
    }
}

#[tokio::test]
async fn fault_21_an_import_run_is_committed_once_whatever_happens_to_the_reply() {
    for mishap in Mishap::ALL {
        let stage = Stage::start().await;
        stage.mishap(mishap, Operation::CreateImportRun);
        let receipt = stage.accounting.import_runs().create(&run()).await.unwrap();
        assert!(receipt.replayed, "{mishap:?}");
        check(&stage, mishap, Operation::CreateImportRun, &receipt);
    }
}

/// One commit, and two requests that are the same to the last byte.
fn check<T>(stage: &Stage, mishap: Mishap, operation: Operation, receipt: &Receipt<T>) {
    assert_eq!(receipt.is_replay(), Some(true), "{mishap:?}");
    assert_eq!(receipt.attempts(), 2, "{mishap:?}");
    assert_eq!(stage.server.commits(operation), 1, "{mishap:?}");
    let seen = stage.server.requests_for(operation);
    assert_eq!(seen.len(), 2, "{mishap:?}");
    let key = receipt.idempotency_key().unwrap().as_str();
    for request in &seen {
        assert_eq!(request.idempotency_key(), Some(key), "{mishap:?}");
        assert_eq!(request.body(), seen[0].body(), "{mishap:?}");
    }
    println!(
        "{:<20} after the commit: {mishap:?}: {} attempts, {} commit, replayed: true",
        operation.id(),
        receipt.attempts(),
        stage.server.commits(operation)
    );
}

#[tokio::test]
async fn fault_13_a_key_goes_along_when_the_request_itself_breaks_off() {
    // Within the head, and within the body: nothing was committed by the first attempt.
    for bytes in [0, 40, 400] {
        let stage = Stage::start().await;
        stage.calendar.prewarm().await.unwrap();
        stage
            .wire("calendar")
            .break_after(bytes, Way::Up, Then::Reset);

        let receipt = kick_off(&stage.calendar).await.unwrap();

        assert_eq!((receipt.is_replay(), receipt.attempts()), (Some(false), 2));
        assert_eq!(stage.server.commits(Operation::SubmitEventCommand), 1);
    }
}
