//! What no call can end with cannot be made.

use std::panic::{AssertUnwindSafe, catch_unwind};

use sdk_core::testing::{error, prepared, reply};
use sdk_core::{Effect, ErrorKind, RawJson};
use sdk_crm::operations::{GET_PERSON, SUBMIT_COMMAND};
use serde_json::json;

use crate::support::key;

/// Why a test cannot make this.
fn refused<T>(make: impl FnOnce() -> T) -> String {
    let caught = catch_unwind(AssertUnwindSafe(make));
    let Err(panic) = caught else {
        panic!("it was made")
    };
    let text = panic.downcast_ref::<String>().cloned();
    text.unwrap_or_else(|| (*panic.downcast_ref::<&str>().unwrap()).to_owned())
}

#[test]
fn an_error_that_contradicts_itself_is_refused() {
    for (said, refused) in [
        (
            "the kind NotFound",
            refused(|| error(ErrorKind::NotFound).status(503).build()),
        ),
        (
            "a call accepts this reply",
            refused(|| error(ErrorKind::NotFound).status(200).build()),
        ),
        (
            "the code \"LATE\"",
            refused(|| error(ErrorKind::Timeout).code("LATE").build()),
        ),
        (
            "the status 500",
            refused(|| error(ErrorKind::Transport).status(500).build()),
        ),
        (
            "the attempts 0",
            refused(|| error(ErrorKind::Connect).attempts(0).build()),
        ),
        (
            "the attempts 2",
            refused(|| error(ErrorKind::InvalidInput).attempts(2).build()),
        ),
        (
            "the effect NotSent",
            refused(|| error(ErrorKind::Conflict).effect(Effect::NotSent).build()),
        ),
        (
            "the effect Refused",
            refused(|| error(ErrorKind::Transport).effect(Effect::Refused).build()),
        ),
        (
            "the effect Unknown",
            refused(|| error(ErrorKind::Value).effect(Effect::Unknown).build()),
        ),
        // One attempt cannot have been refused and have an unknown effect.
        (
            "the effect Unknown",
            refused(|| {
                error(ErrorKind::Conflict)
                    .attempts(1)
                    .effect(Effect::Unknown)
                    .build()
            }),
        ),
        // The CRM's errors do not say.
        (
            "the retryable false",
            refused(|| error(ErrorKind::Unavailable).retryable(false).build()),
        ),
        (
            "the request_id \"r-1\"",
            refused(|| error(ErrorKind::Connect).request_id("r-1").build()),
        ),
        (
            "the message \"later\"",
            refused(|| error(ErrorKind::Timeout).message("later").build()),
        ),
        (
            "a read has no idempotency key",
            refused(|| {
                error(ErrorKind::Timeout)
                    .idempotency_key(key("order-4711.delivery"))
                    .build()
            }),
        ),
    ] {
        assert!(refused.contains(said), "{said}: {refused}");
    }
}

#[test]
fn a_reply_that_no_call_could_get_is_refused() {
    let command = || prepared(&SUBMIT_COMMAND, &json!({}));
    for (said, refused) in [
        (
            "a call accepts this reply",
            refused(|| reply(&GET_PERSON, 200).body("{}").error()),
        ),
        (
            "only a command has a receipt",
            refused(|| reply(&GET_PERSON, 200).receipt::<RawJson>()),
        ),
        (
            "no reply has this status",
            refused(|| reply(&GET_PERSON, 99).response::<RawJson>()),
        ),
        (
            "a reply takes an attempt",
            refused(|| reply(&GET_PERSON, 404).attempts(0).error()),
        ),
        (
            "needs its `operation`",
            refused(|| reply(&GET_PERSON, 404).command(command()).error()),
        ),
        (
            "is not a command",
            refused(|| prepared(&GET_PERSON, &json!({}))),
        ),
        (
            "the name of a header",
            refused(|| reply(&GET_PERSON, 404).header("a b", "c")),
        ),
    ] {
        assert!(refused.contains(said), "{said}: {refused}");
    }
}
