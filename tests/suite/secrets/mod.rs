//! Rows 32, 41, 50, 73, 76, 77, 80, 81 and 90: no printed output contains a secret, token or key, whatever a server
//! echoes.

mod budget;
mod echoes;
mod forms;
mod meant;
mod printed;
mod repeated;

use std::fmt::Debug;

use sdk_core::{
    CallOptions, ClientAuthentication, ClientCredentials, Error, RetryPolicy, SuiteBuilder,
};

use self::forms::{FIELD, HEADER, KEY, QUERY, SECRET, TOKEN};
use crate::peer::{Peer, Script, Step, always, script, token};
use crate::samples::kick_off;
use crate::support::{builder_to, key, quick_tokens_with};

/// Prints a value in every format.
fn print(value: &impl Debug) -> String {
    format!("{value:?}\n{value:#?}\n")
}

/// Prints an error and its causes.
pub(crate) fn print_error(error: &Error) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    let causes: Vec<String> = causes
        .map(|cause| format!("{cause}\n{cause:?}\n"))
        .collect();
    format!("{error}\n{}{}", print(error), causes.concat())
}

/// Returns credentials with a confidential secret and form field.
fn credentials(method: ClientAuthentication) -> ClientCredentials {
    ClientCredentials::new("client", SECRET)
        .with_authentication(method)
        .with_form_field("assertion", FIELD)
}

/// Returns a suite without retries for calls and token exchanges, with confidential credentials.
fn once(builder: SuiteBuilder) -> SuiteBuilder {
    builder
        .credentials(credentials(ClientAuthentication::RequestBody))
        .retry(RetryPolicy::none())
        .token_policy(quick_tokens_with(|it| it.attempts = 1))
}

fn suite_of(peer: &Peer) -> SuiteBuilder {
    once(builder_to(peer))
}

/// Answers token requests with a confidential token.
fn with_token(script: Script) -> Script {
    script.tokens_always(token(TOKEN))
}

/// Starts a peer with a confidential token and the same response to each call.
fn peer_of(step: Step) -> Peer {
    Peer::start(with_token(always(step)))
}

/// Starts a peer whose token endpoint always returns this response.
fn endpoint_of(step: Step) -> Peer {
    Peer::start(script([]).tokens_always(step))
}

/// Returns client defaults with a confidential header and query.
fn with_both() -> CallOptions {
    CallOptions::default()
        .with_header("x-tenant", HEADER)
        .with_query("tenant", QUERY)
}

/// Returns an event command with a confidential key, header and query.
fn confidential(calendar: &sdk_calendar::Client) -> sdk_calendar::SubmitEventCommand {
    let call = kick_off(calendar).idempotency_key(key(KEY));
    call.header("x-tenant", HEADER).query("tenant", QUERY)
}
