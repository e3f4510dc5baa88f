//! Servers, token sources, requests and responses for many tests.

use std::panic::panic_any;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use sdk_core::{
    AccessToken, Error, Suite, SuiteBuilder, TokenError, TokenFuture, TokenRequest, TokenSource,
};
use sdk_reference_server::{ReferenceServer, Transport};
use serde_json::json;

use crate::peer::{self, Step};
use crate::samples::{kick_off, new_person};
use crate::support::{Clients as _, builder_for};

/// The person in responses of a peer.
pub(crate) const PERSON: &str = "PER-0123456789AB";

/// Starts a reference server on a socket, which can break connections, and whose threads ignore a paused clock.
pub(crate) async fn server() -> ReferenceServer {
    ReferenceServer::builder()
        .transport(Transport::Hyper)
        .start()
        .await
}

/// Returns a reference server without a socket, on the clock of the test, and the builder of a suite for it.
pub(crate) fn in_memory() -> (ReferenceServer, SuiteBuilder) {
    let server = ReferenceServer::in_memory();
    let suite = reaching(&server);
    (server, suite)
}

/// Returns the builder of a suite for a server without a socket.
pub(crate) fn reaching(server: &ReferenceServer) -> SuiteBuilder {
    builder_for(server).transport(server.service())
}

/// A token source that needs no server.
pub(crate) struct Given;

impl TokenSource for Given {
    fn token<'a>(&'a self, _: &'a TokenRequest) -> TokenFuture<'a> {
        Box::pin(async { Ok(AccessToken::new("t-1")) })
    }
}

/// A token source made of one function.
pub(crate) struct Tokens<F>(pub(crate) F);

impl<F, T> TokenSource for Tokens<F>
where
    F: Fn(&TokenRequest) -> T + Send + Sync + 'static,
    T: Future<Output = Result<AccessToken, TokenError>> + Send + 'static,
{
    fn token<'a>(&'a self, request: &'a TokenRequest) -> TokenFuture<'a> {
        Box::pin((self.0)(request))
    }
}

pub(crate) fn person() -> Step {
    let person = json!({"publicReference": PERSON, "displayName": "Ann Example"});
    peer::json(200, &person)
}

/// Returns a response to a CRM command.
pub(crate) fn committed() -> Step {
    let result = json!({"outcome": "succeeded", "publicReference": PERSON});
    peer::json(201, &result)
}

/// Returns a response to an event command.
pub(crate) fn created() -> Step {
    peer::json(
        201,
        &json!({
            "schemaVersion": "suite-calendar-command-result.v1",
            "operation": "event.create",
            "outcome": "succeeded",
            "publicReference": "EVT-1",
            "recordVersion": 1,
            "replayed": false,
        }),
    )
}

pub(crate) fn add_person(crm: &sdk_crm::Client) -> sdk_crm::SubmitCommand {
    crm.commands().submit(new_person("Ann Example"))
}

pub(crate) fn get_person(crm: &sdk_crm::Client) -> sdk_crm::GetPerson {
    crm.people().get(PERSON)
}

/// Reads a person and returns the number of attempts.
pub(crate) async fn read(suite: &Suite) -> Result<u32, Error> {
    Ok(get_person(&suite.crm()).await?.attempts())
}

/// Sends a command without a key and returns the number of attempts.
pub(crate) async fn send_unkeyed(suite: &Suite) -> Result<u32, Error> {
    Ok(add_person(&suite.crm()).await?.attempts())
}

/// Sends a command with a key and returns the number of attempts.
pub(crate) async fn send_keyed(suite: &Suite) -> Result<u32, Error> {
    Ok(kick_off(&suite.calendar()).await?.attempts())
}

/// Returns the error of a call that fails without waiting, even without a runtime.
pub(crate) fn at_once(call: impl Future<Output = Error>) -> Error {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(call).poll(&mut context) {
        Poll::Ready(error) => error,
        Poll::Pending => panic!("the call must not wait"),
    }
}

/// A panic payload that panics again when it is dropped.
pub(crate) struct Bomb(u8);

impl Default for Bomb {
    fn default() -> Self {
        Self(2)
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        if let Some(next) = self.0.checked_sub(1) {
            panic_any(Self(next));
        }
    }
}
