//! The form of an `Idempotency-Key`: 16 to 160 characters out of `A-Z a-z 0-9 . _ : -`.

use sdk_accounting::types::ImportMode;
use sdk_core::IdempotencyKey;
use sdk_reference_server::{App, Operation};
use serde_json::{Value, json};

use crate::contract::both::{Both, assert_refused_locally};
use crate::samples::{draft, event, import};

/// The three operations that require one, and bodies that they take.
fn keyed(both: &Both) -> [(App, &'static str, Value); 3] {
    let value = |body: Result<Value, _>| body.unwrap();
    let counterparty = both.world.server.sample_counterparty();
    let run = import("ledger-adapter", ImportMode::FullHistory);
    [
        (
            App::Calendar,
            "/calendar/v1/event-commands",
            value(serde_json::to_value(event("Kick-off"))),
        ),
        (
            App::Accounting,
            "/invoice-drafts",
            value(serde_json::to_value(draft(&counterparty, 1))),
        ),
        (
            App::Accounting,
            "/import-runs",
            value(serde_json::to_value(run)),
        ),
    ]
}

#[test]
fn a_key_of_another_form_cannot_be_made() {
    for length in [0, 15, 161] {
        let error = "k".repeat(length).parse::<IdempotencyKey>().unwrap_err();
        let rule = format!("must have 16 to 160 characters: got {length} characters");
        assert_refused_locally(&error, &format!("`Idempotency-Key` {rule}"));
    }
    for odd in [' ', '/', '#', 'é', '\n', '\0'] {
        let text = format!("sixteen-chars-{odd}-and-more");
        let error = text.parse::<IdempotencyKey>().unwrap_err();
        let rule = format!("must match ^[A-Za-z0-9._:-]+$: got the character {odd:?}");
        assert_refused_locally(&error, &format!("`Idempotency-Key` {rule}"));
    }
}

#[tokio::test]
async fn the_server_refuses_a_key_of_another_form_and_a_command_without_one() {
    let calendar = Both::sides_of(App::Calendar).await;
    let accounting = Both::sides_of(App::Accounting).await;
    let (short, long) = ("k".repeat(15), "k".repeat(161));

    for (app, path, body) in keyed(&accounting) {
        let both = if app == App::Calendar {
            &calendar
        } else {
            &accounting
        };
        let odd = [
            "",
            &*short,
            &*long,
            "sixteen chars and a blank",
            "sixteen-chars-and/slash",
        ];
        for key in odd.map(Some).into_iter().chain([None]) {
            let reply = both.bypass.post(path, key, &body).await;
            assert_eq!(reply.status, 400, "{path} with {key:?}: {}", reply.body);
        }
    }
    for operation in [Operation::CreateInvoiceDraft, Operation::CreateImportRun] {
        assert_eq!(accounting.world.server.commits(operation), 0);
    }
    assert_eq!(
        calendar.world.server.commits(Operation::SubmitEventCommand),
        0
    );
}

#[tokio::test]
async fn keys_of_16_and_of_160_characters_are_taken() {
    let both = Both::sides_of(App::Calendar).await;
    let every = "ABCXYZabcxyz0189._:-";

    for key in [every[..16].to_owned(), every.repeat(8), "k".repeat(16)] {
        let events = both.world.calendar.events();
        let command = events.command(&event("Kick-off"));
        let receipt = command.idempotency_key(&key).await.unwrap();
        assert_eq!(receipt.idempotency_key().unwrap().as_str(), key);
        let seen = both.world.last(Operation::SubmitEventCommand);
        assert_eq!(seen.idempotency_key(), Some(&*key));
    }
    let body = serde_json::to_value(event("Kick-off")).unwrap();
    let key = "another-key-of-22-char";
    let reply = both
        .bypass
        .post("/calendar/v1/event-commands", Some(key), &body)
        .await;
    assert_eq!(
        (reply.status, &reply.body["replayed"]),
        (201, &json!(false))
    );
}
