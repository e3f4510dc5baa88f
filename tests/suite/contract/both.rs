//! A rule of the contract has two sides: the SDK sends nothing that breaks it, and the server refuses what does.

use sdk_core::{Effect, Error, ErrorKind};
use sdk_reference_server::App;
use serde_json::Value;

use super::bypass::{Bypass, Plain};
use super::world::World;

/// A world, and a client of one of its applications that bypasses the SDK.
pub(super) struct Both {
    pub(super) world: World,
    pub(super) bypass: Bypass,
}

impl Both {
    pub(super) async fn sides_of(app: App) -> Both {
        let world = World::start().await;
        let bypass = Bypass::to(&world.server, app).await;
        Both { world, bypass }
    }

    /// The SDK refuses a call and says why; the server refuses the same as a request with 400.
    pub(super) async fn refuse<T>(
        &self,
        call: impl IntoFuture<Output = Result<T, Error>>,
        why: &str,
        target: &str,
    ) {
        self.sdk_refuses(call, why).await;
        assert_invalid(&self.bypass.get(target).await, target);
    }

    /// The same for a command: what to post, and with which key.
    pub(super) async fn refuse_command<T>(
        &self,
        call: impl IntoFuture<Output = Result<T, Error>>,
        why: &str,
        path: &str,
        body: &Value,
    ) {
        self.sdk_refuses(call, why).await;
        self.server_refuses_command(path, body).await;
    }

    /// The server refuses a command that the SDK cannot even express.
    pub(super) async fn server_refuses_command(&self, path: &str, body: &Value) {
        let reply = self.bypass.post(path, Some("a-key-of-its-own"), body).await;
        assert_invalid(&reply, &body.to_string());
    }

    /// Nothing is sent, not even a request for a token, and the error names parameter, rule and value.
    pub(super) async fn sdk_refuses<T>(
        &self,
        call: impl IntoFuture<Output = Result<T, Error>>,
        why: &str,
    ) {
        let before = self.world.server.requests().len();
        let Err(error) = call.await else {
            panic!("the SDK sent what breaks a rule: {why}");
        };
        assert_refused_locally(&error, why);
        let operation = error.operation().expect("the error names the operation");
        let line = format!("{}.{}: {why}", operation.application, operation.id);
        assert_eq!(error.to_string(), line);
        assert_eq!(self.world.server.requests().len(), before, "{why}");
    }

    /// Both take what is just within the bounds; gives what the caller got.
    pub(super) async fn accept<T>(
        &self,
        call: impl IntoFuture<Output = Result<T, Error>>,
        target: &str,
    ) -> T {
        let reply = self.bypass.get(target).await;
        assert_eq!(reply.status, 200, "{target}: {}", reply.body);
        call.await
            .unwrap_or_else(|error| panic!("{target}: {error}"))
    }
}

/// An error that says: not sent, because of this.
pub(super) fn assert_refused_locally(error: &Error, why: &str) {
    assert_eq!(error.message(), why);
    assert_eq!(error.kind(), ErrorKind::InvalidInput, "{why}");
    assert!(error.is_invalid_input() && !error.is_retryable(), "{why}");
    assert_eq!(error.effect(), Effect::NotSent, "{why}");
    assert_eq!((error.attempts(), error.status()), (0, None), "{why}");
    assert!(
        error.request_id().is_none() && error.body().is_none(),
        "{why}"
    );
}

#[track_caller]
fn assert_invalid(reply: &Plain, what: &str) {
    assert_eq!(reply.status, 400, "{what}: {}", reply.body);
    let code = reply.body["code"].as_str().unwrap();
    assert!(
        code.eq_ignore_ascii_case("validation_failed"),
        "{what}: {code}"
    );
    assert!(reply.headers.contains_key("x-request-id"), "{what}");
}
