//! Servers, token sources, requests and responses that many tests need.

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

/// A person that a peer may have.
pub(crate) const PERSON: &str = "PER-0123456789AB";

/// A reference server that can break connections, and whose threads no paused clock stops.
pub(crate) async fn server() -> ReferenceServer {
    ReferenceServer::builder()
        .transport(Transport::Hyper)
        .start()
        .await
}

/// A reference server without a socket, whose clock is that of the test, and a suite of it.
pub(crate) fn in_memory() -> (ReferenceServer, SuiteBuilder) {
    let server = ReferenceServer::in_memory();
    let suite = reaching(&server);
    (server, suite)
}

/// A suite of a server without a socket.
pub(crate) fn reaching(server: &ReferenceServer) -> SuiteBuilder {
    builder_for(server).transport(server.service())
}

/// Gives a token without a server.
pub(crate) struct Given;

impl TokenSource for Given {
    fn token<'a>(&'a self, _: &'a TokenRequest) -> TokenFuture<'a> {
        Box::pin(async { Ok(AccessToken::new("t-1")) })
    }
}

/// A source of tokens made of one function.
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

/// The reply to a request for a person.
pub(crate) fn person() -> Step {
    let person = json!({"publicReference": PERSON, "displayName": "Ann Example"});
    peer::json(200, &person)
}

/// A reply to a CRM command.
pub(crate) fn committed() -> Step {
    let result = json!({"outcome": "succeeded", "publicReference": PERSON});
    peer::json(201, &result)
}

/// A reply to an event command.
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

/// A call that creates a person.
pub(crate) fn add_person(crm: &sdk_crm::Client) -> sdk_crm::SubmitCommand {
    crm.commands().submit(new_person("Ann Example"))
}

/// A call for the person that a peer may have.
pub(crate) fn get_person(crm: &sdk_crm::Client) -> sdk_crm::GetPerson {
    crm.people().get(PERSON)
}

/// Reads a person, and gives the number of attempts.
pub(crate) async fn read(suite: &Suite) -> Result<u32, Error> {
    Ok(get_person(&suite.crm()).await?.attempts())
}

/// Sends a command without a key, and gives the number of attempts.
pub(crate) async fn send_unkeyed(suite: &Suite) -> Result<u32, Error> {
    Ok(add_person(&suite.crm()).await?.attempts())
}

/// Sends a command with a key, and gives the number of attempts.
pub(crate) async fn send_keyed(suite: &Suite) -> Result<u32, Error> {
    Ok(kick_off(&suite.calendar()).await?.attempts())
}

/// What a call fails with that waits for nothing, and needs no runtime to say so.
pub(crate) fn at_once(call: impl Future<Output = Error>) -> Error {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(call).poll(&mut context) {
        Poll::Ready(error) => error,
        Poll::Pending => panic!("it waits for nothing"),
    }
}

/// A panic's payload that panics when it is dropped, with a payload that does the same.
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
