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
    let accepted = "a call accepts this reply";
    cannot("the kind NotFound", || {
        error(Kind::NotFound).status(503).build()
    });
    cannot(accepted, || error(Kind::NotFound).status(200).build());
    cannot(accepted, || error(Kind::Decode).body("{}").build());
    cannot("the code \"LATE\"", || {
        error(Kind::Timeout).code("LATE").build()
    });
    cannot("the status 500", || {
        error(Kind::Transport).status(500).build()
    });
    cannot("the attempts 0", || {
        error(Kind::Connect).attempts(0).build()
    });
    cannot("the attempts 2", || {
        error(Kind::InvalidInput).attempts(2).build()
    });
    let with = |kind, effect| error(kind).effect(effect);
    cannot("the effect NotSent", || {
        with(Kind::Conflict, Effect::NotSent).build()
    });
    cannot("the effect Refused", || {
        with(Kind::Transport, Effect::Refused).build()
    });
    cannot("the effect Unknown", || {
        with(Kind::Value, Effect::Unknown).build()
    });
    // One attempt cannot have been refused and have an unknown effect.
    cannot("the effect Unknown", || {
        with(Kind::Conflict, Effect::Unknown).attempts(1).build()
    });
    // The CRM's errors do not say.
    cannot("the retryable false", || {
        error(Kind::Unavailable).retryable(false).build()
    });
    cannot("the request_id \"r-1\"", || {
        error(Kind::Connect).request_id("r-1").build()
    });
    cannot("the message \"later\"", || {
        error(Kind::Timeout).message("later").build()
    });
    let keyed = error(Kind::Timeout).idempotency_key(key("order-4711.delivery"));
    cannot("a read has no idempotency key", || keyed.build());
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
