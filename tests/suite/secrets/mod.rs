//! Rows 32, 41, 50, 73, 76, 77, 80, 81 and 90: no secret, token or key is in anything that prints itself, whatever a
//! server repeats.

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

/// Prints a value in every way there is.
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

/// Credentials whose secret and form field are confidential.
fn credentials(method: ClientAuthentication) -> ClientCredentials {
    ClientCredentials::new("client", SECRET)
        .with_authentication(method)
        .with_form_field("assertion", FIELD)
}

/// A suite that makes each call and each exchange once, with confidential credentials.
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

/// A peer that gives a confidential token, and the same response to each call.
fn peer_of(step: Step) -> Peer {
    Peer::start(with_token(always(step)))
}

/// A peer whose token endpoint always gives this response.
fn endpoint_of(step: Step) -> Peer {
    Peer::start(script([]).tokens_always(step))
}

/// A confidential header and query, as defaults of a client.
fn with_both() -> CallOptions {
    CallOptions::default()
        .with_header("x-tenant", HEADER)
        .with_query("tenant", QUERY)
}

/// An event command with a confidential key, header and query.
fn confidential(calendar: &sdk_calendar::Client) -> sdk_calendar::SubmitEventCommand {
    let call = kick_off(calendar).idempotency_key(key(KEY));
    call.header("x-tenant", HEADER).query("tenant", QUERY)
}
