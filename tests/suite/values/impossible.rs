//! What no call can end with cannot be made.

use std::panic::{AssertUnwindSafe, catch_unwind};

use sdk_core::testing::{error, prepared, reply};
use sdk_core::{Effect, ErrorKind as Kind, RawJson};
use sdk_crm::operations::{GET_PERSON, SUBMIT_COMMAND};
use serde_json::json;

use crate::support::key;

/// Checks that a test cannot make this, and is told why.
#[track_caller]
fn cannot<T>(why: &str, make: impl FnOnce() -> T) {
    let caught = catch_unwind(AssertUnwindSafe(|| drop(make())));
    let panic = caught.expect_err("it was made");
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap();
    assert!(text.contains(why), "{why}: {text}");
}

#[test]
fn an_error_that_contradicts_itself_is_refused() {
    let with = |kind, effect| error(kind).effect(effect);
    let keyed = error(Kind::Timeout).idempotency_key(key("order-4711.delivery"));
    let accepted = "a call accepts this reply";
    for (why, made) in [
        ("the kind NotFound", error(Kind::NotFound).status(503)),
        (accepted, error(Kind::NotFound).status(200)),
        (accepted, error(Kind::Decode).body("{}")),
        ("the code \"LATE\"", error(Kind::Timeout).code("LATE")),
        ("the status 500", error(Kind::Transport).status(500)),
        ("the attempts 0", error(Kind::Connect).attempts(0)),
        ("the attempts 2", error(Kind::InvalidInput).attempts(2)),
        ("effect NotSent", with(Kind::Conflict, Effect::NotSent)),
        ("effect Refused", with(Kind::Transport, Effect::Refused)),
        ("effect Unknown", with(Kind::Value, Effect::Unknown)),
        // One attempt cannot have been refused and have an unknown effect.
        (
            "effect Unknown",
            with(Kind::Conflict, Effect::Unknown).attempts(1),
        ),
        // The CRM's errors do not say.
        ("retryable false", error(Kind::Unavailable).retryable(false)),
        ("request_id \"r-1\"", error(Kind::Connect).request_id("r-1")),
        ("message \"later\"", error(Kind::Timeout).message("later")),
        ("a read has no idempotency key", keyed),
    ] {
        cannot(why, || made.build());
    }
}

#[test]
fn a_reply_that_no_call_could_get_is_refused() {
    let of = |status| reply(&GET_PERSON, status);
    let command = prepared(&SUBMIT_COMMAND, &json!({}));
    cannot("a call accepts this reply", || of(200).body("{}").error());
    cannot("only a command has a receipt", || {
        of(200).receipt::<RawJson>()
    });
    cannot("no reply has this status", || of(99).response::<RawJson>());
    cannot("a reply takes an attempt", || of(404).attempts(0).error());
    cannot("needs its `operation`", || of(404).command(command).error());
    cannot("is not a command", || prepared(&GET_PERSON, &json!({})));
    cannot("the name of a header", || of(404).header("a b", "c"));
}
