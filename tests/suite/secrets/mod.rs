//! Row 32: no secret, token or key in anything that prints itself.

mod disguised;
mod echoes;
mod hostile;
mod meant;
mod repeated;
mod shown;
mod types;

use std::fmt::Debug;

use sdk_core::{ClientAuthentication, ClientCredentials, Error};
use serde_json::json;

use crate::peer::{self, Script};

/// What every secret in these tests begins with.
const CANARY: &str = "canary";

/// An idempotency key to look for.
const KEY: &str = "canary-key-of-row-32";

/// Prints a value in every way there is.
fn print(value: &impl Debug) -> String {
    format!("{value:?}\n{value:#?}\n")
}

/// Prints an error and what lies behind it.
fn print_error(error: &Error) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    let causes: Vec<String> = causes
        .map(|cause| format!("{cause}\n{cause:?}\n"))
        .collect();
    format!("{error}\n{}{}", print(error), causes.concat())
}

fn assert_silent(printed: &str) {
    // As it is, as base64 in each of its three positions, and as `Debug` of bytes.
    for trace in [
        CANARY,
        "Y2FuYXJ5",
        "NhbmFye",
        "jYW5hcn",
        "99, 97, 110, 97, 114, 121",
    ] {
        if let Some(line) = printed.lines().find(|line| line.contains(trace)) {
            panic!("{trace} in: {line}");
        }
    }
}

fn credentials(method: ClientAuthentication) -> ClientCredentials {
    ClientCredentials::new("client", "canary-secret")
        .with_authentication(method)
        .with_form_field("assertion", "canary-field")
}

/// Answers token requests with canaries.
fn with_canary_tokens(script: Script) -> Script {
    let token = json!({
        "access_token": "canary-token",
        "refresh_token": "canary-refresh",
        "expires_in": 300,
    });
    script.tokens_always(peer::json(200, &token))
}
