//! Rows 13, 16 and 21 for commands with a key: whatever happens to the reply, one commit and its result.

use sdk_accounting::types::ImportMode;
use sdk_core::Receipt;
use sdk_reference_server::Operation;

use super::stage::{Mishap, Stage};
use crate::peer::proxy::{Then, Way};
use crate::peer::{Over, over_all};
use crate::samples::{draft, import, kick_off};

over_all! {
    fault_21_a_keyed_command_is_committed_once_whatever_happens_to_the_reply
    fault_13_a_key_goes_along_when_the_request_itself_breaks_off
}

async fn fault_21_a_keyed_command_is_committed_once_whatever_happens_to_the_reply(over: Over) {
    for mishap in Mishap::ALL {
        let stage = Stage::over(over).await;
        let accounting = &stage.accounting;
        stage.mishap(mishap, Operation::SubmitEventCommand).await;
        let event = kick_off(&stage.calendar).await.unwrap();
        let told = (event.http_status(), event.operation.as_str());
        assert_eq!(told, (200, "event.create"));
        check(&stage, mishap, &event);

        stage.mishap(mishap, Operation::CreateInvoiceDraft).await;
        let draft = draft(&stage.server.sample_counterparty(), 1);
        let draft = accounting.invoice_drafts().create(&draft).await.unwrap();
        check(&stage, mishap, &draft);

        stage.mishap(mishap, Operation::CreateImportRun).await;
        let run = import("ledger", ImportMode::FullHistory);
        let run = accounting.import_runs().create(&run).await.unwrap();
        check(&stage, mishap, &run);
        assert!(
            event.replayed && draft.replayed && run.replayed,
            "{mishap:?}"
        );
    }
}

/// One commit, and two requests that are the same to the last byte.
fn check<T>(stage: &Stage, mishap: Mishap, receipt: &Receipt<T>) {
    let operation = receipt.api_operation().id;
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
}

async fn fault_13_a_key_goes_along_when_the_request_itself_breaks_off(over: Over) {
    // Within the head, and within the body: nothing was committed by the first attempt.
    for bytes in [0, 40, 400] {
        let stage = Stage::over(over).await;
        stage.calendar.prewarm().await.unwrap();
        let wire = stage.wire("calendar");
        wire.break_after(bytes, Way::Up, Then::Reset);

        let receipt = kick_off(&stage.calendar).await.unwrap();

        assert_eq!((receipt.is_replay(), receipt.attempts()), (Some(false), 2));
        assert_eq!(stage.server.commits(Operation::SubmitEventCommand), 1);
    }
}
